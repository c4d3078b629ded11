"""What the README shows must run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs_and_prints_what_it_says() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code is not None
    promised = re.findall(r"print\(.*\)  # (.*)", code[1])
    shown = subprocess.run(
        [sys.executable, "-c", code[1]], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert shown.stdout.split("\n")[: len(promised)] == promised


def test_the_tree_names_what_is_there() -> None:
    tree = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert tree is not None
    inside = ""
    for line in tree[1].splitlines():
        name = line.strip().split(" ")[0]
        if not line.startswith(" "):
            inside = name if name.endswith("/") else ""
        path = ROOT / name if not line.startswith(" ") else ROOT / inside / name
        assert path.exists(), f"README's tree names {path.relative_to(ROOT)}"


def test_rooms_are_all_in_the_tree() -> None:
    rooms = {p.name for p in (ROOT / "hara_viz").iterdir() if (p / "__init__.py").exists()}
    assert all(f"  {room}/" in README for room in rooms)


def test_pictures_exist() -> None:
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / picture).stat().st_size > 10_000, picture
