"""Where exports go: whole or not at all, and nothing of anybody's is overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError
from hara_viz.export.place import new_file, new_folder


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    out = tmp_path / "a.txt"
    with new_file(out, force=False) as path:
        path.write_text("one")
    with pytest.raises(InvalidInputError, match="--force"), new_file(out, force=False) as path:
        path.write_text("two")
    assert out.read_text() == "one"
    with new_file(out, force=True) as path:
        path.write_text("two")
    assert out.read_text() == "two" and list(tmp_path.iterdir()) == [out]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "a.txt"
    out.write_text("one")
    with pytest.raises(RuntimeError), new_file(out, force=True) as path:
        path.write_text("tw")
        raise RuntimeError
    folder = tmp_path / "d"
    with new_folder(folder, force=False) as path:
        (path / "a").write_text("1")
    with pytest.raises(RuntimeError), new_folder(folder, force=True) as path:
        (path / "b").write_text("2")
        raise RuntimeError
    assert out.read_text() == "one" and (folder / "a").read_text() == "1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "d"]


def test_only_a_folder_of_ours_is_replaced(tmp_path: Path) -> None:
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "main.tex").write_text("dear to me")
    with (
        pytest.raises(InvalidInputError, match="holds other files"),
        new_folder(thesis, force=True),
    ):
        pass
    ours = tmp_path / "ours"
    with new_folder(ours, force=False) as path:
        (path / "a").write_text("1")
    with pytest.raises(InvalidInputError, match="--force"), new_folder(ours, force=False):
        pass
    with new_folder(ours, force=True) as path:
        (path / "b").write_text("2")
    assert (thesis / "main.tex").read_text() == "dear to me"
    assert (ours / "b").read_text() == "2" and not (ours / "a").exists()


@pytest.mark.parametrize("place", [new_file, new_folder])
def test_places_that_are_none(tmp_path: Path, place) -> None:
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "no" / "x", tmp_path if place is new_file else tmp_path / "file"):
        with pytest.raises(InvalidInputError, match="cannot be written"), place(out, force=True):
            pass


def test_nothing_is_written_into_a_run(tmp_path: Path) -> None:
    part = tmp_path / "run" / "rollouts" / "part-00000.parquet"
    part.parent.mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    part.write_text("rollouts")
    with pytest.raises(InvalidInputError, match="inside a run"), new_file(part, force=True):
        raise AssertionError("never begun")
    assert part.read_text() == "rollouts"


def test_a_folder_that_cannot_be_swapped_in_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "dataset"
    with new_folder(out, force=False) as folder:
        (folder / "rows").write_text("old")
    rename, seen = os.rename, list[str]()

    def full(source: str | Path, target: str | Path) -> None:
        seen.append(str(target))
        if len(seen) == 2:
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr("hara_viz.export.place.os.rename", full)
    with pytest.raises(OSError, match="No space"), new_folder(out, force=True) as folder:
        (folder / "rows").write_text("new")
    assert (out / "rows").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["dataset"]
