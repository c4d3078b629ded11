from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from hara_viz.store import RunWriter, list_runs, open_run, summarise_run
from hara_viz.types import RolloutGroup
from tests.store.builders import make_group, make_info, make_rollout, make_states


def graded(problem: int, rewards: list[float | None]) -> RolloutGroup:
    return RolloutGroup(
        tuple(make_rollout(problem, s, reward=r, n_tokens=2) for s, r in enumerate(rewards))
    )


def write(path: Path, groups: list[RolloutGroup], **info: object) -> Path:
    with RunWriter(path, make_info(**info)) as writer:
        writer.write_part(groups)
        writer.finish()
    return path


def test_figures_of_a_run(tmp_path: Path) -> None:
    write(tmp_path / "r", [graded(0, [1, 0, None]), graded(1, [1, 1]), graded(2, [None])])
    (run,) = list_runs(tmp_path)
    assert (run.name, run.complete, run.writing, run.error) == ("r", True, False, None)
    assert (run.n_groups, run.n_rollouts, run.n_scored, run.n_success) == (3, 6, 4, 3)
    assert (run.n_mixed, run.n_tokens, run.length_mean) == (1, 12, 2)
    assert run.pass_rate == run.reward_mean == 0.75
    assert run.novelty_mean is None
    assert summarise_run(tmp_path / "r") == run


def test_outcomes_follow_the_threshold(tmp_path: Path) -> None:
    groups = [graded(0, [0.2, 0.5, 0.9])]
    for threshold, successes in ((0.1, 3), (0.5, 2), (0.95, 0)):
        path = write(tmp_path / f"t{threshold}", groups, success_threshold=threshold)
        assert open_run(path).summaries()["n_success"].tolist() == [successes]
        assert summarise_run(path).n_success == successes


def test_an_empty_run_and_a_run_of_unscored_groups(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a", make_info()) as writer:
        writer.finish()
    write(tmp_path / "b", [graded(0, [None, None])])
    empty, unscored = list_runs(tmp_path)
    assert (empty.n_groups, empty.pass_rate, empty.complete) == (0, None, True)
    assert (unscored.n_rollouts, unscored.pass_rate, unscored.reward_mean) == (2, None, None)
    assert open_run(tmp_path / "a").summaries().empty
    assert open_run(tmp_path / "b").summaries()["pass_rate"].isna().tolist() == [True]


def test_summaries_are_a_table_of_groups(tmp_path: Path) -> None:
    groups = [make_group(0, global_step=None), make_group(1, global_step=5)]
    write(tmp_path / "r", groups)
    frame = open_run(tmp_path / "r").summaries()
    assert frame["global_step"].tolist() == [pd.NA, 5]
    assert frame["prompt_head"].tolist() == ["What is 0 + 1?", "What is 1 + 1?"]
    assert frame["lengths"].tolist() == [[3, 4, 5]] * 2
    assert frame["part"].tolist() == ["part-00000"] * 2
    assert frame["first_row"].tolist() == [0, 3]
    assert frame["pass_rate"].tolist() == pytest.approx([1 / 3] * 2)


def test_runs_in_folders_and_links(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    write(root / "one", [make_group(0)])
    write(root / "series/two", [make_group(0)])
    write(tmp_path / "secret", [make_group(0)])
    (root / "link").symlink_to(tmp_path / "secret")
    (root / ".hidden").mkdir()
    (root / "notes.txt").write_text("x")
    assert [run.name for run in list_runs(root)] == ["one", "series/two"]
    assert [run.name for run in list_runs(root / "one")] == ["one"]
    assert list_runs(tmp_path / "nowhere") == ()


def test_a_folder_that_may_not_be_read_hides_no_other() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is closed to others
        root = Path(name)
        root.chmod(0o755)
        write(root / "one", [make_group(0)])
        (root / "lost+found").mkdir(mode=0o700)
        (root / "lost+found").chmod(0o000)
        with without_privileges():
            assert [run.name for run in list_runs(root)] == ["one"]


@contextmanager
def without_privileges() -> Iterator[None]:
    """No permission is checked for root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_listing_needs_only_headers_and_summaries(tmp_path: Path) -> None:
    path = write(tmp_path / "r", [make_group(0)])
    before = list_runs(tmp_path)
    (path / "rollouts/part-00000.parquet").write_bytes(b"never read")
    assert list_runs(tmp_path) == before


def test_twenty_checkpoints_are_listed_within_a_second(tmp_path: Path) -> None:
    first = write(tmp_path / "step-00", [make_group(p, size=16) for p in range(200)])
    for step in range(1, 20):
        shutil.copytree(first, tmp_path / f"step-{step:02d}")
    list_runs(tmp_path)
    started = time.process_time()
    runs = list_runs(tmp_path)
    spent = time.process_time() - started
    assert sum(run.n_rollouts for run in runs) == 20 * 200 * 16
    assert spent < 1


def test_open_run_is_loaded_lazily() -> None:
    code = "import sys, hara_viz; print('torch' in sys.modules, hara_viz.open_run.__module__)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "hara_viz.store.reader"]


@pytest.mark.slow
def test_datasets_opens_a_run(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    path = tmp_path / "r"
    with RunWriter(path, make_info()) as writer:
        for p in range(2):
            writer.write_part([make_group(p)], [make_states([make_group(p)])])
        writer.finish()
    for name in (None, "rollouts"):
        loaded = datasets.load_dataset(str(path), name, cache_dir=str(tmp_path / "cache"))
        rows = loaded["train"]
        assert len(rows) == 6
        assert rows[4]["completion_ids"] == [0, 1, 2, 3] and rows[4]["entropy"] is None


def test_pandas_opens_the_rollouts(tmp_path: Path) -> None:
    path = write(tmp_path / "r", [make_group(0), make_group(1)])
    frame = pd.read_parquet(path / "rollouts")
    assert len(frame) == 6 and frame["reward"].tolist() == [0, 1, 0] * 2
