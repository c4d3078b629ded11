from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hara_viz.plots.state_map import safe_text, state_map_3d

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert(1)</script><b>x</b>\n&lt; %{x} <a href='javascript:1'>"
POINTS = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 4.0], "z": [1.0, 0.0, 1.0]})


def test_model_text_is_escaped_wherever_it_stands() -> None:
    figure = state_map_3d(
        POINTS,
        [HOSTILE] * 3,
        np.array([0.0, 1.0, 0.0]),
        label=HOSTILE,
        kind="categories",
        domain=None,
        categories=[HOSTILE, "wrong"],
        atoms=POINTS.head(1).assign(success=True),
        atom_texts=[HOSTILE],
    )
    shown = figure.to_json() or ""
    assert "<script" not in shown and "<b>" not in shown and "<a href" not in shown
    assert safe_text("a < b\n") == "a &lt; b⏎"
    assert all(trace.hovertemplate is None for trace in figure.data)


def test_every_point_is_in_one_trace_with_its_colour() -> None:
    figure = state_map_3d(
        POINTS,
        ["a", "b", "c"],
        np.array([0.0, 1.0, 0.0]),
        label="Outcome",
        kind="categories",
        domain=None,
        categories=["right", "wrong"],
        lit=2,
    )
    right, wrong, lit = figure.data
    assert list(right.hovertext) == ["a", "c"] and list(wrong.x) == [1.0]
    assert right.marker.color != wrong.marker.color
    assert list(lit.y) == [4.0]
    scaled = state_map_3d(
        POINTS, ["a"] * 3, np.array([0.5, 2.0, 9.0]), label="Novelty", kind="sequential",
        domain=(0.5, 8.0),
    )  # fmt: skip
    (cloud,) = scaled.data
    assert (cloud.marker.cmin, cloud.marker.cmax) == (0.5, 8.0)
    assert list(cloud.marker.color) == [0.5, 2.0, 9.0]


@pytest.mark.parametrize(("kind", "row"), [("sequential", "sequential"), ("signed", "diverging")])
def test_a_value_has_the_colour_that_it_has_in_the_text(kind: str, row: str) -> None:
    script = (ROOT / "hara_viz/components/token_heatmap/colour.js").read_text(encoding="utf-8")
    canvas = (ROOT / "hara_viz/components/embedding_map/colours.js").read_text(encoding="utf-8")
    light = script.split("light: {")[1].split("}")[0]
    listed = next(line for line in light.splitlines() if line.strip().startswith(f"{row}:"))
    stops = re.findall(r"#[0-9a-f]{6,8}", listed)
    neutral = re.search(r"NEUTRAL = \{ light: \[(\d+), (\d+), (\d+)\]", canvas)
    assert neutral and len(stops) > 3
    grey = "#" + "".join(f"{int(part):02x}" for part in neutral.groups())
    figure = state_map_3d(
        POINTS, ["a", "b", "c"], np.array([-1.0, 0.0, 1.0]), label="x", kind=kind, domain=(-1, 1)
    )
    marker = figure.data[0].marker
    assert [colour for _, colour in marker.colorscale] == [
        grey if stop.endswith("00") and len(stop) == 9 else stop for stop in stops
    ]
    assert (marker.cmin, marker.cmax) == (-1, 1)
