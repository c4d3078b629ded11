"""Runs of one training are named as a series on the command line."""

from __future__ import annotations

from pathlib import Path

from hara_viz.store import open_run
from hara_viz.types import Series
from tests.cli.test_bad_input import place as place
from tests.cli.test_bad_input import run, sample


def test_a_series_and_its_step_are_kept(place: Path) -> None:
    done = run(sample("--series", "t", "--method", "hara", "--global-step", "40"), place)
    assert done.exit_code == 0, done.output
    info = open_run(place / "run").info
    assert info.series == Series(id="t", method="hara") and info.global_step == 40
