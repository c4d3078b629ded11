"""Importing from the runs page: the figures of the look, then the job and its run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hara_viz.backend import jobs
from hara_viz.store import open_run
from tests.importers.dumps import OTHER, QUESTION, trl_group, write_lines, write_trl
from tests.ui.apptest import checked, open_app, plain, shown_text, table, table_of

PAGE = "pages/runs.py"


@pytest.fixture
def place(tmp_path: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with dumps; the app may look there and at the tiny checkpoint."""
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("HARA_VIZ_ROOTS", f"{tmp_path}:{tiny_policy_dir.parent}")
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    for step in (1, 2, 3):
        rows = [*trl_group(QUESTION, [1, 0, 0, 1]), *trl_group(OTHER, [0, 0, 0, 0])]
        write_trl(tmp_path / "grpo", step, rows)
    return tmp_path


def choose(at: Any, path: str) -> Any:
    """The look runs in a process of its own and renews the page when it is there."""
    checked(at.text_input(key="import.path").set_value(path).run())
    deadline = time.monotonic() + 60
    while not at.metric and not at.warning and time.monotonic() < deadline:
        time.sleep(0.1)
        at = checked(at.run())
    return at


def figures(at: Any) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_the_look_shows_figures_and_what_is_missing(place: Path) -> None:
    at = open_app(page=PAGE)
    assert "nothing is imported before you see them" in shown_text(at)
    at = choose(at, "grpo/completions")
    assert figures(at) == {
        "Files": "3", "Rows": "24", "Rollouts": "24", "Groups": "6", "Rows skipped": "0",
    }  # fmt: skip
    words = plain(shown_text(at))
    assert "TRL completions" in words and "3 steps, 1 to 3" in words
    assert "Sizes: 6 groups of 4" in words
    assert any("token ids of the completions" in text.value for text in at.text)
    (button,) = [b for b in at.button if b.key == "import.start"]
    assert (button.label, button.disabled) == ("Import 24 rollouts", True)
    assert "tokenizer alone" in words


def test_skipped_rows_are_told_with_their_reasons(place: Path) -> None:
    rows: list[Any] = [{"prompt": "p", "completion": "c", "reward": r, "step": 1} for r in (0, 1)]
    bad = {**rows[0], "reward": "<script>document.title='owned'</script> :red[x]"}
    write_lines(place / "plain" / "dump.jsonl", [*rows, bad, {"prompt": "p"}])
    at = choose(open_app(page=PAGE), "plain/dump.jsonl")
    assert figures(at)["Rows skipped"] == "2"
    shown = table_of(at, "left out")
    assert list(shown["why"]) == ["reward is no number", "not laid out as generic records"]
    assert "row 3" in shown["first"][0]
    assert not any("<script>" in markdown.value for markdown in at.markdown)


@pytest.mark.parametrize(
    ("path", "said"),
    [("plain/none.jsonl", "none.jsonl"), ("/etc/hostname", "--root"), ("../..", "--root")],
)
def test_a_path_that_cannot_be_used_is_said(place: Path, path: str, said: str) -> None:
    at = open_app(page=PAGE)
    checked(at.text_input(key="import.path").set_value(path).run())
    assert any(said in plain(error.value) for error in at.error)
    assert not [b for b in at.button if b.key == "import.start"]


def test_a_dump_of_no_known_layout_is_said(place: Path) -> None:
    write_lines(place / "odd.jsonl", [{"spam": 1}])
    at = choose(open_app(page=PAGE), "odd.jsonl")
    assert any("no dump of a known layout" in plain(warning.value) for warning in at.warning)
    assert not at.metric


def test_import_starts_a_job_and_its_run_appears(place: Path, tiny_policy_dir: Path) -> None:
    write_lines(place / "set.jsonl", [{"id": "q", "question": QUESTION, "answer": "42"}])
    at = open_app(page=PAGE)
    checked(at.selectbox(key="import.found").set_value("grpo/completions").run())
    at.selectbox(key="import.model").set_value(tiny_policy_dir.name)
    checked(at.selectbox(key="import.problems").set_value("set.jsonl").run())
    (button,) = [b for b in at.button if b.key == "import.start"]
    assert not button.disabled
    checked(button.click().run())
    (job,) = jobs.list_jobs(place / "jobs")
    assert job.verb == "import"
    assert json.loads(json.dumps(dict(job.arguments)))["source"] == str(place / "grpo/completions")
    deadline = time.monotonic() + 120
    while not jobs.read_job(place / "jobs", job.id).state.over:
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
    assert jobs.read_job(place / "jobs", job.id).state == "done"
    run = open_run(place / "runs" / "grpo-imported")
    assert (len(run.keys()), run.complete) == (6, True)
    assert run.load_group(run.keys()[0]).rollouts[0].gold == "42"
    at = open_app({"run": "grpo-imported"}, PAGE)
    shown = table(at, "runs.table").set_index("run").loc["grpo-imported"]
    assert shown["rollouts"] == 24
    assert shown["pass@1"] == pytest.approx(100 * 0.25)
