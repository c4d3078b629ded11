"""`hara-viz export`: the files, the line that names them, and what is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from hara_viz.cli.frame import app
from hara_viz.credit import CreditConfig
from tests.small_runs import PENS


def export(run: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["export", str(run), *arguments], env={"NO_COLOR": "1"})


def test_a_group_becomes_a_file(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "pens.html"
    named = ["--to", "html", "--problem", PENS.problem_id, "--out", str(out)]
    done = export(small_run, *named, "--show", "opposite", "--show", "shear")
    assert done.exit_code == 0, done.output
    assert str(out) in done.output and "MB" in done.output
    page = out.read_text(encoding="utf-8")
    assert page.count("data-signal>") == 3 and "cite arXiv:2610.04344" in page


def test_the_settings_reach_the_weights(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.parquet"
    settings = ["--alpha", "0.1", "--weight-range", "0.5,2", "--problem", "pens"]
    done = export(small_run, "--to", "weights", "--out", str(out), *settings)
    assert done.exit_code == 0, done.output
    run = open_run(small_run)
    key = next(key for key in run.keys() if key.problem_id == PENS.problem_id)  # noqa: SIM118
    found = credit_group(run, key, CreditConfig(alpha=0.1, weight_range=(0.5, 2)))
    rows = pd.read_parquet(out)
    assert [w for row in rows["weights"] for w in row] == found.credit.weights.tolist()


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("groups", "g.csv", "holds the groups"),
        ("rollouts", "r.parquet", "holds the rollouts"),
        ("tokens", "t.csv", "holds the tokens"),
        ("dataset", "set", "holds the dataset"),
        ("weights", "w.jsonl", "holds the weights"),
    ],
)
def test_every_kind(small_run: Path, tmp_path: Path, kind: str, name: str, said: str) -> None:
    out = tmp_path / name
    for _ in range(2):
        done = export(small_run, "--to", kind, "--out", str(out), "--force")
        assert done.exit_code == 0 and said in done.output, done.output
    refused = export(small_run, "--to", kind, "--out", str(out))
    assert refused.exit_code == 2 and "--force" in refused.stderr


def test_a_picture(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "pens.svg"
    named = ["--to", "picture", "--problem", "pens", "--out", str(out)]
    assert export(small_run, *named, "--show", "entropy").exit_code == 0
    assert ">Entropy<" in out.read_text()


def test_rollouts_without_weights_are_counted(small_runs: Path, tmp_path: Path) -> None:
    done = export(small_runs / "no-states", "--to", "dataset", "--out", str(tmp_path / "set"))
    assert done.exit_code == 0 and "13 rollouts have no weights" in done.output


def test_refusals_are_one_sentence(small_run: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "x.html")
    for arguments, said in (
        (["--to", "pdf", "--problem", "pens", "--out", out], "html"),
        (["--to", "html", "--problem", "zzz", "--out", out], "zzz"),
        (["--to", "html", "--problem", PENS.problem_id, "--out", str(tmp_path)], "cannot be"),
        (["--to", "html", "--out", out], "--problem"),
        (["--to", "picture", "--problem", "pens", "--out", out], ".svg or .png"),
        (["--to", "picture", "--problem", "pens", "--out", out, "--show", "a", "--show", "b"],
         "one signal"),
        (["--to", "weights", "--out", out], ".parquet or .jsonl"),
        (["--to", "weights", "--out", out, "--show", "entropy"], "html and picture"),
        (["--to", "groups", "--step", "3", "--out", out], "step 3"),
        (["--to", "dataset", "--problem", "pens", "--out", out], "whole run"),
        (["--to", "weights", "--alpha", "2", "--out", out], "alpha"),
    ):  # fmt: skip
        done = export(small_run, *arguments)
        assert done.exit_code == 2 and said in done.stderr, (arguments, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
