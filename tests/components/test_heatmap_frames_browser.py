"""The token heatmap in a real Chromium when frames and signals come, change or are damaged."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.signals import Offer, Signal, Term
from hara_viz.components.token_heatmap import (
    Frame,
    FrameRow,
    Kind,
    SignalFrame,
    content_of,
    encode,
    encode_signal,
    frame_of,
)
from hara_viz.components.token_heatmap.build import available
from hara_viz.credit import CreditConfig
from tests.components import groups
from tests.components.heatmap_stage import browser as browser
from tests.components.heatmap_stage import cell, state
from tests.components.heatmap_stage import frames as frames
from tests.components.heatmap_stage import stage as stage
from tests.components.stage import Stage

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
