"""Bad input: one clear sentence on stderr, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hara_viz.cli.frame import app
from tests.small_runs import write_run

GOOD_LINE = json.dumps({"question": "What is 1 + 1?", "answer": "2"})


@pytest.fixture
def place(tmp_path: Path, tiny_policy_dir: Path) -> Path:
    """A working folder with good and bad files."""
    (tmp_path / "model").symlink_to(tiny_policy_dir)
    (tmp_path / "good.jsonl").write_text(GOOD_LINE + "\n")
    (tmp_path / "half.jsonl").write_text(GOOD_LINE + "\n" + GOOD_LINE[:20])
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "columns.jsonl").write_text('{"spam": 1, "eggs": 2}\n')
    (tmp_path / "gold.jsonl").write_text(
        GOOD_LINE + "\n" + json.dumps({"question": "Why?", "answer": "because"}) + "\n"
    )
    (tmp_path / "not-a-model").mkdir()
    (tmp_path / "not-a-model" / "notes.txt").write_text("hello")
    (tmp_path / "text.gguf").write_text("not a GGUF file")
    dump = {"prompt": "What is 1 + 1?", "completion": "2", "reward": 1.0}
    (tmp_path / "dump.jsonl").write_text(json.dumps(dump) + "\n")
    (tmp_path / "torn.jsonl").write_text(json.dumps(dump)[:30])
    (tmp_path / "dump.pt").write_bytes(b"\x80\x04")
    (tmp_path / "busy").mkdir()
    (tmp_path / "busy" / "thesis.tex").write_text("dear to me")
    return tmp_path


def run(arguments: Sequence[str], where: Path) -> Result:
    return CliRunner().invoke(app, [text.replace("@", f"{where}/") for text in arguments])


def sample(*changes: str) -> list[str]:
    """A good call with some options replaced: later ones win."""
    return ["sample", "--model", "@model", "--problems", "@good.jsonl", "--out", "@run",
            "--max-new-tokens", "4", *changes]  # fmt: skip


def import_(*changes: str, source: str = "@dump.jsonl") -> list[str]:
    return ["import", source, "--out", "@imported", "--model", "@model", *changes]


CASES = {
    "missing problems": (sample("--problems", "@none.jsonl"), "none.jsonl"),
    "missing model": (sample("--model", "@none"), "none"),
    "not a checkpoint": (sample("--model", "@not-a-model"), "not-a-model"),
    "not a GGUF file": (sample("--model", "@text.gguf"), "text.gguf"),
    "half a JSON line": (sample("--problems", "@half.jsonl"), "line 2"),
    "empty set": (sample("--problems", "@empty.jsonl"), "is empty"),
    "unknown columns": (sample("--problems", "@columns.jsonl"), "spam, eggs"),
    "named column missing": (sample("--columns", "question=prompt"), "prompt"),
    "columns misspelt": (sample("--columns", "question"), "question=COLUMN"),
    "group size 0": (sample("--group-size", "0"), "group_size is 0"),
    "group size x": (sample("--group-size", "x"), "--group-size"),
    "method of no series": (sample("--method", "hara"), "--series"),
    "no tokens": (sample("--max-new-tokens", "0"), "max_new_tokens is 0"),
    "top-p": (sample("--top-p", "2"), "top_p is 2"),
    "limit 0": (sample("--limit", "0"), "limit is 0"),
    "unreadable gold": (sample("--problems", "@gold.jsonl", "--reward", "number"), "because"),
    "unknown reward": (sample("--reward", "vibes"), "vibes"),
    "unknown states": (sample("--states", "some"), "states is 'some'"),
    "unknown layer": (sample("--layers", "99"), "layer 99"),
    "projection too large": (sample("--project", "32"), "size 32"),
    "layers misspelt": (sample("--layers", "last"), "--layers is 'last'"),
    "unknown device": (sample("--device", "abacus"), "abacus"),
    "foreign directory": (sample("--out", "@busy"), "busy"),
    "a file in the way": (sample("--out", "@good.jsonl"), "good.jsonl"),
    "few-shot missing": (sample("--few-shot", "@none"), "none"),
    "unknown option": (sample("--temprature", "1"), "--temprature"),
    "option missing": (["sample", "--model", "@model"], "--problems"),
    "unknown verb": (["sampel"], "sampel"),
    "no run to show": (["show", "@none"], "none"),
    "no run in it": (["show", "@busy"], "busy"),
    "no run to score": (["score", "@none", "--reward", "number"], "none"),
    "no run for states": (["states", "@none", "--model", "@model"], "none"),
    "states without prompts": (["states", "@kept", "--model", "@model"], "ids of its prompts"),
    "no run for credit": (["credit", "@none"], "none"),
    "alpha 7": (["credit", "@kept", "--alpha", "7"], "alpha"),
    "alpha half": (["credit", "@kept", "--alpha", "half"], "--alpha is 'half'"),
    "unknown baseline": (["credit", "@kept", "--baseline", "ppo"], "ppo"),
    "no such layer kept": (["credit", "@kept", "--layer", "3"], "layer 3"),
    "no such problem": (["show", "@kept", "--problem", "zzz"], "zzz"),
    "rewards unknown": (["score", "@kept", "--reward", "vibes"], "vibes"),
    "nothing to import": (import_(source="@none"), "none"),
    "a pickle": (import_(source="@dump.pt"), "pickle"),
    "a torn dump": (import_(source="@torn.jsonl"), "no dump of a known layout"),
    "columns of no dump": (import_(source="@columns.jsonl"), "spam, eggs"),
    "a folder without dumps": (import_(source="@busy"), "busy"),
    "unknown format": (import_("--format", "csv"), "no format 'csv'"),
    "another format": (import_("--format", "verl"), "verl"),
    "import over a thesis": (import_("--out", "@busy"), "busy"),
    "import over a file": (import_("--out", "@good.jsonl"), "good.jsonl"),
    "import without a model": (["import", "@dump.jsonl", "--out", "@imported"], "--model"),
    "import nowhere": (["import", "@dump.jsonl", "--model", "@model"], "--out"),
    "import with no tokenizer": (import_("--model", "@not-a-model"), "not-a-model"),
    "import with no problems": (import_("--problems", "@none.jsonl"), "none.jsonl"),
    "import of a run": (import_(source="@kept"), "already"),
    "port": (["app", "--port", "0"], "--port"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_exit_code_2_nothing_written(case: str, place: Path) -> None:
    arguments, names = CASES[case]
    if "@kept" in arguments:
        write_run(place / "kept")
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    result = run(arguments, place)
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("hara-viz: ")]
    assert len(lines) == 1, result.stderr
    assert names in lines[0]
    assert "Traceback" not in result.output + result.stderr
    # What comes before it is progress; after it, nothing.
    assert result.stderr.splitlines()[-1] == lines[0]
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_the_good_call_is_good(place: Path) -> None:
    """Otherwise the cases above could fail for another reason than the one they name."""
    result = run([*sample("--group-size", "2"), "--dry-run"], place)
    assert result.exit_code == 0, result.output + result.stderr
    assert "What is 1 + 1?" in result.stdout
    assert not (place / "run").exists()


def test_the_good_import_is_good(place: Path) -> None:
    looked = run([*import_(), "--dry-run"], place)
    assert looked.exit_code == 0, looked.output + looked.stderr
    assert "1 rows of 1 file(s) hold 1 rollouts in 1 groups" in looked.stdout
    assert not (place / "imported").exists()
    result = run(import_(), place)
    assert result.exit_code == 0, result.output + result.stderr
    assert "imported is complete" in result.stdout
    shown = run(["show", "@imported"], place)
    assert "1/1 right" in shown.stdout, shown.output


def test_debug_shows_the_traceback(place: Path) -> None:
    result = run([*sample("--group-size", "0"), "--debug"], place)
    assert type(result.exception).__name__ == "InvalidInputError"


def test_a_second_run_in_the_same_place_is_refused_on_demand(place: Path) -> None:
    write_run(place / "run")
    result = run([*sample(), "--no-resume"], place)
    assert result.exit_code == 2
    assert "holds a run already" in result.stderr


def test_a_run_of_other_settings_is_not_mixed_up(place: Path) -> None:
    write_run(place / "run")
    before = sorted(place.rglob("*"))
    result = run(sample(), place)
    assert result.exit_code == 2, result.output
    assert sorted(place.rglob("*")) == before


def test_show_verifies_every_byte_when_asked(tmp_path: Path) -> None:
    path = write_run(tmp_path / "kept")
    good = CliRunner().invoke(app, ["show", str(path), "--verify"])
    assert good.exit_code == 0, good.output
    states = next((path / "states" / "4").glob("part-*.safetensors"))
    content = bytearray(states.read_bytes())
    content[-10] ^= 0xFF  # a number among others: nothing but the checksum can tell
    states.write_bytes(content)
    assert CliRunner().invoke(app, ["show", str(path)]).exit_code == 0
    bad = CliRunner().invoke(app, ["show", str(path), "--verify"])
    assert bad.exit_code == 2
    assert states.name in bad.stderr and "restore" in bad.stderr
