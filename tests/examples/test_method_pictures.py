from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch

from examples import make_method_pictures
from examples.svg import Drawing

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def test_pictures_are_made_and_read_by_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"source": "demo", "layer": n, "same_start": 0.9, "other_start": 0.8, "ceiling": 0.8}
        for n in (1, 3)
    ]
    found = tmp_path / "found.json"
    found.write_text(json.dumps({"agreement": rows}))
    monkeypatch.setattr(make_method_pictures, "PICTURES", tmp_path)
    threads = torch.get_num_threads()
    make_method_pictures.main(["--fidelity", str(found)])
    torch.set_num_threads(threads)
    made = {path.name: ET.parse(path).getroot() for path in tmp_path.glob("*.svg")}
    assert all(root.find(f"{SVG}title") is not None for root in made.values())
    # One bar of each part for every token of rollout 1, and three dots for every run and layer.
    assert len(made["novelty.svg"].findall(f"{SVG}rect")) == 1 + 2 * make_method_pictures.LENGTHS[1]
    assert len(made["fidelity.svg"].findall(f"{SVG}circle")) == 3 + 3 * len(rows)
    document = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\(pictures/method/(.+?)\)", document))
    assert shown == set(made)
    assert all((ROOT / "docs" / "pictures" / "method" / name).exists() for name in shown)


def test_text_of_a_picture_is_escaped(tmp_path: Path) -> None:
    drawing = Drawing(10, 10)
    drawing.text(0, 0, "<script>&")
    drawing.save(tmp_path / "x.svg", "a < b")
    root = ET.parse(tmp_path / "x.svg").getroot()
    assert [t.text for t in root.iter(f"{SVG}text")] == ["<script>&"]
