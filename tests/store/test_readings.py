from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hara_viz.errors import FormatError, InvalidInputError, ShapeError, StoreError
from hara_viz.store import Reading, ReadingWriter, RunWriter, open_run
from hara_viz.types import CheckpointInfo, GroupKey, HiddenStates, RolloutGroup
from tests.store.builders import make_group, make_info, make_states

OWN = CheckpointInfo(path="m", fingerprint="f" * 64)
OTHER = CheckpointInfo(path="../base", fingerprint="ab" * 32, hidden_size=6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An imported run: no log-probabilities, no states."""
    with RunWriter(tmp_path / "r", make_info()) as writer:
        for p in range(2):
            writer.write_part([make_group(2 * p, logprobs=None), make_group(2 * p + 1)])
        writer.finish()
    return tmp_path / "r"


def read(groups: tuple[RolloutGroup, ...], value: float) -> list[Reading]:
    counts = [len(r.completion_ids) for group in groups for r in group.rollouts]
    return [Reading((value - b,) * n, (0.5,) * n) for b, n in enumerate(counts)]


def fill(path: Path, checkpoint: CheckpointInfo, value: float, layers: tuple[int, ...]) -> None:
    run = open_run(path)
    with ReadingWriter(path, checkpoint, layers) as writer:
        for part in writer.missing_parts:
            groups = run.load_part(part)
            states = [make_states(list(groups), layer) for layer in layers]
            writer.write_part(part, groups, read(groups, value), states)
        writer.finish()


def test_the_runs_own_checkpoint_fills_in_what_is_missing(path: Path) -> None:
    fill(path, OWN, -1.0, (2,))
    run = open_run(path)
    assert run.layers == (2,) and run.readers == (OWN,)
    filled = run.load_group(make_group(0).key).rollouts[1]
    assert filled.logprobs == (-2.0,) * 4 and filled.entropy == (0.5,) * 4
    assert filled.logprobs_kind == "raw"
    assert run.load_part("part-00000")[0].rollouts[1] == filled
    assert run.load_group(make_group(1).key) == make_group(1)  # had its own
    states = run.load_states(make_group(1).key, 2)
    whole = make_states([make_group(0), make_group(1)], 2)
    assert states is not None
    assert torch.equal(states.states.float(), whole.states[12:])
    assert run.complete and run.verify() == ()


def test_another_checkpoint_stands_beside(path: Path) -> None:
    fill(path, OWN, -1.0, (2,))
    fill(path, OTHER, -3.0, (1, 2))
    run, key = open_run(path), make_group(3).key
    assert {c.path for c in run.readers} == {"m", "../base"}
    assert run.layers == (2,)
    readings = run.load_readings(key, OTHER.fingerprint)
    assert readings is not None
    assert [r.logprobs[0] for r in readings] == [-6.0, -7.0, -8.0]  # rows 3 to 5 of the part
    assert run.load_states(key, 1) is None
    assert run.load_states(key, 1, source=OTHER.fingerprint) is not None
    assert run.load_readings(key, "0" * 64) is None


def test_a_broken_off_reading_goes_on(path: Path) -> None:
    run = open_run(path)
    groups = run.load_part("part-00000")
    with ReadingWriter(path, OTHER, (1,)) as writer:
        writer.write_part("part-00000", groups, read(groups, 0), [make_states(list(groups), 1)])
    assert run.load_readings(make_group(2).key, OTHER.fingerprint) is None
    with ReadingWriter(path, OTHER, (1,)) as writer:
        assert writer.missing_parts == ("part-00001",)
    with ReadingWriter(path, OTHER, (1, 2)) as writer:  # one more layer
        assert writer.missing_parts == ("part-00000", "part-00001")
    with ReadingWriter(path, OTHER) as writer:
        assert writer.missing_parts == ("part-00001",)


def test_states_of_some_groups_are_kept_and_the_rest_filled_in_later(path: Path) -> None:
    run = open_run(path)
    kept = make_group(1).key

    def read_all(keep: frozenset[GroupKey] | None, seed: int) -> tuple[str, ...]:
        with ReadingWriter(path, OTHER, (1,), keep=keep) as writer:
            missing = writer.missing_parts
            for part in missing:
                groups = run.load_part(part)
                states = [make_states(list(groups), 1, seed)]
                writer.write_part(part, groups, read(groups, 0), states)
        return missing

    def states_of(problem: int) -> HiddenStates | None:
        return run.load_states(make_group(problem).key, 1, source=OTHER.fingerprint)

    assert read_all(frozenset({kept}), seed=0) == ("part-00000", "part-00001")
    assert [states_of(p) is not None for p in range(4)] == [False, True, False, False]
    assert run.load_readings(make_group(3).key, OTHER.fingerprint) is not None
    assert read_all(frozenset({kept}), seed=0) == ()
    assert read_all(None, seed=1) == ("part-00000", "part-00001")
    assert read_all(None, seed=1) == ()
    old = make_states([make_group(0), make_group(1)], 1, seed=0)
    fresh = make_states([make_group(0), make_group(1)], 1, seed=1)
    first, second = states_of(0), states_of(1)
    assert first is not None and torch.equal(first.states.float(), fresh.states[:12])
    assert second is not None and torch.equal(second.states.float(), old.states[12:])  # stays


def test_states_of_another_size_are_not_mixed_in(path: Path) -> None:
    run = open_run(path)
    groups = run.load_part("part-00000")
    whole = make_states(list(groups), 1)
    narrow = replace(whole, states=whole.states[:, :4])
    with ReadingWriter(path, OTHER, (1,), keep={make_group(0).key}) as writer:
        writer.write_part("part-00000", groups, read(groups, 0), [whole])
    with (
        ReadingWriter(path, OTHER, (1,)) as writer,
        pytest.raises(InvalidInputError, match="holds states of 6 numbers each"),
    ):
        writer.write_part("part-00000", groups, read(groups, 0), [narrow])


def test_the_only_reader_of_a_run_without_a_checkpoint_stands_in_for_it(tmp_path: Path) -> None:
    path = tmp_path / "imported"
    with RunWriter(path, make_info(checkpoint=None)) as writer:
        writer.write_part([make_group(0, logprobs=None)])
        writer.finish()
    assert open_run(path).layers == ()
    fill(path, OTHER, -1.0, (2,))
    run, key = open_run(path), make_group(0).key
    assert run.layers == (2,) and run.load_states(key, 2) is not None
    assert run.load_group(key).rollouts[1].logprobs == (-2.0,) * 4
    assert run.source_of(OTHER.fingerprint[:8]) == run.source_of(None) == OTHER.fingerprint
    fill(path, OWN, -1.0, (1,))  # now there are two, and one has to be named
    assert open_run(path).layers == () and open_run(path).layers_of(OWN.fingerprint) == (1,)


def test_readings_must_fit(path: Path) -> None:
    run = open_run(path)
    groups = run.load_part("part-00000")
    right = read(groups, 0)
    with ReadingWriter(path, OTHER) as writer:
        with pytest.raises(StoreError, match="a reading of"):
            ReadingWriter(path, OWN)
        with pytest.raises(ShapeError, match="5 readings were given for 6"):
            writer.write_part("part-00000", groups, right[1:])
        with pytest.raises(ShapeError, match=r"got .* values for 3 tokens"):
            writer.write_part("part-00000", groups, [right[1], *right[1:]])
        with pytest.raises(InvalidInputError, match="the reading is of layers"):
            writer.write_part("part-00000", groups, right, [make_states(list(groups), 2)])
        writer.write_part("part-00001", groups, right)  # under a wrong name
    with pytest.raises(FormatError, match="belongs to other rollouts"):
        run.load_readings(make_group(2).key, OTHER.fingerprint)


def test_fingerprints_cannot_leave_the_run(path: Path) -> None:
    for fingerprint in ("../../x", "", "a/b"):
        with pytest.raises(FormatError, match="not the fingerprint"):
            open_run(path).load_states(make_group(0).key, 1, source=fingerprint)
        with pytest.raises(FormatError, match="not the fingerprint"):
            ReadingWriter(path, CheckpointInfo(path="x", fingerprint=fingerprint))


def test_a_run_may_grow_while_it_is_read(path: Path) -> None:
    run = open_run(path)
    groups = run.load_part("part-00000")
    with ReadingWriter(path, OWN, (2,)) as reading:
        in_flight = path / "states/2/.part-00000.safetensors.writing"
        in_flight.write_bytes(b"half")
        stray = path / "states/2/.part-00002.safetensors.writing"
        stray.write_bytes(b"half")
        with RunWriter(path, make_info()) as writer:
            assert in_flight.exists() and not stray.exists()
            writer.write_part([make_group(8)], [make_states([make_group(8)], 2)])
        reading.write_part("part-00000", groups, read(groups, 0), [make_states(list(groups), 2)])
        assert reading.missing_parts == ("part-00001", "part-00002")
    assert open_run(path).load_states(make_group(8).key, 2) is not None
