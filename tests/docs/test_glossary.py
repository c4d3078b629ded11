"""One name for one thing: the glossary is the source, and what people read keeps to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.further_signals import FURTHER
from hara_viz.cli.config_options import config_fields
from hara_viz.cli.frame import VERBS, app
from hara_viz.credit import CreditConfig

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\*\*(?P<terms>.+?)\*\*(?: \[(?P<symbol>\S+?)\])? — (?P<text>.*)$", re.DOTALL)
NOT = re.compile(r"\*Not: (.+?)\.\*", re.DOTALL)
# Code, and the addresses of links.
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL)


@cache
def entries() -> dict[str, str]:
    """Term -> its text."""
    found: dict[str, str] = {}
    for paragraph in GLOSSARY.split("\n\n"):
        entry = ENTRY.match(paragraph.strip())
        if entry:
            for term in entry["terms"].split(", "):
                assert term not in found, f"{term} stands twice"
                found[term] = entry["text"]
    return found


def forbidden() -> dict[str, str]:
    """Word never used -> the term to use."""
    return {
        word.strip(): term
        for term, text in entries().items()
        for group in NOT.findall(text)
        for word in " ".join(group.split()).split(",")
    }


def shown_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module that people may read: not docstrings, not single words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in said:
            continue
        if isinstance(node.value, str) and (" " in node.value or node.value[:1].isupper()):
            yield node.lineno, node.value


def script_strings(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for quoted in re.findall(r'"([^"]*)"|`([^`]*)`', line):
            yield number, " ".join(quoted)


@cache
def help_of(verb: str) -> str:
    done = CliRunner().invoke(app, [verb, "--help"], env={"NO_COLOR": "1", "COLUMNS": "400"})
    assert done.exit_code == 0
    return done.output


def read_by_people() -> Iterator[tuple[str, str]]:
    """Where it stands, and the text."""
    for path in [*ROOT.glob("hara_viz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]:
        if path.is_relative_to(ROOT / "hara_viz" / "importers" / "formats"):
            continue  # speaks of other programs' files in their words
        for line, text in shown_strings(path):
            yield f"{path.relative_to(ROOT)}:{line}", CODE.sub(" ", text)
    for path in ROOT.glob("hara_viz/components/**/*.js"):
        if not path.name.endswith(".test.js"):
            for line, text in script_strings(path):
                yield f"{path.relative_to(ROOT)}:{line}", text
    for path in [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        if path.name != "glossary.md":
            text = CODE.sub(lambda m: "\n" * m[0].count("\n"), path.read_text(encoding="utf-8"))
            for number, line in enumerate(text.splitlines(), 1):
                yield f"{path.relative_to(ROOT)}:{number}", line
    for verb in VERBS:
        yield f"hara-viz {verb} --help", help_of(verb)


def uses(text: str, word: str) -> bool:
    stem, plural = (word[:-1], "(y|ies)") if word.endswith("y") else (word, "(s|es)?")
    return re.search(rf"\b{re.escape(stem)}{plural}\b", text, re.IGNORECASE) is not None


def test_the_glossary_is_read() -> None:
    assert len(entries()) > 50 and len(forbidden()) > 15
    assert forbidden()["trajectory"] == "rollout" and forbidden()["ground truth"] == "gold answer"


def test_other_names_are_never_used() -> None:
    texts = list(read_by_people())
    assert len(texts) > 2000
    found = [
        f"{where}: {word!r}; say {term!r}"
        for where, text in texts
        for word, term in forbidden().items()
        if uses(text, word)
    ]
    assert not found, "\n".join(found)


def test_the_search_finds_what_it_looks_for() -> None:
    assert uses("Two trajectories", "trajectory") and uses("the Ground truth:", "ground truth")
    assert not uses("an episodic memory", "episode")
    strings = dict(shown_strings(ROOT / "hara_viz" / "ui" / "learn_steps.py"))
    assert any("gets the same advantage" in text for text in strings.values())


def test_no_term_is_dead() -> None:
    everything = "\n".join(text for _, text in read_by_people())
    words = everything + "\n".join(entries().values())
    dead = [term for term in entries() if not uses(words, term)]
    assert not dead, f"terms that nobody uses: {dead}"


def test_every_signal_is_explained() -> None:
    terms = {term.lower() for term in entries()}
    for signal in [*SIGNALS.values(), *(further.signal for further in FURTHER)]:
        label = signal.label.lower()
        assert any(term in label for term in terms), f"{signal.label} is no term"


@pytest.mark.parametrize("verb", VERBS)
def test_help_speaks_of_terms(verb: str) -> None:
    assert any(uses(help_of(verb), term) for term in entries()), f"{verb}: no term in its help"


def test_fields_of_the_config_that_have_a_symbol_are_terms() -> None:
    symbols = {"alpha": "[α]", "epsilon": "[ε]", "n_support": "[K]", "n_anchors": "anchor** [A]"}
    names = {field.name for field in config_fields(CreditConfig)}
    for name, mark in symbols.items():
        assert name in names and mark in GLOSSARY
    for word in ("signal", "baseline", "strength", "granularity", "structure", "location"):
        assert word in names and word in entries()


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", GLOSSARY):
        assert (ROOT / "docs" / target).exists(), target
