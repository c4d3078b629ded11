"""The Learn page: each step's numbers are the credit's, every setting and case shows at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hara_viz.backend.credit import credit_group
from hara_viz.backend.lesson import barycenter_film
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.ui.learn_controls import STEPS
from tests.small_runs import APPLES, HOSTILE, PENS
from tests.ui.apptest import checked, open_app, selection, shown_text

PAGE = "pages/learn.py"
pytestmark = pytest.mark.usefixtures("app_runs")


def at_step(step: int, rollout: int = 0, problem: str = PENS.problem_id) -> Any:
    at = open_app({"run": "small", "problem": problem, "rollout": str(rollout)}, PAGE)
    at.session_state["learn.step"] = STEPS[step]
    return checked(at.run())


def bars(at: Any, trace: int = 0) -> np.ndarray:
    (chart,) = at.get("plotly_chart")
    values = json.loads(chart.proto.spec)["data"][trace]["y"]
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return np.array(values, dtype=float)


@pytest.fixture
def credit(small_run: Path) -> Any:
    run = open_run(small_run)
    key = next(key for key in run.keys() if key.problem_id == PENS.problem_id)  # noqa: SIM118
    return credit_group(run, key)


def test_rewards_and_uniform_advantages_are_the_groups(credit: Any) -> None:
    assert bars(at_step(0)).tolist() == credit.group.rewards.tolist()
    at = at_step(1, rollout=2)
    assert np.allclose(bars(at), credit.credit.baseline.numpy())
    rewards = np.array(credit.group.rewards.tolist())
    formula = at.latex[0].value
    assert f"{rewards.mean():.3f}" in formula and f"{rewards.std(ddof=1):.3f}" in formula
    assert f"= {float(credit.credit.baseline[2]):.3f}" in formula


def test_novelty_and_advantage_are_what_the_other_pages_show(credit: Any) -> None:
    row = 2
    at = at_step(4, rollout=row)
    both = [bars(at, trace) for trace in (0, 1)]
    novelty = credit.of_row(credit.credit.novelty, row).numpy()
    assert np.allclose(sum(both), novelty, atol=1e-6)
    assert f"{novelty.max():.3f}" in at.latex[0].value
    at = at_step(5, rollout=row)
    assert np.allclose(bars(at), credit.of_row(credit.credit.advantages, row).numpy(), atol=1e-6)
    assert r"\overline{w} = 1.000" in at.latex[0].value


def test_a_setting_moved_here_is_the_setting_everywhere() -> None:
    at = at_step(5)
    before = bars(at)
    checked(at.slider(key="learn.strength").set_value(1.5).run())
    assert selection(at).credit == CreditConfig(strength=1.5)
    assert not np.allclose(bars(at), before)
    checked(at.button(key="learn.case.back to the defaults").click().run())
    assert selection(at).credit == CreditConfig() and np.allclose(bars(at), before)


def test_the_film_ends_where_the_solver_ends(credit: Any, small_run: Path) -> None:
    film = barycenter_film(open_run(small_run), credit, True)
    outcome = next(o for o in credit.credit.outcomes if o.success)
    assert film.rows == outcome.rows and film.n_rounds == outcome.iterations
    for ours, theirs in zip(film.plans[-1], outcome.plans, strict=True):
        assert np.allclose(ours, theirs.numpy(), atol=1e-6)
    assert film.atoms.shape == (film.n_rounds + 1, outcome.plans[0].shape[1], 2)
    at = at_step(3)
    assert f"Round {film.n_rounds} of {film.n_rounds}" in shown_text(at)
    checked(at.slider(key="learn.round").set_value(0).run())
    assert "The start" in shown_text(at)


def test_cases_without_a_pattern_say_so(credit: Any, small_run: Path) -> None:
    at = at_step(4)
    checked(at.button(key="learn.case.all rewards are equal").click().run())
    assert selection(at).problem != PENS.problem_id
    at = at_step(0)
    checked(at.button(key="learn.case.K exceeds T").click().run())
    assert selection(at).credit.n_support == 128
    lone = open_run(small_run)
    key = next(key for key in lone.keys() if key.problem_id == APPLES.problem_id)  # noqa: SIM118
    group = credit_group(lone, key)
    missing = {True, False} - {o.success for o in group.credit.outcomes}
    for success in missing:
        with pytest.raises(InvalidInputError, match="no barycenter"):
            barycenter_film(lone, group, success)


def test_a_run_without_states_says_what_is_missing() -> None:
    at = open_app({"run": "no-states"}, PAGE)
    assert "hidden states" in " ".join(warning.value.replace("\\", "") for warning in at.warning)
    assert not at.get("plotly_chart")


def test_the_rounds_can_be_played(credit: Any) -> None:
    at = at_step(3)
    n_rounds = at.slider(key="learn.round").value
    assert n_rounds == next(o for o in credit.credit.outcomes if o.success).iterations
    checked(at.button(key="learn.play").click().run())
    seen = [at.slider(key="learn.round").value]
    while at.session_state["learn.playing"] and len(seen) <= n_rounds + 1:
        checked(at.run())
        seen.append(at.slider(key="learn.round").value)
    assert seen == list(range(n_rounds + 1)), "from the start to the end, a round at a time"
    checked(at.button(key="learn.play").click().run())
    checked(at.button(key="learn.play").click().run())
    assert at.session_state["learn.playing"] is False, "it can be stopped"


def test_a_shorter_film_does_not_break_the_slider() -> None:
    at = at_step(3)
    checked(at.select_slider(key="learn.n_support").set_value(2).run())
    checked(at.select_slider(key="learn.epsilon").set_value(5.0).run())
    shown = at.slider(key="learn.round")
    assert 0 <= shown.value <= shown.max


def test_the_puzzle_hides_the_picture_until_a_guess(credit: Any) -> None:
    row = 2
    at = at_step(4, rollout=row)
    checked(at.toggle(key="learn.guess").set_value(True).run())
    assert not at.get("plotly_chart") and not at.latex
    steps = np.array(credit.group.rollouts[row].reasoning_step)
    weights = credit.of_row(credit.credit.weights, row).numpy()
    means = [weights[steps == n].mean() for n in dict.fromkeys(steps.tolist())]
    (radio,) = [r for r in at.radio if "weigh most" in r.label]
    assert len(radio.options) == len(means) > 1 and radio.value is None
    best = int(np.argmax(means))
    checked(radio.set_value(best).run())
    assert at.info[0].value.startswith(f"Yes: its tokens have a mean weight of {max(means):.3f}")
    assert at.get("plotly_chart")
    (radio,) = [r for r in at.radio if "weigh most" in r.label]
    worst = int(np.argmin(means))
    checked(radio.set_value(worst).run())
    assert f"number {len(means)} of {len(means)}" in at.info[0].value


def test_hostile_steps_are_text() -> None:
    at = at_step(4, rollout=1, problem=HOSTILE.problem_id)
    checked(at.toggle(key="learn.guess").set_value(True).run())
    for radio in at.radio:
        assert not any("**" in o or ":red[x]" in o or "$x" in o for o in radio.options)


def test_the_gradients_weight_is_the_advantage_over_the_loss_norm(credit: Any) -> None:
    row = 2
    novelty = credit.of_row(credit.credit.novelty, row)
    after = float(credit.of_row(credit.credit.advantages, row)[int(novelty.argmax())])
    lengths = [len(r.completion_ids) for r in credit.group.rollouts]
    formula = at_step(5, rollout=row).latex[2].value
    assert f"= {after / (len(lengths) * lengths[row]):.5f}" in formula
    assert f"= {after / sum(lengths):.5f}" in formula


def test_cases_say_what_is_to_be_seen() -> None:
    at = at_step(4)
    checked(at.button(key="learn.case.K exceeds T").click().run())
    assert any("K = 128 atoms for T = " in note.value for note in at.info)
    checked(at.button(key="learn.case.ε is large").click().run())
    assert any("ε = 5 blurs each plan" in note.value for note in at.info)
    checked(at.button(key="learn.case.all rewards are equal").click().run())
    assert any("All rewards are equal" in note.value for note in at.info)
