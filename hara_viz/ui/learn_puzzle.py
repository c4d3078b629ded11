"""Guess first: which reasoning step of a rollout does HarA weigh most?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from hara_viz.ui.learn_view import LearnView
from hara_viz.ui.words import inert, one_line


@dataclass(frozen=True, slots=True)
class StepWeight:
    """A reasoning step of a rollout, and what it earns."""

    text: str
    weight: float
    """The mean weight of its tokens."""


def guessed(shown: LearnView) -> bool:
    """Ask, if the reader wants to be asked; whether the answer may be shown."""
    if not st.toggle("Guess first", key="learn.guess"):
        return True
    steps = step_weights(shown.words, shown.reasoning_steps, shown.values("weights"))
    if len(steps) < 2:
        st.caption("This rollout has one reasoning step: there is nothing to guess.")
        return True
    guess = st.radio(
        "Which reasoning step does HarA weigh most?",
        range(len(steps)),
        index=None,
        format_func=lambda place: inert(one_line(steps[place].text, 120)) or "(blank)",
        key=f"learn.guess.{shown.view.key.problem_id}.{shown.rollout.sample}",
    )
    if guess is None:
        st.caption("The picture comes once you have chosen.")
        return False
    st.info(verdict(steps, guess), icon=":material/lightbulb:")
    return True


def step_weights(
    words: Sequence[str], reasoning_steps: Sequence[int], weights: np.ndarray
) -> list[StepWeight]:
    """The reasoning steps of a rollout in order. Pure.

    Args:
        words: its tokens as text [T].
        reasoning_steps: which step each belongs to [T].
        weights: [T].
    """
    numbers = np.asarray(reasoning_steps)
    return [
        StepWeight(
            "".join(word for word, at in zip(words, numbers, strict=True) if at == number),
            float(weights[numbers == number].mean()),
        )
        for number in dict.fromkeys(numbers.tolist())
    ]


def verdict(steps: Sequence[StepWeight], guess: int) -> str:
    """What a guess was worth, as Markdown without any text of the model. Pure."""
    order = sorted(range(len(steps)), key=lambda place: -steps[place].weight)
    best, rank = order[0], order.index(guess) + 1
    if guess == best:
        return f"Yes: its tokens have a mean weight of {steps[best].weight:.3f}, the most of all."
    return (
        f"Not quite: your choice is number {rank} of {len(steps)}, with a mean weight of "
        f"{steps[guess].weight:.3f}. The most, {steps[best].weight:.3f}, goes to number "
        f"{best + 1} in the list."
    )
