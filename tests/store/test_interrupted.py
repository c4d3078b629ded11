"""Kill, full disk, second writer: what is in the run stays, what is not leaves nothing behind."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import torch

from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.store import RunWriter, list_runs, open_run
from hara_viz.store.states import read_states
from hara_viz.types import RolloutGroup, SamplingConfig
from tests.store.builders import make_group, make_info, make_states

# Children with everything imported already, forked from a process without threads or locks.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.store.builders", "hara_viz.store"])


def start(action: Callable[..., None], *arguments: Any) -> tuple[ForkServerProcess, Connection]:
    """A child that runs `action(connection, *arguments)`, and our end of the connection."""
    ours, theirs = CONTEXT.Pipe()
    child = CONTEXT.Process(target=action, args=(theirs, *arguments))
    child.start()
    theirs.close()
    return child, ours


def write_all(connection: Connection, path: Path, n: int, die_at: int | None = None) -> None:
    """Write n groups with states; die by SIGKILL just before the rename number `die_at`."""
    renames = itertools.count(1)

    def hook(event: str, _: object) -> None:
        if event == "os.rename" and next(renames) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    with RunWriter(path, make_info()) as writer:
        for p in range(n):
            group = make_group(p)
            if group.key not in writer.done_keys:
                writer.write_part([group], [make_states([group])])
                connection.send(p)
        writer.finish()


def hold(connection: Connection, path: Path) -> None:
    with RunWriter(path, make_info()):
        connection.send(os.getpid())
        connection.recv()


def hold_with_child(connection: Connection, path: Path) -> None:
    with RunWriter(path, make_info()):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        connection.send(child)
        connection.recv()


def fill_the_disk(connection: Connection, path: Path) -> None:
    # A real limit of the kernel: writes past it fail as on a full disk.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    first, big = make_group(0), make_group(1, size=2, n_tokens=50_000)
    draw = random.Random(0).randrange
    noise = (
        replace(r, completion_ids=tuple(draw(10**9) for _ in r.completion_ids))
        for r in big.rollouts
    )
    big = RolloutGroup(tuple(noise))  # does not compress
    with RunWriter(path, make_info()) as writer:
        writer.write_part([first], [make_states([first])])
        for states in ([make_states([big])], []):
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            try:
                writer.write_part([big], states)
            except StoreError as error:
                connection.send(str(error))
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        connection.send(writer.done_keys)
        writer.write_part([big], [make_states([big])])
        writer.finish()


def assert_sound(path: Path) -> None:
    """Readable as it was left: whole groups, each once, with their states."""
    if not (path / "run.json").exists():
        return
    run = open_run(path)
    keys = run.keys()
    assert len(set(keys)) == len(keys)
    for key in keys:
        group = make_group(int(key.problem_id, 16))
        assert run.load_group(key) == group
        states = run.load_states(key, 3)
        assert states is not None
        assert torch.equal(states.states.float(), make_states([group]).states)


@pytest.mark.slow
def test_killed_before_each_rename_and_resumed(tmp_path: Path) -> None:
    path, n = tmp_path / "r", 20
    kept: list[int] = []
    # Header, card, index, then states, rollouts and index of a part: each is hit twice.
    for die_at in range(1, 10):
        child, _ = start(write_all, path, n, die_at)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        assert_sound(path)
        kept.append(len(open_run(path).keys()) if (path / "run.json").exists() else 0)
    assert kept == sorted(kept) and 0 < kept[-1] < n
    child, _ = start(write_all, path, n)
    child.join()
    assert open_run(path).complete and open_run(path).verify() == ()
    assert len(open_run(path).keys()) == n
    assert_sound(path)
    assert not list(path.rglob("*.writing"))


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed(tmp_path: Path) -> None:
    path, n = tmp_path / "r", 30
    for moment in range(3):
        child, connection = start(write_all, path, n)
        connection.recv()  # a part further, then somewhere within the next
        time.sleep(0.003 * moment)
        child.kill()
        child.join()
        assert_sound(path)
    child, _ = start(write_all, path, n)
    child.join()
    assert len(open_run(path).keys()) == n
    assert_sound(path)


# What stands on the disk after a kill between any two steps of writing a part.
def test_states_without_rollouts_are_discarded(tmp_path: Path) -> None:
    path = tmp_path / "r"
    first, second, third = make_group(0), make_group(1), make_group(2)
    with RunWriter(path, make_info()) as writer:
        writer.write_part([first], [make_states([first])])
        writer.write_part([second], [make_states([second])])
    (path / "rollouts/part-00001.parquet").unlink()
    (path / "rollouts/.part-00001.parquet.writing").write_bytes(b"half")
    with RunWriter(path, make_info()) as writer:
        assert writer.done_keys == {first.key}
        assert not (path / "states/3/part-00001.safetensors").exists()
        assert not (path / "rollouts/.part-00001.parquet.writing").exists()
        writer.write_part([third])  # without states: must not inherit those of the lost part
    run = open_run(path)
    assert run.keys() == (first.key, third.key)
    assert run.load_states(third.key, 3) is None


def test_a_part_that_the_index_has_not_heard_of(tmp_path: Path) -> None:
    path = tmp_path / "r"
    first, second = make_group(0), make_group(1)
    with RunWriter(path, make_info()) as writer:
        writer.write_part([first])
        index = (path / "groups.parquet").read_bytes()
        writer.write_part([second])
        (path / "groups.parquet").write_bytes(index)  # killed before it was rewritten
    expected = open_run(path).summaries()
    assert open_run(path).keys() == (first.key, second.key)
    with RunWriter(path, make_info()) as writer:
        assert writer.done_keys == {first.key, second.key}
    assert open_run(path).summaries().equals(expected)


@pytest.mark.parametrize("content", [b"", b"PAR1 no", None])
def test_a_damaged_index_is_rebuilt(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "r"
    with RunWriter(path, make_info()) as writer:
        writer.write_part([make_group(0), make_group(1)])
    before = open_run(path).summaries()
    (path / "groups.parquet").unlink()
    if content is not None:
        (path / "groups.parquet").write_bytes(content)
    assert open_run(path).summaries().equals(before)


def test_a_directory_without_header_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    (path / ".lock").write_text("")
    (path / ".run.json.writing").write_text("{")
    RunWriter(path, make_info()).close()
    assert open_run(path).info == make_info()


def test_other_files_are_never_written_into(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InvalidInputError, match=r"not a run and not empty \(it holds thesis.tex"):
        RunWriter(tmp_path, make_info())
    with pytest.raises(InvalidInputError, match="is a file"):
        RunWriter(tmp_path / "thesis.tex", make_info())
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "r"
    child, connection = start(fill_the_disk, path)
    assert "states/3/part-00001.safetensors could not be written" in connection.recv()
    assert "rollouts/part-00001.parquet could not be written" in connection.recv()
    assert connection.recv() == {make_group(0).key}
    child.join()
    assert child.exitcode == 0
    assert len(open_run(path).keys()) == 2 and open_run(path).verify() == ()
    assert not list(path.rglob("*.writing"))


def test_two_writers_of_one_run(tmp_path: Path) -> None:
    path = tmp_path / "r"
    child, connection = start(hold, path)
    pid = connection.recv()
    with pytest.raises(StoreError, match=f"being written by process {pid} on .*stop it"):
        RunWriter(path, make_info())
    assert list_runs(tmp_path)[0].writing
    open_run(path).summaries()  # readers are welcome
    child.kill()
    child.join()
    assert not list_runs(tmp_path)[0].writing
    with (
        RunWriter(path, make_info()),  # the dead writer's lock is void
        pytest.raises(StoreError, match="by this process"),
    ):
        RunWriter(path, make_info())
    RunWriter(path, make_info()).close()


def test_a_killed_writers_child_does_not_hold_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "r"
    writer, connection = start(hold_with_child, path)
    grandchild = connection.recv()
    try:
        writer.kill()
        writer.join()
        RunWriter(path, make_info()).close()
    finally:
        os.kill(grandchild, signal.SIGKILL)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"sampling": SamplingConfig(group_size=9)}, "group_size was 3, now 9"),
        ({"seed": 5}, "seed was 0, now 5"),
        ({"reward": "number"}, "reward was 'math', now 'number'"),
        ({"checkpoint": None}, "checkpoint was 'fff"),
    ],
)
def test_resuming_with_other_settings_is_refused(tmp_path: Path, changes: dict, named: str) -> None:
    RunWriter(tmp_path / "r", make_info()).close()
    with pytest.raises(InvalidInputError, match=named):
        RunWriter(tmp_path / "r", make_info(**changes))
    RunWriter(tmp_path / "r", make_info(created="later", versions={"torch": "3"})).close()
    with pytest.raises(InvalidInputError, match="is a run already"):
        RunWriter(tmp_path / "r", make_info(), resume=False)


def test_a_finished_run_can_grow(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with RunWriter(path, make_info()) as writer:
        writer.write_part([make_group(0)])
        writer.finish()
    with RunWriter(path, make_info()) as writer:
        assert open_run(path).complete
        writer.write_part([make_group(1)])
        assert not open_run(path).complete
        writer.finish()
    assert open_run(path).complete and len(open_run(path).keys()) == 2


def test_an_interrupt_right_after_the_commit_keeps_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, group = tmp_path / "r", make_group(0)
    with RunWriter(path, make_info()) as writer:
        real = os.replace

        def interrupted(source: Path, target: Path) -> None:
            real(source, target)
            if target.suffix == ".parquet":
                raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.write_part([group], [make_states([group])])
        monkeypatch.undo()
        assert writer.done_keys == {group.key}
        writer.write_part([make_group(1)])
    run = open_run(path)
    assert run.keys() == (group.key, make_group(1).key)
    assert run.load_states(group.key, 3) is not None


def test_numbers_are_not_used_twice(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with RunWriter(path, make_info()) as writer:
        for p in range(3):
            writer.write_part([make_group(p)])
    (path / "rewards/v0001").mkdir(parents=True)
    (path / "rewards/v0001/part-00002.parquet").write_bytes(b"")
    (path / "rollouts/part-00002.parquet").unlink()
    with RunWriter(path, make_info()) as writer:
        assert writer.write_part([make_group(2)]) == "part-00003"


def test_only_the_rows_of_one_group_are_read(tmp_path: Path) -> None:
    groups = [make_group(p, size=8, n_tokens=200) for p in range(4)]
    with RunWriter(tmp_path / "r", make_info()) as writer:
        writer.write_part(groups, [make_states(groups)])
    path = tmp_path / "r/states/3/part-00000.safetensors"
    whole = make_states(groups).states
    part = read_states(path, 8, 8)
    assert torch.equal(part.states.float(), whole[1600:3200])
    # A view of the mapped file, not a copy of it: the offset within the file's storage is kept.
    assert part.states.storage_offset() == 1600 * whole.shape[1]
