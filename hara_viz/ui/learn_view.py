"""What the Learn page talks about: the selected group under HarA, and one rollout of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.lesson import BarycenterFilm, barycenter_film, states_in_the_plane
from hara_viz.credit import CreditConfig, OutcomeClass
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, Rollout
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import own_tokens
from hara_viz.ui.quote import token_text
from hara_viz.ui.words import inert


@dataclass(frozen=True, slots=True)
class LearnView:
    """A group, its credit by HarA, and the rollout that is looked at."""

    view: GroupView
    found: GroupCredit
    row: int

    @property
    def rollout(self) -> Rollout:
        """The rollout that is looked at."""
        return self.found.group.rollouts[self.row]

    @property
    def config(self) -> CreditConfig:
        """The settings, with the signal "hara"."""
        return self.found.config

    @property
    def outcome(self) -> OutcomeClass | None:
        """The rollout's outcome class; None: it is unscored or empty."""
        return next((o for o in self.found.credit.outcomes if self.row in o.rows), None)

    @property
    def words(self) -> list[str]:
        """The rollout's own tokens as text."""
        return words_of(self.rollout)

    @property
    def reasoning_steps(self) -> list[int]:
        """Which reasoning step each of them belongs to; all the same one where none is cut."""
        steps = self.rollout.reasoning_step or (0,) * len(self.rollout.completion_ids)
        return [steps[int(t)] for t in np.flatnonzero(own_tokens(self.rollout))]

    def n_own_tokens(self, row: int) -> int:
        """T of a rollout of the group."""
        return int(own_tokens(self.found.group.rollouts[row]).sum())

    def values(self, name: str) -> np.ndarray:
        """A tensor of `Credit` over the rollout's own tokens [T]."""
        of_row = self.found.of_row(getattr(self.found.credit, name), self.row).double().numpy()
        return of_row[own_tokens(self.rollout)]


def learn_view(view: GroupView) -> LearnView | None:
    """The group under HarA; None, with the reason on the page, if the run lacks what it needs."""
    config = replace(view.config, signal="hara", solver="anchored")
    try:
        found = data.group_credit(view.run_name, view.key, config, view.layer)
    except HaraError as error:
        st.warning(inert(str(error), 600))
        return None
    chosen = view.row_of(state.current().sample)
    with_plan = [row for o in found.credit.outcomes if o.plans for row in o.rows]
    row = chosen if chosen is not None else next(iter(with_plan), 0)
    return LearnView(view, found, row)


def words_of(rollout: Rollout) -> list[str]:
    """The policy's own tokens of a rollout as text."""
    return [token_text(rollout, int(t))[1] for t in np.flatnonzero(own_tokens(rollout))]


def film(shown: LearnView) -> BarycenterFilm:
    """The barycenter of the rollout's outcome class, round after round.

    Raises:
        HaraError: there is none.
    """
    outcome = shown.outcome
    success = bool(outcome is not None and outcome.success)
    view = shown.view
    stamp = data.run_stamp(view.run_name)
    return _film(view.run_name, stamp, view.key, shown.config.to_json(), view.layer, success,
                 _found=shown.found)  # fmt: skip


def plane(shown: LearnView) -> tuple[dict[int, np.ndarray], float]:
    """States of the group in their principal plane: by row [T, 2], and the share it shows."""
    view = shown.view
    stamp = data.run_stamp(view.run_name)
    return _plane(view.run_name, stamp, view.key, shown.config.to_json(), view.layer,
                  _found=shown.found)  # fmt: skip


@st.cache_resource(max_entries=16, show_spinner="Solving the barycenter round by round …")
def _film(
    run: str,
    stamp: int,
    key: GroupKey,
    config: str,
    layer: int | None,
    success: bool,
    _found: GroupCredit,
) -> BarycenterFilm:
    return barycenter_film(data.run(run), _found, success)


@st.cache_resource(max_entries=16, show_spinner=False)
def _plane(
    run: str, stamp: int, key: GroupKey, config: str, layer: int | None, _found: GroupCredit
) -> tuple[dict[int, np.ndarray], float]:
    return states_in_the_plane(data.run(run), _found)
