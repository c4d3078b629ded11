"""`hara-viz app`: the process that it becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.cli.app import command_line
from hara_viz.errors import HaraError


def test_it_serves_this_machine_only_and_hands_the_folders_on(tmp_path: Path) -> None:
    command = command_line(tmp_path, 8600, [tmp_path / "."])
    assert "--server.address=127.0.0.1" in command
    assert "--server.port=8600" in command
    assert Path(command[4]).name == "app.py"
    assert command[command.index("--") + 1 :] == [str(tmp_path), "--root", str(tmp_path)]


def test_without_a_folder_the_app_looks_for_one_itself() -> None:
    assert command_line(None, 8501, ())[-1] == "--"


@pytest.mark.parametrize("port", [0, 70000, -1])
def test_ports_are_checked(port: int) -> None:
    with pytest.raises(HaraError, match="--port"):
        command_line(None, port, ())


def test_folders_are_checked(tmp_path: Path) -> None:
    with pytest.raises(HaraError, match="no folder"):
        command_line(tmp_path / "nowhere", 8501, ())
    (tmp_path / "file").touch()
    with pytest.raises(HaraError, match="is a file"):
        command_line(None, 8501, [tmp_path / "file"])
