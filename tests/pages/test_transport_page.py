"""The transport page: its numbers are those of `hara_viz.credit`, its empty views say why."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.backend.exact import ExactCheck, ExactRow
from hara_viz.components import barycenter_text, rollout_pair
from hara_viz.components.transport_plan import decode
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.ui.exact_panel import verdict
from tests.pages.test_rollouts import recompute
from tests.small_runs import APPLES, HOSTILE, HOSTILE_TEXTS, PENS
from tests.ui.apptest import (
    chart_with,
    checked,
    click_row,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    trigger,
)

pytestmark = pytest.mark.usefixtures("app_runs")
PAGE = "pages/transport.py"
LINK = {"run": "small", "problem": PENS.problem_id}


def table_with(at, column: str):
    """The table with that column (tables to read have no key)."""
    return next(t.value for t in at.dataframe if column in t.value)


def test_the_plan_on_the_page_is_the_one_a_trainer_would_get(small_run: Path) -> None:
    at = open_app({**LINK, "rollout": "4"}, page=PAGE)
    frame = decode(component(at, "plan").bytes)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    wrong = credit.outcomes[1]
    plan = wrong.plans[wrong.rows.index(4)].double().numpy()
    assert (frame.sample, frame.success) == (4, False)
    assert [atom.location for atom in frame.atoms] == sorted(a.location for a in frame.atoms)
    order = [atom.name for atom in frame.atoms]
    np.testing.assert_allclose(frame.shares, (plan * len(plan))[:, order], atol=1e-4)
    start = sum(len(r.completion_ids) for r in group.rollouts[:4])
    own = slice(start, start + len(plan))
    np.testing.assert_allclose(frame.feature, credit.novelty_feature[own], rtol=1e-5)
    np.testing.assert_allclose(frame.structure, credit.novelty_structure[own], rtol=1e-5)
    total = float(credit.novelty[own].mean())
    assert f"Cost of this plan {total:.4f}" in shown_text(at)


def test_the_solver_panel_shows_k_rounds_error_and_convergence(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    shown = table_with(at, "last change")
    assert list(shown["outcome"]) == ["right", "wrong"]
    for row, outcome in zip(shown.itertuples(), credit.outcomes, strict=True):
        assert outcome.barycenter is not None
        assert row.rounds == outcome.iterations == len(outcome.changes)
        assert row.converged == outcome.converged
    assert list(shown["atoms"]) == [8, 8]
    np.testing.assert_allclose(
        shown["marginal error"], [o.marginal_error for o in credit.outcomes], rtol=1e-3
    )
    np.testing.assert_allclose(
        shown["last change"], [o.changes[-1] for o in credit.outcomes], rtol=1e-3
    )
    assert "α **0.500**" in shown_text(at) and "anchors **16 quantile**" in shown_text(at)


def test_a_solver_that_stops_too_early_is_called_out() -> None:
    at = open_app({**LINK, "credit.max_iterations": "1"}, page=PAGE)
    badges = [m.value for m in at.markdown if "NOT converged after 1 round" in m.value]
    assert len(badges) == 2 and all("red" in badge for badge in badges)
    assert list(table_with(at, "last change")["converged"]) == [False, False]
    assert [w.value.count("has not converged") for w in at.warning] == [1, 1]


def test_atoms_read_in_order_and_lead_to_their_tokens() -> None:
    at = open_app(LINK, page=PAGE)
    right, wrong = table(at, "atoms.right"), table(at, "atoms.wrong")
    for shown in (right, wrong):
        assert list(shown["at"]) == sorted(shown["at"])
        np.testing.assert_allclose(shown["mass"], 1.0, atol=0.02)
        assert sorted(shown["atom"]) == list(range(8))
    # Nearest in both directions: no right atom is nearer to a wrong one than the smallest gap.
    assert right["gap"].min() == pytest.approx(wrong["gap"].min())
    click_row(at, "atoms.wrong", 0)
    chosen = selection(at)
    assert chosen.sample in (3, 4, 5) and chosen.token is not None
    assert at.query_params["token"] == str(chosen.token)
    frame = decode(component(at, "plan").bytes)
    assert frame.sample == chosen.sample
    assert frame.atoms[0].text.split(" / ")[0] in frame.cells[chosen.token].text


def test_barycenters_as_text_say_what_the_solver_found(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    frame = barycenter_text.decode(component(at, "barycenters").bytes)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    for side, outcome in zip(frame.sides, credit.outcomes, strict=True):
        assert side.success is outcome.success and side.n_rollouts == len(outcome.rows)
        plans = [plan.double().numpy() for plan in outcome.plans]
        for atom in side.atoms:
            columns = [plan[:, atom.name] for plan in plans]
            assert atom.mass == pytest.approx(8 * np.mean([c.sum() for c in columns]))
            assert atom.coverage == np.mean([c.sum() >= 0.5 / 8 for c in columns])
            assert outcome.barycenter is not None
            place = float(outcome.barycenter.locations[atom.name])
            assert atom.location == pytest.approx(place, abs=0.02)
            assert {quote.sample for quote in atom.quotes} <= set(outcome.rows)
            for quote in atom.quotes:  # the quoted token is one that flows there
                row = outcome.rows.index(quote.sample)
                assert plans[row][quote.token, atom.name] >= 0.5 * columns[row].max()
                text = group.rollouts[quote.sample].completion_text
                assert quote.inside.strip("⏎ ") in text
        novelty = {row: mean_novelty(group, credit, row) for row in outcome.rows}
        assert side.closest is not None
        assert side.closest[0] == min(novelty, key=lambda row: novelty[row])
    # Both have 8 atoms, so the optimal matching is a permutation.
    assert sorted(link.first for link in frame.links) == list(range(8))
    assert sorted(link.second for link in frame.links) == list(range(8))
    bary = [outcome.barycenter for outcome in credit.outcomes]
    for link in frame.links:
        first, second = frame.sides[0].atoms[link.first], frame.sides[1].atoms[link.second]
        assert bary[0] is not None and bary[1] is not None
        apart = bary[0].features[first.name] - bary[1].features[second.name]
        assert link.gap == pytest.approx(float(apart.norm()), abs=0.02)


def mean_novelty(group, credit, row: int) -> float:
    start = sum(len(r.completion_ids) for r in group.rollouts[:row])
    return float(credit.novelty[start : start + len(group.rollouts[row].completion_ids)].mean())


def test_two_rollouts_are_compared_by_composing_their_plans(small_run: Path) -> None:
    at = open_app({**LINK, "rollout": "4"}, page=PAGE)
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    frame = rollout_pair.decode(component(at, "pair").bytes)
    assert (frame.first.sample, frame.second.sample) == (4, 0), "first one of the other outcome"
    assert (frame.first.success, frame.second.success) == (False, True)
    checked(at.selectbox(key="pair.other").select(3).run())
    frame = rollout_pair.decode(component(at, "pair").bytes)
    wrong = credit.outcomes[1]
    plans = [wrong.plans[wrong.rows.index(sample)].double().numpy() for sample in (4, 3)]
    coupling = plans[0] @ np.diag(1 / plans[1].sum(0)) @ plans[1].T
    coupling /= coupling.sum(1, keepdims=True)
    received = frame.second.shares.sum(0)
    shown = (frame.first.shares / received) @ frame.second.shares.T
    np.testing.assert_allclose(shown, coupling, atol=2e-4)
    assert f"{frame.first.gaps.mean():.4f} from here to there" in shown_text(at)


def test_the_dearest_pairs_add_up_to_novelty_and_lead_to_both_texts(small_run: Path) -> None:
    at = open_app({**LINK, "rollout": "4"}, page=PAGE)
    shown = table(at, "pairs.top")
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    start = sum(len(r.completion_ids) for r in group.rollouts[:4])
    novelty = credit.novelty[start : start + len(group.rollouts[4].completion_ids)]
    assert list(shown["cost"]) == sorted(shown["cost"], reverse=True)
    assert shown["cost"].max() <= float(novelty.max()) + 1e-6
    np.testing.assert_allclose(shown["cost"] / shown["of all"], float(novelty.sum()), rtol=1e-5)
    click_row(at, "pairs.top", 0)
    assert selection(at).sample == 4
    assert float(novelty[selection(at).token]) >= shown["cost"][0] - 1e-6
    click_row(at, "pairs.top", 0, column="there")
    there = selection(at)
    assert there.sample != 4 and shown["there"][0].startswith(f"{there.sample}: ")


def test_a_pick_in_the_matrix_reaches_the_selection_by_the_bus() -> None:
    at = open_app(LINK, page=PAGE)
    before = component(at, "plan").bytes
    trigger(at, "bus", "move", {"sample": 0, "token": 5})
    assert (selection(at).sample, selection(at).token) == (0, 5)
    assert at.query_params["token"] == "5"
    assert component(at, "plan").bytes == before, "a selection never rides in the frame"


def test_the_rollout_box_moves_the_selection() -> None:
    at = open_app(LINK, page=PAGE)
    checked(at.selectbox(key="plan.rollout").select(5).run())
    assert selection(at).sample == 5
    assert decode(component(at, "plan").bytes).sample == 5


@pytest.mark.parametrize("reference", ["leave_one_out", "opposite_outcome", "group"])
def test_other_references_change_the_plan_and_say_so(small_run: Path, reference) -> None:
    at = open_app({**LINK, "rollout": "0", "credit.reference": reference}, page=PAGE)
    frame = decode(component(at, "plan").bytes)
    config = replace(CreditConfig(), reference=reference)
    _, credit = recompute(small_run, PENS.problem_id, config)
    plan = credit.outcomes[0].plans[0].double().numpy() * len(frame.own)
    order = [atom.name for atom in frame.atoms]
    np.testing.assert_allclose(frame.shares, plan[:, order], atol=1e-4)
    assert f"Reference {reference}" in shown_text(at)


def test_another_signal_still_shows_haras_plans() -> None:
    at = open_app({**LINK, "credit.signal": "entropy"}, page=PAGE)
    assert "The plans below are HarA's" in shown_text(at)
    assert decode(component(at, "plan").bytes).sample == 0


def test_a_class_without_rollouts_is_explained() -> None:
    at = open_app({"run": "small", "problem": APPLES.problem_id}, page=PAGE)
    assert "No rollout of this group is right" in shown_text(at)
    assert decode(component(at, "plan").bytes).success is False


def test_a_lone_rollout_has_no_plan_and_a_way_on() -> None:
    at = open_app({"run": "lone", "problem": PENS.problem_id, "rollout": "0"}, page=PAGE)
    said = plain(at.info[0].value)
    assert "only right one" in said and "novelty is 0" in said and "Choose another rollout" in said
    assert "One right rollout alone makes no pattern" in shown_text(at)
    checked(at.button(key="plan.other").click().run())
    assert selection(at).sample == 1
    assert decode(component(at, "plan").bytes).sample == 1


@pytest.fixture(scope="module", autouse=True)
def lone_run(small_runs: Path) -> Path:
    """A group with one right rollout and two wrong ones, beside the small runs."""
    from hara_viz.store import RunWriter, open_run
    from tests.small_runs import PENS_TEXTS, group_of, states_of

    path = small_runs / "lone"
    if not path.exists():
        group = group_of(PENS, [PENS_TEXTS[0], PENS_TEXTS[3], PENS_TEXTS[4]])
        with RunWriter(path, open_run(small_runs / "small").info) as writer:
            writer.write_part([group], [states_of(group, layer) for layer in (2, 4)])
            writer.finish()
    return path


def test_a_run_without_states_names_the_very_command(app_runs: Path) -> None:
    at = open_app({"run": "no-states", "problem": PENS.problem_id}, page=PAGE)
    assert "hara-viz states" in plain(at.warning[0].value)
    command = f"hara-viz states {app_runs / 'no-states'} --model models/tiny"
    assert [code.value for code in at.code].count(command) == 2, "beside the plan and the credit"


def wait(at, found, seconds: float = 120):
    """The page again and again until it shows what is waited for."""
    deadline = time.monotonic() + seconds
    while not found(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        at = checked(at.run(timeout=60))
    return at


def has(column: str):
    return lambda at: any(column in t.value for t in at.dataframe)


def own_tokens_of(group, rows) -> list[np.ndarray]:
    starts = np.cumsum([0, *(len(r.completion_ids) for r in group.rollouts)])
    return [np.arange(starts[row], starts[row + 1]) for row in rows]


def test_exact_agreement_is_measured_by_a_job(small_run: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    at = open_app(LINK, page=PAGE)
    at = checked(at.button(key="exact.go").click().run(timeout=60))
    at = wait(at, has("fast with exact"))
    shown = table_with(at, "fast with exact")
    _, fast = recompute(small_run, PENS.problem_id, CreditConfig())
    _, exact = recompute(small_run, PENS.problem_id, CreditConfig(solver="exact"))
    _, other = recompute(small_run, PENS.problem_id, CreditConfig(solver="exact", seed=1))
    from scipy.stats import spearmanr

    n_right = int(shown["tokens"][0])
    parts = (slice(0, n_right), slice(n_right, None))
    for column, first, second in (
        ("fast with exact", fast, exact),
        ("ceiling: exact with exact", exact, other),
    ):
        expected = [spearmanr(first.novelty[p], second.novelty[p]).statistic for p in parts]
        np.testing.assert_allclose(shown[column], expected, atol=2e-3)
    # Another session finds it there, and under other settings it is asked for anew.
    again = open_app(LINK, page=PAGE)
    np.testing.assert_allclose(
        table_with(again, "fast with exact")["fast with exact"], shown["fast with exact"]
    )
    changed = open_app({**LINK, "credit.alpha": "0.3"}, page=PAGE)
    assert changed.button(key="exact.go")
    # What an earlier version of the method was told is not this one's agreement.
    monkeypatch.setattr("hara_viz.ui.exact_panel.METHOD_VERSION", METHOD_VERSION + 1)
    assert open_app(LINK, page=PAGE).button(key="exact.go")


def test_an_exact_job_that_was_stopped_can_start_again(tmp_path, monkeypatch) -> None:
    from hara_viz.backend import jobs

    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    at = open_app(LINK, page=PAGE)
    at = checked(at.button(key="exact.go").click().run(timeout=60))
    (job,) = jobs.list_jobs(tmp_path / "jobs")
    jobs.stop(tmp_path / "jobs", job.id, grace=0.1)
    at = checked(at.run(timeout=60))
    assert "The comparison was stopped" in shown_text(at)
    at = checked(at.button(key="exact.again").click().run(timeout=60))
    wait(at, has("fast with exact"))


def test_the_verdict_on_the_fast_solver_names_the_ceiling() -> None:
    row = ExactRow(success=True, n_rollouts=2, n_tokens=9, agreement=0.86, ceiling=0.9)
    bad = replace(row, success=False, agreement=0.6)
    unknown = replace(row, agreement=None)
    check = ExactCheck(
        rows=(row, bad, unknown), seconds_anchored=1, seconds_exact=2, converged=True
    )
    assert [good for _, good in verdict(check)] == [True, False, True]
    assert "0.30 below" in verdict(check)[1][0] and "ceiling of 0.900" in verdict(check)[0][0]
    assert ExactCheck.from_plain(json.loads(json.dumps(check.to_plain()))) == check


def test_the_sensitivity_strips_show_rank_correlations(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    at = checked(at.button(key="sensitivity.go").click().run(timeout=60))
    at = wait(at, lambda at: "Spearman rank correlation of the tokens' novelty" in shown_text(at))
    from scipy.stats import spearmanr

    strips = chart_with(at, "agreement")
    assert [strip["field"].iloc[0] for strip in strips] == [
        "alpha", "n_support", "epsilon", "layer"
    ]  # fmt: skip
    group, base = recompute(small_run, PENS.problem_id, CreditConfig())
    members = {"right": (0, 1, 2), "wrong": (3, 4, 5)}
    for strip in strips[:3]:
        assert strip[strip["current"]]["agreement"].tolist() == pytest.approx([1.0, 1.0])
        for row in strip.itertuples():
            value = {"auto": "auto"}.get(row.value) or float(row.value)
            value = int(value) if row.field == "n_support" and value != "auto" else value
            config = CreditConfig(**{row.field: value})
            _, other = recompute(small_run, PENS.problem_id, config)
            own = np.concatenate(own_tokens_of(group, members[row.outcome]))
            expected = spearmanr(base.novelty[own], other.novelty[own]).statistic
            # The ends of rollouts are alike up to rounding: either of two may rank first.
            assert row.agreement == pytest.approx(expected, abs=2e-3), (row.field, row.value)


def test_the_residual_curve_is_the_solvers() -> None:
    at = open_app(LINK, page=PAGE)
    (curve,) = chart_with(at, "change")
    right = curve[curve["outcome"] == "right"]
    shown = table_with(at, "last change")
    assert right["change"].iloc[-1] == pytest.approx(shown["last change"][0])
    assert len(right) == shown["rounds"][0]


def test_the_noise_tab_puts_every_sentence_against_its_null(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    at = checked(at.button(key="doubt.go").click().run(timeout=60))
    at = wait(at, has("shuffled"))
    shown = table(at, "doubt.table")
    assert list(shown["z"]) == sorted(shown["z"], reverse=True)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    # Three against three: 20 splits, ten of them alike but for the names of the outcomes.
    assert shown["p"].min() >= 1 / 10 - 1e-9
    assert "this group is too small to tell" in shown_text(at)
    novelty = credit.novelty.double().numpy()
    click_row(at, "doubt.table", 0)
    chosen = selection(at)
    assert chosen.sample == shown["rollout"][0] and chosen.token is not None
    rollout = group.rollouts[chosen.sample]
    assert rollout.reasoning_step is not None
    step = rollout.reasoning_step[chosen.token]
    own = own_tokens_of(group, [chosen.sample])[0][np.asarray(rollout.reasoning_step) == step]
    members = (0, 1, 2) if chosen.sample < 3 else (3, 4, 5)
    values = novelty[np.concatenate(own_tokens_of(group, members))]
    z = (novelty[own].mean() - values.mean()) / values.std()
    assert shown["z"][0] == pytest.approx(z, abs=2e-3)


def test_a_group_of_one_outcome_has_no_null() -> None:
    at = open_app({"run": "small", "problem": APPLES.problem_id}, page=PAGE)
    assert "Nothing to shuffle" in shown_text(at)


def test_the_time_of_a_solve_is_measured_when_asked_for() -> None:
    at = open_app(LINK, page=PAGE)
    at = checked(at.button(key="solver.time").click().run(timeout=120))
    assert "One solve of this group takes" in shown_text(at)


def test_hostile_text_is_never_markdown() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id, "rollout": "1"}, page=PAGE)
    markup = [*at.markdown, *at.caption, *at.info, *at.warning]
    rendered = "\n".join(str(element.value) for element in markup)
    for text, _ in HOSTILE_TEXTS:
        for word in text.split():
            assert word not in rendered or word.isalnum()
    assert "onerror" not in rendered
    frame = decode(component(at, "plan").bytes)
    assert "</style></div><b>bold</b>" in {cell.text for cell in frame.cells}
    barycenters = component(at, "barycenters").bytes.decode("utf-8", "replace")
    assert "\x1b" not in barycenters and "\u202e" not in barycenters


def test_each_table_of_the_page_is_a_file_that_names_what_it_is_of() -> None:
    at = open_app({**LINK, "rollout": "4"}, page=PAGE)
    tables = ("rollout4-pairs", "atoms-right", "atoms-wrong")
    offered = [button.proto.id for button in at.get("download_button")]
    for name in (
        f"small-{PENS.problem_id}-{part}{end}" for part in tables for end in (".csv", ".parquet")
    ):
        assert any(found.endswith(f"export.{name}") for found in offered), (name, offered)
