"""A group as one file: what it holds, what its policy allows, and that it opens from disk."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from hara_viz.components.token_heatmap import content_of, decode, decode_signal, signal_values
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.export import export_group
from hara_viz.store import RunWriter
from hara_viz.types import RolloutGroup
from tests.components.stage import chromium
from tests.small_runs import APPLES, HOSTILE, HOSTILE_TEXTS, PENS, group_of, states_of

BLOCK = re.compile(r'<script type="application/octet-stream"[^>]*>([A-Za-z0-9+/=]*)</script>')


def blocks_of(page: str) -> list[bytes]:
    return [base64.b64decode(text) for text in BLOCK.findall(page)]


def hash_of(page: str, element: str) -> str:
    text = page.rsplit(f"<{element}>", 1)[1].rsplit(f"</{element.split()[0]}>", 1)[0]
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_file_holds_the_frame_of_the_app(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    out = export_group(run, PENS.problem_id[:6], tmp_path / "pens.html", signals=["opposite"])
    page = out.read_text(encoding="utf-8")
    frame, *signals = blocks_of(page)
    key = next(key for key in run.keys() if key.problem_id == PENS.problem_id)  # noqa: SIM118
    credit = credit_group(run, key).credit
    shown = signal_values(decode(frame), "novelty")
    np.testing.assert_allclose(shown, credit.novelty, rtol=2e-3, atol=1e-4)
    carried = {decode_signal(data).signal: decode_signal(data) for data in signals}
    assert set(carried) == {"opposite", "position"}
    assert {signal.base for signal in carried.values()} == {content_of(frame)}
    opposite = CreditConfig(reference="opposite_outcome")
    expected = credit_group(run, key, opposite).credit.novelty
    np.testing.assert_allclose(carried["opposite"].values, expected, rtol=2e-3, atol=1e-4)
    assert {offer.signal.name for offer in decode(frame).offers} == set(carried), "no empty offers"
    assert PENS.messages[0].content in page and "gold answer 12" in page


def test_the_policy_names_the_one_script_and_the_one_style(small_run: Path, tmp_path: Path) -> None:
    page = export_group(open_run(small_run), "pens", tmp_path / "x.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    script, style = hash_of(page, 'script type="module"'), hash_of(page, "style")
    assert policy.group(1) == (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "http" not in re.sub(r"http-equiv", "", page.lower().split("<body>")[0])
    assert " style=" not in page and "onclick" not in page


def test_without_states_it_says_so(small_runs: Path, tmp_path: Path) -> None:
    out = export_group(open_run(small_runs / "no-states"), PENS.problem_id, tmp_path / "x.html")
    page = out.read_text(encoding="utf-8")
    assert "hara-viz states" in page and "Shown instead: uniform GRPO." in page
    assert set(signal_values(decode(blocks_of(page)[0]), "weight")) == {0.0}


def test_refusals(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    with pytest.raises(MissingInputError, match="no problem 'zzz'"):
        export_group(run, "zzz", tmp_path / "x.html")
    with pytest.raises(InvalidInputError, match="no signal 'x' to carry along; known are opposite"):
        export_group(run, PENS.problem_id, tmp_path / "x.html", signals=["x"])
    with pytest.raises(InvalidInputError, match="same outcome"):
        export_group(run, APPLES.problem_id, tmp_path / "x.html", signals=["shear"])
    with pytest.raises(InvalidInputError, match="at step 3; it has steps None"):
        export_group(run, PENS.problem_id, tmp_path / "x.html", global_step=3)
    for out in (tmp_path, tmp_path / "nowhere" / "x.html"):
        with pytest.raises(InvalidInputError, match="cannot be written"):
            export_group(run, PENS.problem_id, out)
    assert not list(tmp_path.glob("*.html"))


def hostile_run(folder: Path, small_run: Path) -> Path:
    """A run whose problem, gold and texts want to be markup, in the words of this file."""
    path = folder / "hostile"
    info = replace(open_run(small_run).info, series=None)
    group = group_of(HOSTILE, HOSTILE_TEXTS)
    rollouts = [
        replace(r, gold="</script><img src=x onerror=alert(1)>", source_id="</title><script>")
        for r in group.rollouts
    ]
    group = RolloutGroup(tuple(rollouts))
    with RunWriter(path, info) as writer:
        writer.write_part([group], [states_of(group, 4)])
        writer.finish()
    return path


@pytest.mark.browser
def test_it_opens_from_disk_and_asks_for_nothing(small_run: Path, tmp_path: Path) -> None:
    path = hostile_run(tmp_path, small_run)
    out = export_group(open_run(path), HOSTILE.problem_id, tmp_path / "group.html")
    with chromium() as browser:
        page, problems, asked = watched(browser)
        page.goto(out.as_uri() + "?rollout=1&token=2")
        heatmap = page.locator(".hth[data-ready=yes]")
        heatmap.wait_for(timeout=30_000)
        assert (heatmap.get_attribute("data-sample"), heatmap.get_attribute("data-token")) == (
            "1",
            "2",
        )
        page.locator("article[data-sample='0'] [data-cell]").nth(2).hover()
        assert "Novelty" in page.locator(".tip").inner_text()
        page.locator("article[data-sample='0'] [data-cell]").nth(3).click()
        assert heatmap.get_attribute("data-token") == "3"
        heatmap.locator("select").first.select_option("position")
        assert heatmap.get_attribute("data-signal") == "position"
        page.keyboard.press("?")
        keys = page.locator(".help").inner_text()
        assert "next rollout" in keys and "next problem" not in keys
        assert page.locator("img, iframe, a").count() == 0
        assert "alert(1)" in page.locator(".facts").inner_text()
        assert page.title().startswith("hostile · </title><script>")
        assert asked == [out.as_uri()] and problems == []
        # The policy is in force: nothing else may run or be fetched.
        injected = "Object.assign(document.createElement('script'), { text: 'window.ran = 1' })"
        page.evaluate(f"document.body.append({injected})")
        assert page.evaluate("window.ran") is None
        refused = "fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')"
        assert page.evaluate(refused) == "refused"


def watched(browser: Any) -> tuple[Any, list[str], list[str]]:
    """A page, what goes wrong on it, and the addresses that it asks for."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: asked.append(request.url.split("?")[0]))
    page.on("dialog", lambda dialog: (problems.append("a dialog opened"), dialog.dismiss()))
    return page, problems, asked
