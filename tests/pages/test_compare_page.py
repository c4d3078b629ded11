"""The compare page: its numbers are those of the runs, its empty views say why."""

from __future__ import annotations

import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.figures import group_table, run_figures
from hara_viz.backend.compare import Place
from hara_viz.backend.compare_credit import read_credit
from hara_viz.backend.credit import credit_group
from hara_viz.components.token_heatmap import decode
from hara_viz.components.transport_plan import decode as decode_plan
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run
from hara_viz.ui import compare_reads
from hara_viz.ui.compare_choice import compared, pair
from tests.compared_runs import write_compared
from tests.small_runs import APPLES, HOSTILE, HOSTILE_TEXTS, PENS
from tests.ui.apptest import (
    checked,
    click_row,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    table_of,
)

PAGE = "pages/compare.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compared(tmp_path_factory.mktemp("compared"))


@pytest.fixture(autouse=True)
def app_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(folder))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(folder))
    compare_reads._shelf.clear()  # what one test asked for must not answer the next


def settled(at, seconds: float = 120.0):
    """The page once the side process has answered."""
    deadline = time.monotonic() + seconds
    while any("…" in str(said.value) for said in at.info):
        assert time.monotonic() < deadline, [said.value for said in at.info]
        time.sleep(0.2)
        checked(at.run())
    return at


def view(name: str, **query: str):
    """The page at one of its views."""
    at = open_app({"run": "early", **query}, page=PAGE)
    settled(at)
    at.segmented_control(key="compare.view").set_value(name)
    return settled(checked(at.run()))


def test_the_curves_are_the_runs_figures(folder: Path) -> None:
    at = settled(open_app({"run": "early"}, page=PAGE))
    shown = table(at, "compare.checkpoints")
    assert list(shown["run"]) == ["early", "late", "stranger"]
    assert list(shown["step"][:2]) == [0, 10]
    for row in shown.itertuples():
        figures = run_figures(group_table(open_run(folder / row.run).summaries()))
        assert str(row._5).startswith(f"{100 * figures.pass_at_1:.1f} %")
    assert "Entropy (nats)" in shown, "read in the side process"
    assert "pass@3" in shown and "Distinct answers among 3" in shown
    at.slider(key="compare.k").set_value(2)
    assert "pass@2" in table(checked(at.run()), "compare.checkpoints")


def test_nothing_is_downloaded_from_a_page_that_is_about_to_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("report", "checkpoints.csv", "checkpoints.parquet")
    on_its_way: Future[object] = Future()
    monkeypatch.setattr(compare_reads, "begun", lambda *_: on_its_way)
    monkeypatch.setattr(compare_reads, "renew_when_done", lambda *_, **__: None)
    at = open_app({"run": "early"}, page=PAGE)
    assert all(at.get("download_button")[i].proto.disabled for i in range(len(names)))
    monkeypatch.undo()
    monkeypatch.setenv("HARA_VIZ_RUNS", str(folder))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(folder))
    settled(checked(at.run()))
    assert [b.proto.disabled for b in at.get("download_button")] == [False] * len(names)


def test_novelty_comes_when_it_is_asked_for(folder: Path) -> None:
    at = settled(open_app({"run": "early"}, page=PAGE))
    assert "Novelty" not in table(at, "compare.checkpoints")
    at.button(key="compare.novelty").click()
    settled(checked(at.run()))
    shown = table(at, "compare.checkpoints").set_index("run")["Novelty"]
    expected = read_credit(open_run(folder / "early")).groups["novelty"].mean()
    assert shown["early"].startswith(f"{expected:.3f}")


def test_problems_are_paired_tested_and_lead_to_their_group(folder: Path) -> None:
    at = view("Problems")
    shown = table(at, "compare.problems")
    assert len(shown) == 3
    first = shown.iloc[0]
    assert (first["A"], first["B"], first["verdict"]) == ("3/6", "5/6", "solved by both")
    assert first["change"] == pytest.approx(1 / 3)
    assert "**0 solved, 0 lost** of 3 problems" in shown_text(at)
    assert "exact McNemar p = 1" in shown_text(at)
    at.selectbox(key="compare.rule").select("all")
    settled(checked(at.run()))
    assert table(at, "compare.problems").iloc[0]["verdict"] == "solved by neither"
    click_row(at, "compare.problems", 0)
    chosen = selection(at)
    assert (chosen.run, chosen.problem, chosen.global_step) == ("late", PENS.problem_id, 10)
    assert chosen.runs == ("late", "early", "late", "stranger"), "A and B stay what they are"
    at.segmented_control(key="compare.filter").set_value("Worse")
    settled(checked(at.run()))
    assert "No problem is left" in shown_text(at)


