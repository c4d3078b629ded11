from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.errors import MissingInputError, UnsafeError
from hara_viz.ui.roots import Roots, read_roots


@pytest.fixture
def tree(tmp_path: Path) -> Roots:
    for folder in ("open/models/a", "open/models/.hidden", "closed/secret"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "open/models/way-out").symlink_to(tmp_path / "closed")
    return Roots(tmp_path / "open", (tmp_path / "open",))


def test_folders_are_listed_without_hidden_ones_and_ways_out(tree: Roots) -> None:
    assert [f.name for f in tree.folders(tree.runs / "models")] == ["a"]


@pytest.mark.parametrize("path", ["../closed", "models/way-out/secret", "/"])
def test_no_path_leads_out(tree: Roots, path: str) -> None:
    with pytest.raises(UnsafeError, match="--root"):
        tree.inside(tree.runs / path)


def test_a_missing_path_is_named(tree: Roots) -> None:
    with pytest.raises(MissingInputError, match="nowhere"):
        tree.inside(tree.runs / "nowhere")


def test_the_command_line_goes_before_the_environment(tmp_path: Path) -> None:
    environment = {"HARA_VIZ_RUNS": "/elsewhere", "HARA_VIZ_ROOTS": "/x:/y"}
    given = read_roots([str(tmp_path), "--root", "/data"], environment)
    assert given.runs == tmp_path
    assert given.allowed == (tmp_path, Path("/data"))
    assert read_roots([], environment).allowed == (Path("/elsewhere"), Path("/x"), Path("/y"))


def test_the_demo_stands_beside_the_runs_unless_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = read_roots([], {})
    assert found.runs == tmp_path / "runs" and found.demo is not None
    (run, *_) = sorted(found.demo.iterdir())
    assert found.run_path(f"demo/{run.name}") == run
    assert found.run_name(run) == f"demo/{run.name}"
    assert found.run_name(tmp_path / "runs" / "a" / "b") == "a/b"
    assert found.run_name(tmp_path) is None
    with pytest.raises(UnsafeError):
        found.run_path("demo/../../../../..")
    assert read_roots([str(tmp_path)], {}).demo is None
