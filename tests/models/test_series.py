"""A training's folder as a series."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hara_viz.errors import FormatError, MissingInputError
from hara_viz.models.series import find_series


@pytest.fixture
def training(tiny_policy_dir: Path, tmp_path: Path) -> Path:
    for step in (200, 30, 5):
        shutil.copytree(tiny_policy_dir, tmp_path / "run" / f"checkpoint-{step}")
    return tmp_path / "run"


def test_order_is_by_step_not_by_name(training: Path) -> None:
    found = find_series(training)
    assert [c.global_step for c in found.checkpoints] == [5, 30, 200]
    assert found.checkpoints[0].path == training / "checkpoint-5"
    assert found.skipped == ()


def test_the_trainers_state_knows_better(training: Path) -> None:
    (training / "checkpoint-5" / "trainer_state.json").write_text(json.dumps({"global_step": 505}))
    assert [c.global_step for c in find_series(training).checkpoints] == [30, 200, 505]
    (training / "checkpoint-5" / "trainer_state.json").write_text("{")
    assert [c.global_step for c in find_series(training).checkpoints] == [5, 30, 200]


def test_unfinished_steps_are_named_not_hidden(training: Path) -> None:
    (training / "checkpoint-30" / "model.safetensors").unlink()
    found = find_series(training)
    assert [c.global_step for c in found.checkpoints] == [5, 200]
    assert found.skipped[0][0].name == "checkpoint-30" and "unfinished" in found.skipped[0][1]


def test_steps_without_the_siblings_marker_are_skipped(training: Path) -> None:
    for step in (5, 30):
        (training / f"checkpoint-{step}" / "STABLE").touch()
    found = find_series(training)
    assert [c.global_step for c in found.checkpoints] == [5, 30]
    assert "still being written" in found.skipped[0][1]


def test_verls_inner_model_is_found(tiny_policy_dir: Path, tmp_path: Path) -> None:
    inner = tmp_path / "global_step_40" / "actor" / "huggingface"
    shutil.copytree(tiny_policy_dir, inner)
    (tmp_path / "global_step_40" / "actor" / "fsdp_config.json").touch()
    assert find_series(tmp_path).checkpoints == ((40, inner),)


def test_folders_that_are_no_series(tmp_path: Path, tiny_policy_dir: Path) -> None:
    with pytest.raises(MissingInputError):
        find_series(tmp_path / "gone")
    with pytest.raises(FormatError, match="no folders named"):
        find_series(tiny_policy_dir)
    (tmp_path / "step_3").mkdir()
    with pytest.raises(FormatError, match="none of the 1 step folders"):
        find_series(tmp_path)
