"""The selected problem under checkpoints A and B, as the token-level views need it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from hara_viz.backend.compare import Checkpoint
from hara_viz.backend.compare_drift import Spot
from hara_viz.backend.compare_tokens import Side
from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.side_calls import credit_group_at
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, Rollout, RolloutGroup, is_success
from hara_viz.ui import data, drawer, state
from hara_viz.ui.compare_choice import Chosen, group_key
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import count, inert, one_line

_OUTCOME = {True: "right", False: "wrong", None: "unscored"}


@dataclass(frozen=True, slots=True)
class SideView:
    """One checkpoint's group of the problem."""

    letter: str
    checkpoint: Checkpoint
    key: GroupKey
    group: RolloutGroup

    @property
    def name(self) -> str:
        """The run's name."""
        return self.checkpoint.place.run

    @property
    def side(self) -> Side:
        """The group in plain data, for the side process."""
        return Side(spot_of(self.checkpoint), self.key)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Token ids that are markers, not text."""
        checkpoint = data.run(self.name).info.checkpoint
        return checkpoint.special_ids if checkpoint else ()

    def rollout(self, sample: int) -> Rollout:
        """A rollout by its number."""
        return next(r for r in self.group.rollouts if r.sample == sample)

    def label(self, sample: int) -> str:
        """A rollout as it is offered."""
        rollout = self.rollout(sample)
        outcome = _OUTCOME[self.success(rollout)]
        return f"{sample} · {outcome} · {count(len(rollout.completion_ids), 'token')}"

    def success(self, rollout: Rollout) -> bool | None:
        """Its outcome."""
        return is_success(rollout.reward, self.checkpoint.success_threshold)


def both_sides(chosen: Chosen) -> tuple[SideView, SideView] | None:
    """The problem that the sidebar shows, under A and B; else the first that both have.

    None, with the reason on the page, where they share none.
    """
    shared = set(chosen.a.problems["problem_id"]) & set(chosen.b.problems["problem_id"])
    problem = state.current().problem
    if problem is None or problem not in shared:
        order = [name for name in chosen.a.problems["problem_id"] if name in shared]
        if not order:
            st.info("A and B have no problem in common, so nothing can be put side by side.")
            return None
        if problem is not None:
            st.caption(
                "A or B lacks the problem of the sidebar; the first that both have is shown."
            )
        problem = str(order[0])
    a, b = (_side(letter, c, problem) for letter, c in (("A", chosen.a), ("B", chosen.b)))
    heads = chosen.a.problems.set_index("problem_id")["prompt_head"]
    st.text(one_line(str(heads[problem]), 240))
    return a, b


def spot_of(checkpoint: Checkpoint) -> Spot:
    """A checkpoint in plain data, for the side process."""
    stamp = data.run_stamp(checkpoint.place.run)
    step = checkpoint.place.step if checkpoint.in_groups else None
    return Spot(str(checkpoint.path), stamp, step)


def config_of(checkpoint: Checkpoint) -> CreditConfig:
    """The sidebar's config with the run's own threshold of success."""
    return data.for_run(state.current().credit, data.run(checkpoint.place.run))


def credit_of_side(view: SideView) -> GroupCredit | None:
    """The credit under the sidebar's config; None: stopped, or refused as the page says."""
    config, run = config_of(view.checkpoint), data.run(view.name)
    layer = state.current().layer
    layer = layer if layer in run.layers else None
    n_tokens = sum(len(r.completion_ids) for r in view.group.rollouts)
    try:
        if n_tokens <= drawer.LIVE_TOKENS or config.signal == "uniform":
            return data.group_credit(view.name, view.key, config, layer)
    except HaraError as error:
        st.warning(inert(str(error), 600) + ". Shown instead: uniform GRPO.")
        uniform = CreditConfig(signal="uniform", success_threshold=config.success_threshold)
        return data.group_credit(view.name, view.key, uniform, layer)
    return computed(
        credit_group_at,
        str(run.path),
        data.run_stamp(view.name),
        view.key,
        config.to_json(),
        layer,
        message=f"Computing the credit of {n_tokens:,} tokens of {view.letter} …",
        key=f"compare.credit.{view.letter}",
    )


def _side(letter: str, checkpoint: Checkpoint, problem: str) -> SideView:
    key = group_key(checkpoint, problem)
    return SideView(letter, checkpoint, key, data.group(checkpoint.place.run, key))
