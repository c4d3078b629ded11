"""Every recipe of docs/extending.md, executed on a copy of the sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.small_runs import write_run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?P<head>.*?)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Recipe(NamedTuple):
    title: str
    blocks: tuple[tuple[str, str], ...]
    """Head of the fence, and what it holds."""


def recipes() -> list[Recipe]:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    return [Recipe(section.split("\n")[0], blocks_of(section)) for section in sections]


def blocks_of(section: str) -> tuple[tuple[str, str], ...]:
    return tuple((fence["head"], fence["body"]) for fence in FENCE.finditer(section))


def apply(patch: str, tree: Path) -> None:
    """Each hunk's old lines must stand in the file exactly once."""
    for part in re.split(r"^--- ", patch, flags=re.MULTILINE)[1:]:
        name, _, hunk = part.partition("\n")
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        text = (tree / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} does not hold the lines of the recipe once:\n{old}"
        (tree / name).write_text(text.replace(old, new), encoding="utf-8")


def run(arguments: list[str], tree: Path) -> None:
    done = subprocess.run(
        arguments, cwd=tree, capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"HARA_VIZ_RUNS": str(tree / "runs"), "PYTHONPATH": str(tree)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("hara_viz", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", tmp_path)
    write_run(tmp_path / "runs" / "RUN")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title)
def test_the_recipe_works(recipe: Recipe, tree: Path) -> None:
    n_checks = 0
    for head, body in recipe.blocks:
        if head.startswith("py file="):
            path = tree / head.removeprefix("py file=")
            assert not path.exists(), f"{path.name} is there already"
            path.write_text(body, encoding="utf-8")
        elif head == "diff":
            apply(body, tree)
        elif head == "py check":
            (tree / "check.py").write_text(f"if __name__ == '__main__':\n{indented(body)}")
            run([sys.executable, "check.py"], tree)
            n_checks += 1
        else:
            assert head == "sh run", f"a block that nobody runs: {head!r}"
            for line in body.splitlines():
                run(
                    ["bash", "-c", line.replace("hara-viz", COMMAND).replace("RUN", "runs/RUN")],
                    tree,
                )
                n_checks += 1
    assert n_checks, "a recipe without a check"
    code = "import hara_viz, sys; sys.exit(sys.argv[1] not in hara_viz.__file__)"
    run([sys.executable, "-c", code, str(tree)], tree)


COMMAND = f"'{sys.executable}' -m hara_viz.cli"


def indented(code: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in code.splitlines())


@pytest.mark.slow
def test_recipes_keep_the_house_style(tree: Path) -> None:
    """All of them together, by the linter, and by the rules of who may import whom."""
    for recipe in recipes():
        for head, body in recipe.blocks:
            if head.startswith("py file="):
                (tree / head.removeprefix("py file=")).write_text(body, encoding="utf-8")
            elif head == "diff":
                apply(body, tree)
    (tree / "rewards.py").unlink()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, tree)
    (tree / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_architecture.py", tree / "tests")
    run([sys.executable, "-m", "ruff", "check", "hara_viz", "pages"], tree)
    run([sys.executable, "-m", "ruff", "format", "--check", "hara_viz", "pages"], tree)
    run([sys.executable, "-m", "pytest", "tests/test_architecture.py", "-q"], tree)


def test_every_recipe_is_in_the_list() -> None:
    listed = re.findall(r"^- \[(.*?)\]\(#(.*?)\)", PAGE, re.MULTILINE)
    assert [title for title, _ in listed] == [recipe.title for recipe in recipes()]
    assert all(anchor == title.lower().replace(" ", "-") for title, anchor in listed)