def test_a_choice_of_checkpoints_rides_in_the_link() -> None:
    at = settled(open_app({"run": "early"}, page=PAGE))
    at.selectbox(key="compare.A").select(Place("stranger", None))
    settled(checked(at.run()))
    assert at.query_params["run"] == ["early", "stranger", "late", "early"]
    again = open_app(page=PAGE)
    again.query_params["run"] = ["early", "stranger", "late"]
    settled(checked(again.run()))
    assert again.selectbox(key="compare.A").value == Place("stranger", None)
    assert again.selectbox(key="compare.B").value == Place("late", 10)
    assert len(table(again, "compare.checkpoints")) == 2


def test_one_problem_stands_side_by_side_in_one_colour_domain(folder: Path) -> None:
    at = view("One problem", problem=PENS.problem_id)
    frames = [decode(component(at, f"compare.heat.{letter}").bytes) for letter in "AB"]
    assert [len(frame.rows) for frame in frames] == [6, 6]
    assert frames[0].domains == frames[1].domains
    values = []
    for name in ("early", "late"):
        run = open_run(folder / name)
        (key,) = (k for k in list(run.keys()) if k.problem_id == PENS.problem_id)
        found = credit_group(run, key, CreditConfig())
        # A rollout alone in its outcome has no novelty, and its zeros no say in the colours.
        known = [row for row in range(len(found.group)) if found.mean_novelty(row) is not None]
        assert len(known) == {"early": 6, "late": 5}[name]
        values += [found.of_row(found.credit.novelty, row).numpy() for row in known]
    expected = np.quantile(np.concatenate(values), [0.02, 0.98])
    np.testing.assert_allclose(frames[0].domains["token"]["novelty"], expected, rtol=1e-3)
    plan = decode_plan(component(at, "compare.plan").bytes)
    assert list(plan.shares.argmax(axis=1)) == list(range(len(plan.own)))
    assert [a.text for a in plan.atoms[:3]] == ["There", "are", "3"]
    assert "leaves a residual of" in plain(shown_text(at))


def test_what_became_usual_leads_to_its_token() -> None:
    at = view("One problem", problem=PENS.problem_id)
    at.session_state["compare.same"] = "What became usual"
    settled(checked(at.run()))
    shown = table(at, "compare.usage.Became usual")
    assert set(shown["rollout"]) <= {2, 3, 4}
    assert shown["change"].iloc[0] > 0
    click_row(at, "compare.usage.Became usual", 0)
    chosen = selection(at)
    assert chosen.run == "late" and chosen.sample == int(shown["rollout"].iloc[0])
    assert chosen.token == int(str(shown["tokens"].iloc[0]).split("–")[0])


def test_a_fixed_text_says_who_has_not_read_it_and_how_to_let_them() -> None:
    at = view("One problem", problem=PENS.problem_id)
    at.session_state["compare.same"] = "A fixed text"
    settled(checked(at.run()))
    shown = table_of(at, "checkpoint")
    assert list(shown["role"]) == ["wrote it", "has not read it", "has not read it"]
    assert shown["to fill in"][1] == "hara-viz states early --model models/late"
    assert shown["mean log p"][0] == pytest.approx(-0.3, abs=0.1)
    labels = [plain(b.label) for b in at.button]
    assert "Let late · step 10 read A" in labels


def test_drift_is_asked_for_and_has_a_null(folder: Path) -> None:
    at = view("Drift")
    assert not [d for d in at.dataframe if "excess" in d.value]
    at.button(key="compare.drift.go").click()
    settled(checked(at.run()))
    shown = table_of(at, "checkpoint")
    assert list(shown["against"]) == ["early · step 0 (one before)"]
    row = shown.iloc[0]
    assert row["excess"] == pytest.approx(row["distance"] - row["null"], abs=1e-9)
    assert row["problems"] == 2


