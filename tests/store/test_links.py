"""A run from others whose files are links: what they point at is never changed."""

from pathlib import Path

import pytest

from hara_viz.errors import StoreError
from hara_viz.store.annotations import Annotation, Kind, annotate
from hara_viz.store.files import write_text
from hara_viz.store.lock import FileLock, is_locked
from hara_viz.types import GroupKey

NOTE = Annotation(kind=Kind.NOTE, key=GroupKey(None, "p", 0), text="mine")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "precious.txt"
    path.write_text("precious")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    return path


def test_a_lock_that_is_a_link_leaves_its_target(run: Path, outside: Path) -> None:
    (run / ".lock").symlink_to(outside)
    with pytest.raises(StoreError, match=r"\.lock is a symbolic link.*remove the link"):
        FileLock(run / ".lock", "the run")
    assert outside.read_text() == "precious"
    assert not is_locked(run / ".lock")


@pytest.mark.parametrize("name", ["annotations.jsonl", ".annotations.lock"])
def test_an_annotation_is_not_written_through_a_link(run: Path, outside: Path, name: str) -> None:
    (run / name).symlink_to(outside)
    with pytest.raises(StoreError, match="is a symbolic link"):
        annotate(run, NOTE)
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("name", ["run.json", ".run.json.writing"])
def test_a_file_takes_the_place_of_a_link(run: Path, outside: Path, name: str) -> None:
    (run / name).symlink_to(outside)
    write_text(run / "run.json", "new")
    assert outside.read_text() == "precious"
    assert (run / "run.json").read_text() == "new"
    assert not (run / "run.json").is_symlink()


def test_a_dangling_link_creates_nothing(run: Path, tmp_path: Path) -> None:
    (run / ".lock").symlink_to(tmp_path / "absent")
    with pytest.raises(StoreError, match="is a symbolic link"):
        FileLock(run / ".lock", "the run")
    assert not (tmp_path / "absent").exists()
