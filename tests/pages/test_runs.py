"""The runs page: the table's figures, jobs as they run, the form before anything is sampled."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from hara_viz.backend import jobs
from hara_viz.backend.jobs import Verb
from hara_viz.errors import UnsafeError
from hara_viz.store import open_run
from hara_viz.ui.roots import Roots
from hara_viz.ui.run_work import read_arguments
from tests.small_runs import PENS
from tests.ui.apptest import checked, click_row, open_app, plain, selection, shown_text, table

PAGE = "pages/runs.py"
VERBS = {"sample": Verb("tests.ui.slow_verb:count_to", uses_device=True)}


@pytest.fixture
def jobs_dir(app_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    return tmp_path / "jobs"


@pytest.mark.usefixtures("jobs_dir")
def test_the_table_shows_the_figures_and_a_click_opens_a_run() -> None:
    at = open_app({"run": "no-states"}, PAGE)
    shown = table(at, "runs.table").set_index("run")
    assert list(shown.index) == ["no-states", "small"]
    small = shown.loc["small"]
    assert small["pass@1"] == pytest.approx(100 * (3 / 6 + 2 / 4 + 0) / 3)
    assert small["pass@k"] == pytest.approx(100 * ((1 - 1 / 20) + 1 + 0) / 3)
    assert (small["k"], small["rollouts"], small["degenerate"]) == (3, 13, "1/3")
    assert shown["step"].dtype == "Int64"
    assert (small["truncated"], small["unscored"], small["state"]) == (0, 0, "complete")
    broken = [plain(warning.value) for warning in at.warning if "broken" in warning.value]
    assert broken and "JSON" in broken[0]
    click_row(at, "runs.table", 1)
    assert selection(at).run == "small"


@pytest.mark.usefixtures("jobs_dir")
def test_an_empty_folder_says_how_to_fill_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    at = open_app(page=PAGE)
    words = shown_text(at)
    assert "No run here yet" in words and str(tmp_path) in words
    assert "No jobs yet" in words


def test_a_job_is_watched_stopped_and_resumed(jobs_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "steps.txt"
    arguments = {"total": 25, "pause": 0.3, "out": str(out), "model": "m/<b>tiny<b>"}
    job_id = jobs.start("sample", {**arguments, "device": "cpu"}, jobs_dir, verbs=VERBS)
    wait_for(lambda: jobs.read_job(jobs_dir, job_id).last is not None)
    at = open_app({"run": "small"}, PAGE)
    assert "<b>tiny<b> · steps.txt" in [text.value for text in at.text]
    assert "running" in shown_text(at)
    checked(at.button(key=f"stop.{job_id}").click().run())
    stop_buttons = [button.label for button in at.button if button.key == f"stop.{job_id}"]
    assert stop_buttons in (["Stopping …"], [])  # none if the job has ended meanwhile
    wait_for(lambda: jobs.read_job(jobs_dir, job_id).state.over)
    assert jobs.read_job(jobs_dir, job_id).state == "stopped"
    n_done = len(out.read_text().splitlines())
    assert 0 < n_done < 25
    # Resuming goes on; the page asks for it by the verb's name, here we name the test's verb.
    jobs.resume(jobs_dir, job_id, verbs=VERBS)
    wait_for(lambda: jobs.read_job(jobs_dir, job_id).state.over)
    at = checked(at.run())
    assert "done" in shown_text(at)
    assert out.read_text().split() == [str(step) for step in range(25)]


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def fill_form(at, problems: str, checkpoint: str = "org/model"):
    checked(at.multiselect(key="start.checkpoints").set_value([checkpoint]).run())
    at.session_state["start.problems"] = problems  # chosen, or typed
    return checked(at.run())


@pytest.fixture
def problem_file(jobs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "words.jsonl"
    rows = [{"question": PENS.messages[0].content, "answer": "#### 12"}, {"question": "What?"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(tmp_path))
    return path


def test_the_first_problem_and_gold_are_shown_before_start(problem_file: Path) -> None:
    at = open_app({"run": "small"}, PAGE)
    start = next(button for button in at.button if button.label == "Start")
    assert start.disabled
    fill_form(at, problem_file.name)
    texts = [text.value for text in at.text]
    assert f"user: {PENS.messages[0].content}" in texts
    assert "12" in texts, "the gold answer as the verifier reads it"
    assert not next(button for button in at.button if button.label == "Start").disabled


def leave_and_come_back(at):
    for page in ("pages/learn.py", PAGE):
        at.switch_page(page)
        checked(at.run())
    return at


def start_button(at):
    return next(button for button in at.button if button.key == "start.start")


def test_a_fitting_reward_is_chosen_and_a_choice_stays(problem_file: Path) -> None:
    (problem_file.parent / "letters.jsonl").write_text('{"question": "Which?", "answer": "B"}\n')
    at = open_app({"run": "small"}, PAGE)
    assert at.selectbox(key="start.reward").value == "math"
    fill_form(at, problem_file.name)
    assert at.selectbox(key="start.reward").value == "number"
    assert "Reward: number fits: every gold answer is one number." in shown_text(at)
    checked(at.selectbox(key="start.reward").select("exact").run())
    assert at.selectbox(key="start.reward").value == "exact"
    assert "(exact is chosen)" in shown_text(at)
    fill_form(at, "letters.jsonl")
    assert at.selectbox(key="start.reward").value == "choice"
    leave_and_come_back(at)
    assert at.selectbox(key="start.reward").value == "math", "the form is forgotten"
    fill_form(at, "letters.jsonl")
    assert at.selectbox(key="start.reward").value == "choice"


def test_a_typed_name_shows_where_it_leads(problem_file: Path) -> None:
    at = fill_form(open_app({"run": "small"}, PAGE), problem_file.name, "org/model")
    words = plain(shown_text(at))
    assert str(problem_file) in words
    assert "org/model: no folder here" in words
    assert "1 problem × 8 = 8 rollouts of at most 512 tokens" in words.replace(
        "problems", "problem"
    )
    at.number_input(key="start.limit").set_value(1)
    checked(at.run())
    assert not start_button(at).disabled


def test_a_file_of_unknown_columns_is_read_once_they_are_named(problem_file: Path) -> None:
    path = problem_file.parent / "odd.jsonl"
    path.write_text('{"riddle": "What is 2 + 2?", "key": "4"}\n')
    at = fill_form(open_app({"run": "small"}, PAGE), path.name)
    assert start_button(at).disabled and "riddle" in plain(at.error[0].value)
    checked(at.text_input(key="start.columns").set_value("question=riddle,gold=key").run())
    assert "user: What is 2 + 2?" in [text.value for text in at.text]
    assert not start_button(at).disabled
    checked(at.text_input(key="start.columns").set_value("riddle").run())
    assert start_button(at).disabled and "question=COLUMN" in plain(at.error[0].value)


def test_a_gold_answer_that_the_reward_cannot_read_stops_the_start(problem_file: Path) -> None:
    at = fill_form(open_app({"run": "small"}, PAGE), problem_file.name)
    checked(at.selectbox(key="start.reward").select("choice").run())
    assert any("multiple-choice" in plain(error.value) for error in at.error)
    assert start_button(at).disabled


def test_start_answers_where_the_click_was(
    problem_file: Path, tiny_policy_dir: Path, jobs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(problem_file.parent / "runs"))
    monkeypatch.setenv("HARA_VIZ_ROOTS", f"{problem_file.parent}:{tiny_policy_dir.parent}")
    at = fill_form(open_app(page=PAGE), problem_file.name, tiny_policy_dir.name)
    at.number_input(key="start.limit").set_value(1)
    checked(at.run())
    checked(start_button(at).click().run())
    (job,) = jobs.list_jobs(jobs_dir)
    assert (job.verb, job.arguments["limit"], job.arguments["reward"]) == ("sample", 1, "number")
    own = {str(button.key) for button in at.button if str(button.key).startswith("start.")}
    assert own & {f"start.stop.{job.id}", f"start.open.{job.id}"}, "the job's card is below"
    wait_for(lambda: jobs.read_job(jobs_dir, job.id).state.over, 120)
    assert jobs.read_job(jobs_dir, job.id).error is None


def test_a_start_that_fails_says_so_where_the_click_was(
    problem_file: Path, tiny_policy_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_ROOTS", f"{problem_file.parent}:{tiny_policy_dir.parent}")
    (tmp_path / "a-file").write_text("no folder")
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "a-file" / "jobs"))
    at = fill_form(open_app({"run": "small"}, PAGE), problem_file.name, tiny_policy_dir.name)
    checked(start_button(at).click().run())
    assert any("could not be made" in plain(error.value) for error in at.error)
    assert not [b for b in at.button if str(b.key).startswith(("start.stop", "start.open"))]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("half.jsonl", '{"question": "a", "ans', "half.jsonl"),
        ("empty.jsonl", "", "empty.jsonl"),
        ("odd.jsonl", '{"colour": "red"}', "colour"),
    ],
)
def test_a_problem_set_that_cannot_be_read_is_named(
    problem_file: Path, name: str, content: str, said: str
) -> None:
    (problem_file.parent / name).write_text(content)
    at = fill_form(open_app({"run": "small"}, PAGE), name)
    assert said in plain(at.error[0].value)
    assert next(button for button in at.button if button.label == "Start").disabled


def test_the_rendered_prompt_is_shown_on_demand(
    problem_file: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_ROOTS", f"{problem_file.parent}:{tiny_policy_dir.parent}")
    at = fill_form(open_app({"run": "small"}, PAGE), problem_file.name, tiny_policy_dir.name)
    assert not at.code
    checked(at.toggle(key="start.prompt").set_value(True).run())
    (prompt,) = [code.value for code in at.code if PENS.messages[0].content in code.value]
    assert prompt != PENS.messages[0].content, "the chat template has put something around it"
    assert "by its chat template" in shown_text(at)


@pytest.fixture
def own_runs(jobs_dir: Path, app_runs: Path, tmp_path: Path, monkeypatch) -> Path:
    """Runs that a test may write into."""
    copy = Path(shutil.copytree(app_runs, tmp_path / "runs"))
    monkeypatch.setenv("HARA_VIZ_RUNS", str(copy))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(copy))
    return copy


def test_a_run_is_judged_again_as_a_job(own_runs: Path, jobs_dir: Path) -> None:
    at = open_app({"run": "small"}, PAGE)
    assert open_run(own_runs / "small").rewards_version is None
    at.selectbox(key="work.reward").set_value("number").run()
    checked(at.button(key="work.score").click().run())
    (job,) = jobs.list_jobs(jobs_dir)
    assert (job.verb, job.arguments["reward"]) == ("score", "number")
    assert {f"judge.stop.{job.id}", f"judge.open.{job.id}"} & {str(b.key) for b in at.button}
    wait_for(lambda: jobs.read_job(jobs_dir, job.id).state.over)
    assert jobs.read_job(jobs_dir, job.id).state == "done"
    assert open_run(own_runs / "small").rewards_version is not None


def test_reading_offers_the_checkpoint_that_sampled_the_run(
    own_runs: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_runs)  # the run names it by a path from where it was sampled
    shutil.copytree(tiny_policy_dir, own_runs / "models" / "tiny")
    at = open_app({"run": "small"}, PAGE)
    assert at.selectbox(key="work.model").value == "models/tiny"
    assert not at.button(key="work.read").disabled
    checked(at.selectbox(key="work.model").set_value(None).run())
    assert at.selectbox(key="work.model").value is None, "a choice stays"
    leave_and_come_back(at)
    assert at.selectbox(key="work.model").value == "models/tiny", "offered anew"


def test_reading_takes_only_checkpoints_that_may_be_used(
    own_runs: Path, tiny_policy_dir: Path
) -> None:
    shutil.copytree(tiny_policy_dir, own_runs / "model")
    at = open_app({"run": "small"}, PAGE)
    assert at.button(key="work.read").disabled
    checked(at.selectbox(key="work.model").set_value("model").run())
    assert not at.button(key="work.read").disabled
    checked(at.text_input(key="work.layers").set_value("last").run())
    assert at.button(key="work.read").disabled
    assert any("whole numbers" in plain(warning.value) for warning in at.warning)
    run = open_run(own_runs / "small")
    places = Roots(own_runs, (own_runs, tiny_policy_dir))
    fields = {"layers": "1, -1", "states": "mixed", "device": "cpu"}
    arguments = read_arguments(run, str(tiny_policy_dir), fields, places)
    assert arguments == {
        "run": str(run.path), "model": str(tiny_policy_dir.resolve()), "layers": (1, -1),
        "states": "mixed", "device": "cpu", "roots": [str(own_runs), str(tiny_policy_dir)],
    }  # fmt: skip
    with pytest.raises(UnsafeError, match="--root"):
        read_arguments(run, str(tiny_policy_dir), fields, Roots(own_runs, (own_runs,)))