def test_methods_are_weighed_against_each_other(folder: Path) -> None:
    at = view("Credit methods", problem=PENS.problem_id)
    shown = table_of(at, "method").set_index("method")
    run = open_run(folder / "late")
    weights = credit_group(run, run.keys()[0]).credit.weights.numpy()
    expected = 50 * np.abs(weights - 1).mean()
    assert shown.loc["HarA", "weight moved, %"] == pytest.approx(expected, rel=1e-4)
    assert shown.loc["Uniform", "weight moved, %"] == 0
    assert shown.loc["HarA", "rank correlation with HarA"] == pytest.approx(1)
    assert len(table(at, "compare.methods.Win weight"))
    at.segmented_control(key="compare.methods.scope").set_value("all problems")
    settled(checked(at.run()))
    at.button(key="compare.methods.go").click()
    settled(checked(at.run()))
    assert set(table_of(at, "method")["problems"][1:]) == {3}


def test_patterns_have_counts_intervals_and_examples(folder: Path) -> None:
    at = view("Patterns")
    at.button(key="compare.patterns.go").click()
    settled(checked(at.run()))
    at.segmented_control(key="compare.patterns.side").set_value("A")
    at.segmented_control(key="compare.patterns.kind").set_value("position")
    at.segmented_control(key="compare.patterns.outcome").set_value("wrong")
    at.toggle(key="compare.patterns.sure").set_value(False)
    settled(checked(at.run()))
    shown = table(at, "compare.patterns")
    reading = read_credit(open_run(folder / "early"))
    own = reading.patterns[(reading.patterns["kind"] == "position") & ~reading.patterns["success"]]
    assert list(shown["element"]) == list(own["text"])
    np.testing.assert_allclose(shown["z"], own["z"], rtol=1e-4)
    assert list(shown["problems"]) == list(own["n_problems"])
    click_row(at, "compare.patterns", 0)
    best = own.iloc[0]
    assert (selection(at).problem, selection(at).sample, selection(at).token) == (
        best["problem_id"], best["sample"], best["token"]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["Problems", "One problem", "Credit methods"])
def test_hostile_text_is_never_markdown(name: str) -> None:
    at = view(name, problem=HOSTILE.problem_id)
    markup = [*at.markdown, *at.caption, *at.info, *at.warning]
    rendered = "\n".join(str(element.value) for element in markup)
    for text, _ in HOSTILE_TEXTS:
        for word in text.split():
            assert word not in rendered or word.isalnum()
    assert "onerror" not in rendered


def test_checkpoints_that_share_nothing_say_so(monkeypatch, tmp_path: Path) -> None:
    from hara_viz.store import RunWriter
    from hara_viz.types import RunInfo
    from tests.small_runs import APPLES_TEXTS, PENS_TEXTS, group_of

    for name, problem, texts in (("a", PENS, PENS_TEXTS), ("b", APPLES, APPLES_TEXTS)):
        with RunWriter(tmp_path / name, RunInfo(problem_set="set.jsonl")) as writer:
            writer.write_part([group_of(problem, texts)], [])
            writer.finish()
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(tmp_path))
    at = settled(open_app({"run": "a"}, page=PAGE))
    assert "share 0 problems" in shown_text(at)
    at.segmented_control(key="compare.view").set_value("One problem")
    assert "no problem in common" in shown_text(settled(checked(at.run())))


def test_an_empty_folder_has_nothing_to_compare(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(tmp_path))
    assert "No run holds a finished group yet" in shown_text(open_app(page=PAGE))


def test_which_runs_are_compared_and_as_what() -> None:
    from types import SimpleNamespace as Record

    def summary(name: str, problems: str | None, series: str | None):
        of = None if series is None else Record(id=series)
        return Record(name=name, info=Record(problem_set=problems, series=of))

    known = [summary("a", "p", "x"), summary("b", "p", "y"), summary("c", "q", "x"),
             summary("d", "p", "y"), summary("e", None, None)]  # fmt: skip
    known[3].info.series = known[1].info.series
    assert compared(("b",), known) == ("b", "d", "a")  # pyright: ignore[reportArgumentType]
    assert compared(("e",), known) == ("e",)  # pyright: ignore[reportArgumentType]
    assert compared(("a", "c", "a", "c"), known) == ("c", "a")  # pyright: ignore[reportArgumentType]

    def point(run: str, step: int, series: str):
        return Record(place=Record(run=run, step=step), series=series)

    points = [point("a", 0, "x"), point("a", 5, "x"), point("b", 0, "y")]
    assert pair((), points, {}) == (points[0], points[1])  # pyright: ignore[reportArgumentType]
    assert pair(("b", "a"), points, {}) == (points[2], points[0])  # pyright: ignore[reportArgumentType]
    steps: dict[str, int | None] = {"A": 0, "B": 5}
    assert pair(("a", "a"), points, steps) == (points[0], points[1])  # pyright: ignore[reportArgumentType]
