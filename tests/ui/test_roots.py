from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.errors import MissingInputError, UnsafeError
from hara_viz.ui import roots
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


def test_what_changes_while_the_app_runs_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "runs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    assert read_roots([], {}).runs == tmp_path / "a" / "runs"
    monkeypatch.chdir(tmp_path / "b")
    assert read_roots([], {}).runs == tmp_path / "b" / "runs"
    assert read_roots([], {"HARA_VIZ_RUNS": "/x"}).runs == Path("/x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_roots(["../link"], {}).runs == tmp_path / "a"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    assert read_roots(["../link"], {}).runs == tmp_path / "b", "no longer where it once led"
    assert read_roots(["../link", "--root", "/y"], {}).allowed == (tmp_path / "b", Path("/y"))


def test_a_lookup_does_not_parse_the_command_line_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read_roots(["/never/seen/before"], {})

    def no_more(*_: object, **__: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(roots.argparse, "ArgumentParser", no_more)
    assert read_roots(["/never/seen/before"], {}).runs == Path("/never/seen/before")
    with pytest.raises(AssertionError, match="parsed again"):
        read_roots(["/other"], {})
