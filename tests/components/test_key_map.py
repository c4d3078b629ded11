"""The keyboard map lists the keys that the views really handle, and the pages that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hara_viz.components.key_map import LECTURES, PAGE_KEYS, PAGES, assets, map_of
from hara_viz.components.key_map.keys import HEATMAP, LESSON, MAP, PLAN
from tests.components.test_javascript import ROOT, node

UI = Path(__file__).parents[2] / "hara_viz" / "ui"
SHOWN = {"ArrowRight": "→", "ArrowLeft": "←", "Escape": "Esc"}


def handled(path: Path) -> set[str]:
    """The keys that an `onKey` of a component names."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"\bonKey\((?:plan, )?event\) \{(.*?)event\.preventDefault", text, re.DOTALL)
    assert body is not None
    keys = re.findall(r'event\.key === "([^"]+)"', body[1]) + re.findall(r"(Arrow\w+):", body[1])
    return {SHOWN.get(key, key) for key in keys}


def test_the_heatmaps_rows_are_its_own() -> None:
    path = (ROOT / "token_heatmap" / "keys.js").as_uri()
    script = f"""
    const {{ KEYS }} = await import({json.dumps(path)});
    console.log(JSON.stringify(KEYS.map(([key, meaning]) => [key, meaning])));
    """
    done = node("--input-type=module", "-e", script)
    assert done.returncode == 0, done.stderr
    rows = [[SHOWN.get(key, key), meaning] for key, meaning in json.loads(done.stdout)]
    assert rows == [*map(list, HEATMAP), ["?", "this map"]]


@pytest.mark.parametrize(
    ("file", "rows"),
    [("transport_plan/pointing.js", PLAN), ("embedding_map/component.js", MAP)],
)
def test_the_other_views_handle_what_is_listed(file: str, rows: tuple) -> None:
    assert handled(ROOT / file) == {key for key, _ in rows}


def test_the_lessons_keys_are_handled() -> None:
    controls = (UI / "learn_controls.py").read_text(encoding="utf-8")
    script = assets().js
    rounds = (UI / "learn_rounds.py").read_text(encoding="utf-8")
    assert re.findall(r'shortcut="(\w+)"', controls + rounds) == ["Left", "Right", "p"]
    assert 'event.key === "f"' in script and [key for key, _ in LESSON] == ["→", "←", "p", "f"]
    for selector in LECTURES["Learn"].values():
        key = re.fullmatch(r"\.st-key-learn-(\w+) button", selector)
        assert key is not None and f'key="learn.{key[1]}"' in controls


def test_it_names_the_pages_of_the_navigation() -> None:
    frame = (UI / "frame.py").read_text(encoding="utf-8")
    assert re.findall(r'title="(\w+)"', frame) == [title for title, _ in PAGES]
    assert set(PAGE_KEYS) | set(LECTURES) <= {title for title, _ in PAGES}


def test_each_page_has_its_own_rows_and_those_of_all() -> None:
    for title, _ in PAGES:
        headings = [heading for heading, _ in map_of(title)["sections"]]
        assert headings[-1] == "On every page"
        assert len(headings) == 1 + len(PAGE_KEYS.get(title, ()))
    assert map_of("Learn")["lecture"] and map_of("Runs")["lecture"] is None
