"""The command that a reader pastes into a shell."""

from __future__ import annotations

import shlex
from pathlib import Path

from hara_viz.backend.runs import open_run
from hara_viz.ui.missing_states import states_command
from tests.small_runs import write_run


def test_a_strange_name_stays_one_word_of_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "my run; rm -rf $HOME"
    write_run(folder, layers=())
    words = shlex.split(states_command(open_run(folder)))
    assert words == ["hara-viz", "states", str(folder), "--model", "models/tiny"]
