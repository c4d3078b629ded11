"""The heatmap as a picture: colours of the app, text as text, a legend, nothing that acts."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.export import export_picture, group_svg
from hara_viz.export.heatmap_svg import PALETTES, Cell, colour_at, wrap
from hara_viz.export.html import group_credit_of
from hara_viz.export.picture import png_of
from tests.browser.conftest import chromium  # noqa: F401 (a fixture)
from tests.small_runs import HOSTILE, HOSTILE_TEXTS, PENS

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def svg_of(small_run: Path, problem: str, signal: str = "novelty") -> ET.Element:
    run = open_run(small_run)
    return ET.fromstring(group_svg(run, group_credit_of(run, problem), signal))


def texts(svg: ET.Element) -> list[str]:
    return [(e.text or "").replace("\u00a0", " ") for e in svg.iter(f"{SVG}text")]


def test_the_colours_are_those_of_the_app() -> None:
    script = (ROOT / "hara_viz/components/token_heatmap/colour.js").read_text()
    light = script[script.index("light:") : script.index("dark:")]
    for signed, name in ((False, "sequential"), (True, "diverging")):
        stops = re.search(rf"{name}: \[(.*?)\]", light)
        assert stops is not None
        found = [stop[:7] for stop in re.findall(r'"(#\w+)"', stops[1])]
        assert tuple(found) == PALETTES[signed]


def test_colours_rise_with_the_value() -> None:
    def lightness(value: float) -> int:
        colour = colour_at(value, 0.0, 1.0, False)
        return sum(int(colour[i : i + 2], 16) for i in (1, 3, 5))

    shades = [lightness(v) for v in np.linspace(0, 1, 9)]
    assert all(a > b for a, b in pairwise(shades))
    assert colour_at(-5, 0, 1, False) == "#ffffff" and colour_at(9, 0, 1, False) == "#ea8067"
    assert colour_at(0.0, -2, 2, True) == "#ffffff" and colour_at(np.nan, 0, 1, True) == "#e7e8ea"


def test_every_word_of_every_rollout_stands_in_it(small_run: Path) -> None:
    run = open_run(small_run)
    words = "".join(texts(svg_of(small_run, "pens"))).replace("⏎", "")
    key = next(key for key in run.keys() if key.problem_id == PENS.problem_id)  # noqa: SIM118
    for rollout in run.load_group(key).rollouts:
        assert rollout.completion_text.replace("\n", "") in words
    credit = credit_group(run, key).credit
    for row, advantage in enumerate(credit.baseline):
        assert any(f"rollout {row} · " in t and f"{advantage:+.3f}" in t
                   for t in texts(svg_of(small_run, "pens")))  # fmt: skip


def test_the_legend_names_the_domain_and_the_origin(small_run: Path) -> None:
    from hara_viz.analysis.map_values import colour_domain

    run = open_run(small_run)
    found = group_credit_of(run, "pens", config=CreditConfig(alpha=0.2))
    svg = ET.fromstring(group_svg(run, found, "novelty"))
    low, high = colour_domain(found.credit.novelty.double().numpy(), False)
    said = texts(svg)
    assert {"Novelty", f"{low:.3g}", f"{high:.3g}", "unknown"} <= set(said)
    assert "HarA-Viz" in said[-1] and "arXiv:2610.04344" in said[-1]
    assert '"alpha\\":0.2' in ET.tostring(svg, encoding="unicode").replace("&quot;", '"')


def test_hostile_text_is_text(small_run: Path) -> None:
    svg = svg_of(small_run, HOSTILE.problem_id)
    kinds = {element.tag.removeprefix(SVG) for element in svg.iter()}
    assert kinds == {"svg", "title", "metadata", "rect", "defs", "linearGradient", "stop", "text"}
    names = {name for element in svg.iter() for name in element.attrib}
    assert not {n for n in names if n.startswith("on") or "href" in n or n == "style"}
    words = "".join(texts(svg))
    assert "<script>" in words and "‹U+001B›" in words and "‹U+202E›" in words
    assert "答案是" in words and "مرحبا" in words
    assert len(HOSTILE_TEXTS) == sum(t.startswith("rollout ") for t in texts(svg))


def test_lines_are_wrapped_by_columns() -> None:
    cells = [Cell("word ", 0.0)] * 60 + [Cell("\n\n", 1.0), Cell("語" * 80, 2.0)]
    lines = ["".join(cell.text for cell in line) for line in wrap(iter(cells))]
    assert "".join(lines) == "word " * 60 + "⏎⏎" + "語" * 80
    assert all(len(line) <= 108 for line in lines)
    assert lines[2].endswith("⏎") and lines[3] == "⏎"


def test_other_signals(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    found = group_credit_of(run, "pens")
    assert ">Entropy<" in group_svg(run, found, "entropy")
    opposite = group_svg(run, found, "opposite").replace("\u00a0", " ")
    assert ">Novelty against the other outcome<" in opposite
    with pytest.raises(InvalidInputError, match="no signal 'x'; known are novelty"):
        group_svg(run, found, "x")
    with pytest.raises(InvalidInputError, match="No trainer recorded"):
        group_svg(run, found, "recorded")
    with pytest.raises(InvalidInputError, match=r"end it with \.svg or \.png"):
        export_picture(run, found, "novelty", tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())


def test_a_png_needs_a_browser(small_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARA_VIZ_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(MissingInputError, match=r"write an \.svg instead"):
        png_of('<svg width="10" height="10"></svg>')


@pytest.mark.browser
def test_a_png_is_the_svg_drawn(small_run: Path, tmp_path: Path, chromium: str) -> None:  # noqa: F811
    from PIL import Image

    run = open_run(small_run)
    out = export_picture(run, group_credit_of(run, "pens"), "weight", tmp_path / "pens.png")
    svg = group_svg(run, group_credit_of(run, "pens"), "weight")
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    assert size is not None
    picture = Image.open(out).convert("RGB")
    assert picture.size == (2 * int(size[1]), 2 * int(size[2]))
    colours = {colour for _, colour in picture.getcolors(1 << 24) or []}
    assert (255, 255, 255) in colours and len(colours) > 50


def test_programs_can_read_where_it_comes_from(small_run: Path) -> None:
    metadata = svg_of(small_run, PENS.problem_id).find(f"{SVG}metadata")
    assert metadata is not None and metadata.text is not None
    assert json.loads(metadata.text)["method_version"] == METHOD_VERSION
