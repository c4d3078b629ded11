"""The token heatmap in a real Chromium, alone on a page: what a reader sees and does."""

from __future__ import annotations

import pytest

from tests.components import groups
from tests.components.heatmap_stage import browser as browser
from tests.components.heatmap_stage import cell, state
from tests.components.heatmap_stage import frames as frames
from tests.components.heatmap_stage import stage as stage
from tests.components.stage import THEMES, Stage

pytestmark = pytest.mark.browser


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


def test_a_click_pins_and_tells_everyone_once(stage: Stage) -> None:
    stage.open("?run=a&signal=advantage")
    cell(stage, 0, 31).click()
    assert state(stage)["token"] == "31"
    stage.page.wait_for_function("window.sent.length > 0")  # Python is told a moment later
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
    stage.page.wait_for_function("window.sent.length > 1")
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


def test_an_empty_completion_is_a_rollout_too(stage: Stage) -> None:
    stage.open("?rollout=6&token=0")
    assert (state(stage)["sample"], state(stage)["token"]) == ("6", "")
    for key in ("ArrowRight", "]", "g", "e", "e", "w", "n"):
        stage.page.keyboard.press(key)
    assert state(stage)["sample"] == "4"


def test_a_reward_is_never_cut_to_another_number(stage: Stage) -> None:
    stage.open()
    number = stage.page.locator("article[data-sample='0'] .figure.side .number").first
    seen = """(number, text) => {
        number.textContent = text;
        const inside = number.getBoundingClientRect().right;
        const around = number.parentElement.getBoundingClientRect().right;
        const dots = getComputedStyle(number).textOverflow === "ellipsis";
        return [number.scrollWidth <= number.clientWidth && inside <= around + 0.5, dots];
    }"""
    for text in ("1", "0.875", "−0.125"):
        assert number.evaluate(seen, text)[0], text
    assert number.evaluate(seen, "−1.25e+308") == [False, True]
