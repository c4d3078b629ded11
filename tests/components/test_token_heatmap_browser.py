"""The token heatmap in a real Chromium, alone on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hara_viz.analysis.signals import Offer, Signal, Term
from hara_viz.components.token_heatmap import (
    Frame,
    FrameRow,
    Kind,
    SignalFrame,
    assets,
    content_of,
    encode,
    encode_signal,
    frame_of,
)
from hara_viz.components.token_heatmap.build import available
from hara_viz.credit import CreditConfig
from tests.components import groups
from tests.components.stage import THEMES, Stage, chromium

pytestmark = pytest.mark.browser


def large_frame(n_rollouts: int = 16, n_tokens: int = 16_384) -> Frame:
    rng = np.random.default_rng(0)
    words = [" " + "".join(rng.choice(list("etaoinshr"), 1 + i % 6)) for i in range(2_000)]
    kinds = tuple(Kind(w, (i,), False) for i, w in enumerate([*words, ".\n\n"]))
    n = n_rollouts * n_tokens
    cells = rng.integers(0, len(words), n)
    cells[rng.random(n) < 0.01] = len(words)
    names = ("feature", "structure", "weight", "logprob", "entropy")
    channels = {name: rng.gamma(1.0, 0.1, n) for name in names}
    rows = tuple(
        FrameRow(
            sample=i, n_cells=n_tokens, n_tokens=n_tokens, reward=float(i % 2), success=bool(i % 2),
            advantage=1.0 - 2 * (i % 2),
        )
        for i in range(n_rollouts)
    )  # fmt: skip
    return Frame(
        rows=rows, kinds=kinds, cells=cells, channels=channels, signals=available(set(names))
    )


@pytest.fixture(scope="module")
def frames() -> dict[str, bytes]:
    group = groups.small_group()
    credit = groups.credit_for(group)
    first = encode(frame_of(group, credit, special_ids=[groups.END_ID]))
    other = encode(frame_of(group, credit, special_ids=[groups.END_ID], success_threshold=2.0))
    return {"first": first, "other": other, "broken": first[:300]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def stage(browser: Any, frames: dict[str, bytes]) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    made = Stage(page, assets(), dict(frames))
    yield made
    page.close()
    assert made.problems == []


def state(stage: Stage) -> dict[str, str]:
    return stage.page.locator(".hth").evaluate("element => ({...element.dataset})")


def cell(stage: Stage, sample: int, number: int) -> Any:
    return stage.page.locator(f"[data-sample='{sample}'] [data-cell='{number}']").first


def test_hostile_text_is_shown_and_does_nothing(stage: Stage) -> None:
    stage.open("?rollout=3")
    text = stage.page.locator("article[data-sample='3'] .lines").inner_text()
    assert "<img src=x onerror=alert(1)>" in text
    assert "<script>alert(2)</script>" in text
    assert "‹U+202E›" in text and "\u202e" not in text
    made = stage.page.locator(".hth").evaluate(
        "e => e.querySelectorAll('img, script, iframe, a, link, object').length"
    )
    assert made == 0


def test_outcomes_stand_apart_and_every_token_is_there(stage: Stage) -> None:
    stage.open()
    sections = stage.page.locator("section")
    assert sections.count() == 3
    shown = [
        [int(a.get_attribute("data-sample")) for a in section.locator("article").all()]
        for section in sections.all()
    ]
    assert shown == [[0, 2], [1, 3, 5, 6], [4]]
    cells = stage.page.locator("article[data-sample='0'] [data-cell]")
    numbers = cells.evaluate_all("spans => spans.map((s) => Number(s.dataset.cell))")
    assert sorted(set(numbers)) == list(range(188))


def test_one_build_however_often_it_is_called(stage: Stage) -> None:
    stage.open()
    for _ in range(4):
        stage.page.evaluate("void window.again()")
    cell(stage, 0, 10).click()
    assert state(stage)["builds"] == "1"
    assert stage.page.locator(".bar").count() == 1
    stage.page.evaluate("window.show('/frame/other')")
    assert state(stage)["builds"] == "2"
    assert stage.page.locator("section").count() == 2


def test_a_click_pins_and_tells_everyone_once(stage: Stage) -> None:
    stage.open("?run=a&signal=advantage")
    cell(stage, 0, 31).click()
    assert state(stage)["token"] == "31"
    assert stage.page.evaluate("window.sent") == [
        ["pick", {"sample": 0, "token": 31, "linked": True}]
    ]
    heard = stage.page.evaluate("window.heard")
    assert heard == [
        {"sample": 0, "token": 31, "source": "token_heatmap", "user": True, "reported": True}
    ]
    assert stage.page.url.endswith("?run=a&signal=advantage&rollout=0&token=31")
    assert stage.page.locator(".pinned").count() == 1
    cell(stage, 0, 31).click()
    assert state(stage)["token"] == ""
    assert stage.page.evaluate("window.sent.at(-1)") == [
        "pick",
        {"sample": 0, "token": None, "linked": True},
    ]


def test_keys_move_at_once_and_report_when_they_rest(stage: Stage) -> None:
    stage.open("?rollout=0&token=10")
    # In one go: a busy machine may rest between two presses of Playwright's.
    told = stage.page.evaluate(
        """() => {
            const key = () => new KeyboardEvent("keydown", { key: "ArrowRight" });
            for (let i = 0; i < 5; i++) document.dispatchEvent(key());
            return window.sent.length;
        }"""
    )
    assert (told, state(stage)["token"]) == (0, "15")
    stage.page.wait_for_function("window.sent.length > 0")
    assert stage.page.evaluate("window.sent") == [
        ["pick", {"sample": 0, "token": 15, "linked": True}]
    ]
    stage.page.keyboard.press("n")
    assert (state(stage)["sample"], state(stage)["token"]) == ("2", "")
    stage.page.keyboard.press("p")
    stage.page.keyboard.press("p")
    assert state(stage)["sample"] == "4"  # round the end: the unscored one comes last
    stage.page.keyboard.press("N")
    stage.page.wait_for_function("window.sent.some(([name, by]) => name === 'problem' && by === 1)")
    stage.page.keyboard.press("?")
    assert "next peak" in stage.page.locator(".help").inner_text()
    stage.page.keyboard.press("Escape")
    assert stage.page.locator(".help").count() == 0


def test_peaks_and_positions(stage: Stage) -> None:
    stage.open("?rollout=2")
    stage.page.keyboard.press("]")
    first = int(state(stage)["token"])
    stage.page.keyboard.press("]")
    second = int(state(stage)["token"])
    assert 0 <= first < second
    stage.page.keyboard.press("[")
    assert int(state(stage)["token"]) == first
    stage.page.keyboard.press("g")
    stage.page.keyboard.type("700")
    stage.page.keyboard.press("Enter")
    assert state(stage)["token"] == "700"
    assert stage.page.locator(".pinned").is_visible()


def test_others_moves_are_followed_in_silence(stage: Stage) -> None:
    stage.open()
    stage.page.evaluate(
        """window.dispatchEvent(new CustomEvent("hara:select", {detail: {
        sample: 5, token: 300, signal: "entropy", source: "plan", user: true}}))"""
    )
    shown = state(stage)
    assert (shown["sample"], shown["token"], shown["signal"]) == ("5", "300", "entropy")
    pinned = stage.page.locator("article[data-sample='5'] .pinned")
    assert pinned.is_visible()
    stage.page.wait_for_timeout(250)
    assert stage.page.evaluate("window.sent") == []
    assert len(stage.page.evaluate("window.heard")) == 1


def test_a_link_restores_the_view_and_back_goes_back(stage: Stage) -> None:
    stage.open("?signal=shift&under=entropy&level=step&rollout=2&token=400&bounds=-1..2")
    assert state(stage)["token"] == "400"
    values = [s.input_value() for s in stage.page.locator("select").all()[:3]]
    assert values == ["shift", "entropy", "step"]
    assert [b.input_value() for b in stage.page.locator(".bound").all()] == ["−1", "2"]
    stage.page.keyboard.press("n")
    assert "rollout=1" in stage.page.url
    stage.page.go_back()
    stage.page.wait_for_function("location.search.includes('rollout=2')")
    assert (state(stage)["sample"], state(stage)["token"]) == ("2", "400")


def test_a_view_that_is_hidden_at_first_arrives_when_it_is_shown(stage: Stage) -> None:
    stage.open("?rollout=5&token=500")
    stage.page.evaluate("window.leave()")
    stage.page.locator("#mount").evaluate("e => { e.style.display = 'none'; }")
    stage.page.evaluate("void window.again()")
    stage.page.locator("#mount").evaluate("e => { e.style.display = ''; }")
    pinned = stage.page.locator("article[data-sample='5'] .pinned").first
    pinned.wait_for()
    box, scroller = pinned.bounding_box(), stage.page.locator(".scroller").bounding_box()
    assert scroller["y"] <= box["y"] <= scroller["y"] + scroller["height"]


def test_a_link_to_nowhere_falls_back(stage: Stage) -> None:
    stage.open("?signal=nonsense&under=nonsense&rollout=99&token=7")
    shown = state(stage)
    assert (shown["signal"], shown["sample"], shown["token"]) == ("novelty", "", "")


def test_colours_can_be_held_and_let_go(stage: Stage) -> None:
    stage.open()
    ends = stage.page.locator(".bound").evaluate_all("inputs => inputs.map((i) => Number(i.value))")
    stage.page.get_by_role("button", name="hold").click()
    stage.page.wait_for_function("window.sent.at(-1)?.[1].bounds")
    bounds = stage.page.evaluate("window.sent.at(-1)[1].bounds")
    assert bounds == pytest.approx(ends, rel=1e-2, abs=1e-3)
    stage.page.get_by_role("button", name="auto").click()
    stage.page.wait_for_function("window.sent.at(-1)?.[1].bounds === null")
    assert stage.page.get_by_role("button", name="hold").count() == 1


def test_signal_level_and_bounds_are_reported_as_one_view(stage: Stage) -> None:
    stage.open()
    stage.page.locator("select").nth(0).select_option("weight")
    stage.page.locator("select").nth(2).select_option("rollout")
    upper = stage.page.locator(".bound").nth(1)
    upper.fill("0.25")
    upper.press("Tab")
    stage.page.wait_for_function("window.sent.length > 0")
    stage.page.wait_for_function("window.sent.at(-1)?.[1].bounds")
    name, view = stage.page.evaluate("window.sent.at(-1)")
    assert name == "view"
    assert (view["signal"], view["underline"], view["granularity"]) == ("weight", None, "rollout")
    assert view["bounds"][1] == 0.25
    fills = stage.page.locator("article[data-sample='0'] [data-cell]").evaluate_all(
        "spans => [...new Set(spans.map((s) => s.style.backgroundColor))]"
    )
    assert len(fills) == 1  # the same all over the rollout
    stage.page.get_by_role("button", name="auto").click()
    assert stage.page.locator(".bound").nth(1).input_value() != "0.25"


def test_an_unusable_bound_is_put_back(stage: Stage) -> None:
    stage.open()
    lower = stage.page.locator(".bound").nth(0)
    before = lower.input_value()
    lower.fill("much")
    lower.press("Tab")
    assert stage.page.locator(".bound").nth(0).input_value() == before
    stage.page.wait_for_timeout(250)
    assert stage.page.evaluate("window.sent") == []


def test_search_finds_across_tokens_and_walks_through(stage: Stage) -> None:
    stage.open()
    stage.page.keyboard.press("/")
    stage.page.keyboard.type("SECOND LEG")
    assert "found" in stage.page.locator(".count").inner_text()
    assert stage.page.locator(".hit").count() > 0
    stage.page.keyboard.press("Enter")
    assert stage.page.locator(".count").inner_text().startswith("1 of ")
    assert state(stage)["sample"] == "0"
    stage.page.keyboard.press("Escape")
    assert stage.page.locator(".hit").count() == 0


def test_thinking_folds_to_a_line_and_opens_again(stage: Stage) -> None:
    stage.open()
    article = stage.page.locator("article[data-sample='0']")
    stage.page.get_by_role("button", name="fold thinking").click()
    assert "thinking · " in article.locator(".fold").inner_text()
    assert "double-check" not in article.locator(".lines").inner_text()
    article.locator(".fold").click()
    assert "double-check" in article.locator(".lines").inner_text()


def test_a_pin_inside_a_fold_opens_it(stage: Stage) -> None:
    stage.open()
    stage.page.get_by_role("button", name="fold thinking").click()
    stage.page.evaluate(
        """window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {sample: 0, token: 20, source: "table", user: true}}))"""
    )
    assert stage.page.locator("article[data-sample='0'] .pinned").is_visible()


def test_the_tooltip_names_token_place_and_every_signal(stage: Stage) -> None:
    stage.open()
    cell(stage, 0, 31).hover()
    tip = stage.page.locator(".tip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "token 31 of 188" in text and "id " in text
    for label in ["Novelty", "Advantage, reweighted", "Entropy", "Surprisal"]:
        assert label in text
    box, frame = tip.bounding_box(), stage.page.locator(".hth").bounding_box()
    assert box["x"] >= frame["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1


def test_marks_show_spaces_and_special_tokens(stage: Stage) -> None:
    stage.open()
    lines = stage.page.locator("article[data-sample='0'] .lines")
    assert groups.END not in lines.inner_text()
    stage.page.keyboard.press("w")
    text = lines.inner_text()
    assert groups.END in text and "⏎" in text and "Okay,·so" in text


def test_no_line_runs_out_of_the_page(stage: Stage) -> None:
    stage.open()
    for marks in (False, True):
        if marks:
            stage.page.keyboard.press("w")
        stage.page.get_by_role("button", name="expand all").click()
        over = stage.page.locator(".line").evaluate_all(
            """lines => lines.map((line) => {
                const last = line.lastElementChild.getBoundingClientRect();
                return last.right - line.getBoundingClientRect().right;
            })"""
        )
        assert len(over) > 20
        assert max(over) <= 0.5
        stage.page.get_by_role("button", name="collapse all").click()


def test_a_change_of_theme_recolours_without_building(stage: Stage) -> None:
    stage.open()
    before = cell(stage, 0, 31).evaluate("span => span.style.backgroundColor")
    stage.page.evaluate(f"document.body.style.cssText = {THEMES['dark']!r}; void window.again()")
    shown = state(stage)
    assert (shown["theme"], shown["builds"]) == ("dark", "1")
    assert cell(stage, 0, 31).evaluate("span => span.style.backgroundColor") != before


def test_what_was_opened_stays_open_when_the_page_changes_its_width(stage: Stage) -> None:
    stage.open()
    article = stage.page.locator("article[data-sample='2']")
    article.locator(".more").last.click()
    assert article.locator(".more").last.is_hidden()
    stage.page.locator("#mount").evaluate("e => { e.style.width = '560px'; }")
    stage.page.wait_for_function(
        """() => document.querySelector("#mount").shadowRoot
        .querySelector(".list").clientWidth < 560"""
    )
    assert article.locator(".more").last.is_hidden()
    assert article.locator(".more").first.is_visible()


def test_what_is_asked_for_before_its_rollouts_come_is_kept(stage: Stage) -> None:
    stage.frames["other"] = encode(large_frame(n_rollouts=10, n_tokens=400))
    stage.open()
    stage.page.evaluate(
        """window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {sample: 9, token: 250, signal: "surprisal", source: "python"}}))"""
    )
    assert state(stage)["sample"] == ""
    stage.page.evaluate("window.show('/frame/other')")
    shown = state(stage)
    assert (shown["sample"], shown["token"], shown["signal"]) == ("9", "250", "surprisal")
    assert stage.page.locator("article[data-sample='9'] .pinned").first.is_visible()


def test_an_empty_completion_is_a_rollout_too(stage: Stage) -> None:
    stage.open("?rollout=6&token=0")
    assert (state(stage)["sample"], state(stage)["token"]) == ("6", "")
    for key in ("ArrowRight", "]", "g", "e", "e", "w", "n"):
        stage.page.keyboard.press(key)
    assert state(stage)["sample"] == "4"


def test_another_credit_keeps_what_was_opened(stage: Stage) -> None:
    group = groups.small_group()
    credit = groups.credit_for(group, CreditConfig(alpha=0.9))
    stage.frames["other"] = encode(frame_of(group, credit, special_ids=[groups.END_ID]))
    stage.open()
    stage.page.locator("article[data-sample='0'] .toggle").click()
    stage.page.locator("article[data-sample='2'] .more").last.click()
    scroller = stage.page.locator(".scroller")
    scroller.evaluate("e => { e.scrollTop = 150; }")
    stage.page.evaluate("window.show('/frame/other')")
    assert state(stage)["builds"] == "2"
    modes = [
        stage.page.locator(f"article[data-sample='{i}']").get_attribute("data-mode") for i in (0, 2)
    ]
    assert modes == ["closed", "window"]
    below = stage.page.locator("article[data-sample='2'] .more").last
    assert below.is_hidden()
    assert scroller.evaluate("e => e.scrollTop") == 150


def test_damaged_bytes_are_told_in_a_sentence_and_good_ones_recover(stage: Stage) -> None:
    stage.open()
    stage.page.evaluate("window.show('/frame/broken')")
    alert = stage.page.get_by_role("alert")
    alert.wait_for()
    assert "cannot be drawn" in alert.inner_text()
    stage.page.keyboard.press("n")  # nothing there to move in
    stage.page.evaluate("window.show('/frame/other')")
    stage.page.locator("section").first.wait_for()
    assert state(stage)["ready"] == "yes"


def test_nothing_listens_after_leaving(stage: Stage) -> None:
    stage.open()
    stage.page.evaluate("window.leave()")
    stage.page.keyboard.press("n")
    stage.page.evaluate(
        """window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {sample: 1, source: "table"}}))"""
    )
    assert state(stage)["sample"] == ""


def further_frame() -> tuple[bytes, bytes]:
    """A base frame with one signal on demand and one locked, and the frame of the first."""
    group = groups.small_group()
    made = frame_of(
        group,
        groups.credit_for(group),
        offers=[
            Offer(Signal("shear", "SHEAR", "A rival.", False, (Term(1, "shear"),))),
            Offer(
                Signal("ratio", "Log-ratio", "To a reference.", True, (Term(1, "ratio"),)),
                "No reference yet. Let one read: `hara-viz states RUN --model M`",
            ),
        ],
    )
    base = encode(made)
    values = np.linspace(0.0, 5.0, made.n_tokens)
    signal = SignalFrame(base=content_of(base), signal="shear", channel="shear", values=values)
    return base, encode_signal(signal)


SEND = """async () => {
    const bytes = new Uint8Array(await (await fetch("/frame/shear")).arrayBuffer());
    window.dispatchEvent(new CustomEvent("hara:signal", { detail: bytes }));
}"""


def test_a_further_signal_is_asked_for_awaited_and_shown(stage: Stage) -> None:
    stage.frames["first"], stage.frames["shear"] = further_frame()
    stage.open()
    fill = stage.page.locator("select").first
    fill.select_option("shear")
    assert state(stage)["signal"] == "novelty", "what was shown stays until it comes"
    assert "waiting for SHEAR" in stage.page.locator(".legend").inner_text()
    stage.page.wait_for_function("window.sent.length > 0")
    name, told = stage.page.evaluate("window.sent.at(-1)")
    assert (name, told["signal"]) == ("view", "shear")
    assert "signal=shear" in stage.page.url
    stage.page.evaluate(SEND)
    assert state(stage)["signal"] == "shear" and state(stage)["builds"] == "1"
    assert "waiting" not in stage.page.locator(".legend").inner_text()
    cell(stage, 0, 31).hover()
    assert "SHEAR" in stage.page.locator(".tip").inner_text()


def test_a_link_to_a_further_signal_waits_for_it(stage: Stage) -> None:
    stage.frames["first"], stage.frames["shear"] = further_frame()
    stage.open("?under=shear")
    assert "waiting for SHEAR" in stage.page.locator(".legend").inner_text()
    stage.page.evaluate(SEND)
    line = stage.page.get_by_label("Signal that underlines the text")
    assert line.input_value() == "shear"
    assert "inset" in cell(stage, 0, 31).evaluate("span => span.style.boxShadow")


def test_a_locked_signal_names_the_command_and_changes_nothing(stage: Stage) -> None:
    stage.frames["first"], _ = further_frame()
    stage.open()
    fill = stage.page.locator("select").first
    fill.select_option("ratio")
    note = stage.page.locator(".bar .note")
    assert note.locator("code").inner_text() == "hara-viz states RUN --model M"
    assert fill.input_value() == "novelty" and stage.page.evaluate("window.sent") == []
    note.get_by_role("button", name="Close").click()
    assert note.is_hidden()


def test_sixteen_rollouts_of_sixteen_thousand_tokens_stay_few_nodes(stage: Stage) -> None:
    stage.frames["first"] = encode(large_frame())
    stage.open()
    count = "e => e.querySelectorAll('*').length"
    heatmap = stage.page.locator(".hth")
    assert heatmap.evaluate(count) < 5_000
    stage.page.get_by_role("button", name="expand all").click()
    scroller = stage.page.locator(".scroller")
    assert scroller.evaluate("e => e.scrollHeight") > 100_000
    for share in (0.2, 0.5, 0.9):
        scroller.evaluate(f"e => {{ e.scrollTop = e.scrollHeight * {share}; }}")
        stage.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        box = scroller.bounding_box()
        seen = stage.page.locator(".line").evaluate_all(
            f"lines => lines.filter((l) => l.getBoundingClientRect().top < {box['y'] + box['height']} && l.getBoundingClientRect().bottom > {box['y']}).length"  # noqa: E501
        )
        assert seen > 10
        assert heatmap.evaluate(count) < 5_000
    stage.page.evaluate(
        """window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {sample: 9, token: 16000, source: "table"}}))"""
    )
    assert stage.page.locator("article[data-sample='9'] .pinned").is_visible()
