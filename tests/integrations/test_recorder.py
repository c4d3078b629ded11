from __future__ import annotations

from pathlib import Path

import pytest
import torch

from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.integrations.recorder import RecordedRow, RunRecorder
from hara_viz.store import open_run
from tests.store.builders import make_info, make_rollout

LAYERS = (1, 3)


def rows(
    step: int, *, problems: tuple[int, ...] = (0, 1), with_states: bool = True
) -> list[RecordedRow]:
    """Two rollouts of each problem, in the order of the batch."""
    made = []
    for row in range(2 * len(problems)):
        n_tokens = 3 + row
        states = torch.full((n_tokens, 4), float(row), dtype=torch.bfloat16)
        made.append(
            RecordedRow(
                row=row,
                rollout=make_rollout(problems[row // 2], 0, n_tokens=n_tokens, global_step=step),
                states=(states, -states) if with_states else None,
            )
        )
    return made


def recorder(path: Path, *, resume: bool = False) -> RunRecorder:
    return RunRecorder(path, make_info(), LAYERS, 3, states_dtype="bfloat16", resume=resume)


def test_rows_of_all_processes_become_groups_in_the_order_of_the_batch(tmp_path: Path) -> None:
    with_order = rows(0)
    one = recorder(tmp_path / "r")
    one.write(lambda: with_order[::-1], 2)
    one.finish()
    run = open_run(tmp_path / "r")
    assert run.complete and run.parts == ("part-00000",) and run.layers == LAYERS
    for number, key in enumerate(run.keys()):
        group = run.load_group(key)
        assert [r.sample for r in group.rollouts] == [0, 1]
        states = run.load_states(key, 3)
        assert states is not None and states.after_norm
        assert [float(states.rows(b)[0, 0]) for b in (0, 1)] == [-2 * number, -2 * number - 1]


def test_a_problem_that_comes_twice_in_a_step_has_two_groups(tmp_path: Path) -> None:
    one = recorder(tmp_path / "r")
    one.write(lambda: rows(0, problems=(0, 0)), 2)
    one.write(lambda: rows(0, problems=(0,)), 2)
    one.close()
    again = recorder(tmp_path / "r", resume=True)
    again.write(lambda: rows(0, problems=(0, 1)), 2)
    again.finish()
    again.close()
    numbers = [(k.problem_id[-1], k.group) for k in open_run(tmp_path / "r").keys()]  # noqa: SIM118
    assert numbers == [("0", 0), ("0", 1), ("0", 2), ("0", 3), ("1", 0)]


def test_rows_without_states_are_recorded_without(tmp_path: Path) -> None:
    one = recorder(tmp_path / "r")
    one.write(lambda: rows(0, with_states=False), 2)
    one.finish()
    assert open_run(tmp_path / "r").layers == ()


def test_a_batch_that_could_not_be_written_stops_the_training_at_the_next_one(
    tmp_path: Path,
) -> None:
    one = recorder(tmp_path / "r")
    (tmp_path / "r" / "rollouts" / "part-00000.parquet").mkdir(parents=True)
    one.write(lambda: rows(0), 2)
    with pytest.raises(StoreError, match="could not be written"):
        one.write(lambda: rows(1), 2)
    one.close()
    assert not open_run(tmp_path / "r").complete


def test_another_writer_is_refused_until_it_is_closed(tmp_path: Path) -> None:
    one = recorder(tmp_path / "r")
    with pytest.raises(StoreError, match="already being written"):
        recorder(tmp_path / "r", resume=True)
    one.close()
    recorder(tmp_path / "r", resume=True).close()
    with pytest.raises(InvalidInputError, match="is a run already"):
        recorder(tmp_path / "r")
