"""README and docs/: code runs, commands exist, links and pictures lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hara_viz.cli.frame import VERBS
from tests.docs.test_glossary import help_of, shown_strings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_of(page: str) -> str:
    return "\n".join(CODE.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))


def promised(code: str) -> list[str]:
    return re.findall(r"^print\(.*\)  # (.*)", code, re.MULTILINE)


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_it_says() -> None:
    code = code_of("notebook.md")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(promised(code)) >= 5
    for line in promised(code):
        assert line in lines, f"{line!r} is promised; printed was {lines}"


@pytest.mark.slow
def test_the_commands_of_take_it_elsewhere_run(tmp_path: Path) -> None:
    """Those of the guide that need no model, in order; then the code that reads their files."""
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    section = text[text.index("## Take it elsewhere") :]
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    commands = [line for block in SHELL.findall(section) for line in block.splitlines()]
    assert len(commands) == 5
    for command in commands:
        words = [sys.executable, "-m", "hara_viz.cli", *shlex.split(command)[1:]]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, env=environment())
    names = {path.name for path in tmp_path.iterdir()} - {"assets"}
    assert names == {
        "group.html", "group.svg", "weights.parquet", "rollouts.csv", "hara-150-dataset"
    }  # fmt: skip
    for code in CODE.findall(section):
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=environment())


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_name_verbs_and_options_that_exist(page: Path) -> None:
    for block in SHELL.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.search(r"(?:^|/)hara-viz (.*)", line.split("  #")[0])
            if command is None:
                continue
            verb, *words = shlex.split(command[1])
            assert verb in VERBS, line
            for option in (word for word in words if word.startswith("--")):
                assert option in help_of(verb), f"{line}: {verb} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")
               for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}  # fmt: skip
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if target.startswith("#"):
            assert target[1:] in anchors, f"{page.name}: {target}"
        elif not target.startswith("http"):
            assert (page.parent / target.split("#")[0]).exists(), f"{page.name}: {target}"


def test_no_page_is_forgotten() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [
        page.name for page in (ROOT / "docs").glob("*.md") if f"docs/{page.name}" not in readme
    ]
    assert not missing, f"the README names no {missing}"


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md"])
def test_what_is_named_on_the_screen_is_on_the_screen(name: str) -> None:
    """Names of tabs, signals and buttons stand in italics and begin with a capital."""
    text = re.sub(r"```.*?```|\*\*.*?\*\*", "", (ROOT / name).read_text("utf-8"), flags=re.DOTALL)
    named = {" ".join(n.split()) for n in re.findall(r"\*([A-Z][^*]+?)\*", text)}
    sources = [*ROOT.glob("hara_viz/ui/*.py"), *ROOT.glob("pages/*.py"),
               *ROOT.glob("hara_viz/analysis/signals.py")]  # fmt: skip
    shown = {string for path in sources for _, string in shown_strings(path)}
    unknown = named - shown - {"Hierarchical Credit Assignment for RLVR on Fused "
                               "Gromov-Wasserstein Geometry"}  # fmt: skip
    assert len(named) > 4 and not unknown, f"{name} names {unknown}, which no screen shows"
