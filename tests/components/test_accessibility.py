"""Accessibility: axe over the heatmap in its states and over a whole exported page; and what axe
cannot know, such as that colours keep text readable.

axe-core comes by `npm install` (package.json; nothing of it is shipped), or HARA_VIZ_AXE names it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hara_viz import open_run
from hara_viz.components.token_heatmap import assets, encode, frame_of
from hara_viz.export import export_group
from tests.components import groups
from tests.components.stage import Stage, chromium
from tests.components.test_javascript import NODE, ROOT
from tests.small_runs import HOSTILE

AXE = Path(
    os.environ.get("HARA_VIZ_AXE")
    or Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
)
HEATMAP = '{include: [{fromShadowDom: ["#mount", ".hth"]}]}'
READABLE = 4.5  # WCAG 2.2, AA: contrast of text


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `npm install` fetches it")
    with chromium() as running:
        yield running


def violations(page: Any, context: str) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(f"axe.run({context}, {{resultTypes: ['violations']}})")["violations"]
    return [f"{v['id']}: {node['target']} {node['failureSummary']}" for v in found
            for node in v["nodes"]]  # fmt: skip


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_heatmap_in_its_states(browser: Any, theme: str) -> None:
    group = groups.small_group()
    frame = frame_of(group, groups.credit_for(group), special_ids=[groups.END_ID])
    stage = Stage(browser.new_page(), assets(), {"first": encode(frame)})
    stage.theme = theme
    page = stage.page
    stage.open("?under=entropy&rollout=2&token=30")
    assert violations(page, HEATMAP) == []
    page.keyboard.press("w")
    page.get_by_role("button", name="expand all").click()
    page.get_by_role("searchbox").fill("speed")
    page.locator("[data-cell]").nth(5).hover()
    assert page.locator(".tip").is_visible()
    assert violations(page, HEATMAP) == []
    page.locator(".scroller").focus()
    page.keyboard.press("?")
    assert violations(page, HEATMAP) == []
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert violations(page, HEATMAP) == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_exported_page(browser: Any, small_run: Path, tmp_path: Path, scheme: str) -> None:
    out = export_group(open_run(small_run), HOSTILE.problem_id, tmp_path / "group.html")
    # axe itself is a script that the page's policy refuses.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(out.as_uri())
    page.locator(".hth[data-ready=yes]").wait_for()
    assert violations(page, "document") == []
    context.close()


def test_text_stays_readable_on_every_colour() -> None:
    """All 256 steps of the fills, on the pages of the app's themes."""
    script = f"""
    const {{ colourScale }} = await import({json.dumps((ROOT / "token_heatmap" / "colour.js").as_uri())});
    const css = (signed, dark) => colourScale([-1, 1], signed, dark).css;
    console.log(JSON.stringify([false, true].map((dark) => [css(false, dark), css(true, dark)])));
    """  # noqa: E501
    if NODE is None:
        pytest.skip("no node found")
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    grounds = (("#1c2430", "#ffffff"), ("#e4e7ec", "#12151b"))  # .streamlit/config.toml
    for (ink, paper), ramps in zip(grounds, json.loads(done.stdout), strict=True):
        for ramp in ramps:
            worst = min(contrast(hex_of(ink), over(colour, hex_of(paper))) for colour in ramp)
            assert worst >= READABLE


def hex_of(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def over(colour: str, paper: list[float]) -> list[float]:
    *channels, alpha = (float(n) for n in re.findall(r"[\d.]+", colour))
    return [alpha * c + (1 - alpha) * p for c, p in zip(channels, paper, strict=True)]


def contrast(a: list[float], b: list[float]) -> float:
    def light(colour: list[float]) -> float:
        linear = [
            c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)
