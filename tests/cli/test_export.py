"""`hara-viz export`: the file, the line that names it, and what is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from hara_viz.cli.frame import app
from tests.small_runs import PENS


def export(run: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["export", str(run), *arguments], env={"NO_COLOR": "1"})


def test_a_group_becomes_a_file(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "pens.html"
    named = ["--to", "html", "--problem", PENS.problem_id, "--out", str(out)]
    done = export(small_run, *named, "--signal", "opposite", "--signal", "shear")
    assert done.exit_code == 0, done.output
    assert str(out) in done.output and "MB" in done.output
    assert out.read_text(encoding="utf-8").count("data-signal>") == 3


def test_refusals_are_one_sentence(small_run: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "x.html")
    for arguments, said in (
        (["--to", "pdf", "--problem", "pens", "--out", out], "html"),
        (["--to", "html", "--problem", "zzz", "--out", out], "zzz"),
        (["--to", "html", "--problem", PENS.problem_id, "--out", str(tmp_path)], "cannot be"),
    ):
        done = export(small_run, *arguments)
        assert done.exit_code == 2 and said in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
