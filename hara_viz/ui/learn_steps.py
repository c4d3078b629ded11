"""The six steps of the Learn page: a sentence, a picture, the formula with its numbers in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from hara_viz.errors import HaraError
from hara_viz.plots.lesson import (
    advantage_steps,
    clouds,
    cost_bars,
    rollout_bars,
)
from hara_viz.ui.export_buttons import CHART
from hara_viz.ui.group_header import notes_of, question_of
from hara_viz.ui.learn_formulas import (
    advantage_numbers,
    baseline_numbers,
    gradient_numbers,
    novelty_numbers,
    weight_numbers,
)
from hara_viz.ui.learn_puzzle import guessed
from hara_viz.ui.learn_rounds import rounds
from hara_viz.ui.learn_view import LearnView, film, plane, words_of
from hara_viz.ui.words import count, inert, percent


def show_step(step: int, shown: LearnView) -> None:
    """One step, 0 … 5."""
    _STEPS[step](shown)


def _group(shown: LearnView) -> None:
    rollouts = shown.found.group.rollouts
    st.markdown(
        f"The policy answered one problem **{len(rollouts)} times**. A verifier read each answer: "
        "that reward, one number per rollout, is all that training hears."
    )
    st.text(question_of(rollouts[0]))
    successes = [shown.view.success(rollout) for rollout in rollouts]
    rewards = np.array([np.nan if r.reward is None else r.reward for r in rollouts], dtype=float)
    _picture(rollout_bars(shown.view.samples, rewards, successes, "reward"), "group")
    st.text(shown.rollout.completion_text)
    _diagnostics(shown)


def _uniform(shown: LearnView) -> None:
    st.markdown(
        "GRPO compares each reward with the group's. **Every token of a rollout gets the same "
        "advantage**: the comma as much as the idea that solved it."
    )
    rollouts = shown.found.group.rollouts
    successes = [shown.view.success(rollout) for rollout in rollouts]
    values = shown.found.credit.baseline.double().numpy()
    _picture(rollout_bars(shown.view.samples, values, successes, "advantage A"), "uniform")
    st.latex(baseline_numbers(shown))
    _diagnostics(shown)


def _distributions(shown: LearnView) -> None:
    tokens, explained = plane(shown)
    st.markdown(
        "HarA sees a rollout as a **distribution**: each token is a point, the hidden state after "
        "reading it, with weight p = 1/T. Colour is its location ℓ, from 0 at the first token to "
        "1 at the last."
    )
    outcome = shown.outcome
    rows = [row for row in (outcome.rows if outcome else (shown.row,)) if row in tokens]
    samples = [shown.found.group.rollouts[row].sample for row in rows]
    texts = [words_of(shown.found.group.rollouts[row]) for row in rows]
    _picture(clouds([tokens[row] for row in rows], samples, texts), "clouds")
    st.caption(
        f"{count(len(rows), 'rollout')} of one outcome, in the plane of the two principal "
        f"components of the states, which shows {percent(explained)} of their variance."
    )
    length = len(shown.words)
    st.latex(rf"r = (h_t,\; \ell_t,\; p_t), \qquad p_t = \tfrac1T = \tfrac1{{{length}}}")


def _barycenter(shown: LearnView) -> None:
    st.markdown(
        "The **barycenter** is the pattern that rollouts of one outcome share: K atoms, placed so "
        "that moving all rollouts onto them costs least. It is found by turns: a **transport "
        "plan** for each rollout, then each atom goes to the mean of what flows into it."
    )
    try:
        shots = film(shown)
    except HaraError as error:
        st.info(inert(str(error)), icon=":material/info:")
        _diagnostics(shown)
        return
    rounds(shown, shots)


def _novelty(shown: LearnView) -> None:
    st.markdown(
        "A token's **novelty** is what it pays on the way to the barycenter: for its state, and "
        "for its place in the rollout. What everybody does is cheap; what only this rollout does "
        "is dear."
    )
    if not _has_pattern(shown) or not guessed(shown):
        return
    feature, structure = shown.values("novelty_feature"), shown.values("novelty_structure")
    _picture(cost_bars(shown.words, feature, structure), "novelty")
    st.latex(novelty_numbers(shown))


def _advantage(shown: LearnView) -> None:
    st.markdown(
        "The novelty, standardised within its outcome, becomes a **weight** around 1, and the "
        "weight multiplies the advantage. The rollout keeps its total; its tokens no longer share "
        "it alike."
    )
    if not _has_pattern(shown):
        return
    before = float(shown.found.credit.baseline[shown.row])
    _picture(advantage_steps(shown.words, before, shown.values("advantages")), "advantage")
    st.latex(weight_numbers(shown))
    st.latex(advantage_numbers(shown))
    st.latex(gradient_numbers(shown))
    st.caption(
        "What multiplies the gradient of a token's log-probability in the loss: GRPO divides by "
        "the rollout's tokens, DAPO by those of the whole group."
    )


def _has_pattern(shown: LearnView) -> bool:
    outcome = shown.outcome
    if outcome is not None and outcome.plans:
        return True
    st.info(
        "This rollout has no pattern to differ from: it stands alone in its outcome class, is "
        "empty, or is unscored. Its novelty is 0 and its weights stay 1.",
        icon=":material/info:",
    )
    _diagnostics(shown)
    return False


def _diagnostics(shown: LearnView) -> None:
    for note in notes_of(shown.view):
        st.info(inert(note, 600), icon=":material/info:")


def _picture(figure: object, key: str) -> None:
    st.plotly_chart(figure, key=f"learn.{key}", width="stretch", config=CHART)


_STEPS: tuple[Callable[[LearnView], None], ...] = (
    _group,
    _uniform,
    _distributions,
    _barycenter,
    _novelty,
    _advantage,
)
