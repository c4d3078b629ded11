"""The selected group with its credit, as the parts of a page need it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import streamlit as st

from hara_viz.analysis.signals import SIGNALS, Signal, lengths_of, signal_values
from hara_viz.backend.credit import GroupCredit, default_layer
from hara_viz.backend.further_signals import Asked, further_of
from hara_viz.backend.runs import Run
from hara_viz.backend.side_calls import credit_group_at
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, HiddenStates, Rollout, RolloutGroup, is_success
from hara_viz.ui import data, drawer, state
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import inert


class GroupColumns:
    """The signals of a group's tokens, each computed once. A page asks for dozens in one run."""

    def __init__(self, found: GroupCredit) -> None:
        self._found = found
        self._values: dict[str, np.ndarray | None] = {}
        self._ranked: dict[str, np.ndarray] = {}

    def values(self, name: str) -> np.ndarray | None:
        """[N]; None if the group lacks it."""
        if name not in self._values:
            self._values[name] = signal_values(name, self._found.group, self._found.credit)
        return self._values[name]

    def ranked(self, name: str) -> np.ndarray:
        """The known values in order."""
        if name not in self._ranked:
            values = self.values(name)
            known = np.empty(0) if values is None else values[~np.isnan(values)]
            self._ranked[name] = np.sort(known)
        return self._ranked[name]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group, its credit, and what is selected in it."""

    run: Run
    run_name: str
    stamp: int
    """When the run last changed."""
    key: GroupKey
    group: RolloutGroup
    credit: GroupCredit
    config: CreditConfig
    """The config that `credit` was computed with."""
    layer: int | None
    """The layer asked for; None: the highest one."""
    columns: GroupColumns
    refused: str | None
    """Why the config asked for could not be computed; `credit` is then uniform GRPO."""

    @property
    def offsets(self) -> list[int]:
        """[G+1]: rollout g owns packed values offsets[g] : offsets[g+1]."""
        return [0, *accumulate(lengths_of(self.group))]

    @property
    def samples(self) -> list[int]:
        """Sample numbers, in the order of the rows."""
        return [rollout.sample for rollout in self.group.rollouts]

    def row_of(self, sample: int | None) -> int | None:
        """The row of a sample number; None if it has none."""
        return self.samples.index(sample) if sample in self.samples else None

    def success(self, rollout: Rollout) -> bool | None:
        """Whether a rollout is right; None: unscored."""
        return is_success(rollout.reward, self.config.success_threshold)

    def signal(self, name: str) -> Signal | None:
        """The definition of a signal, a further one too; None if this run knows none."""
        further = None if name in SIGNALS else further_of(self.run, name)
        return SIGNALS.get(name) if further is None else further.signal

    def values(self, signal: str) -> np.ndarray | None:
        """A signal per token [N] as it was computed, not to be written to; None if the group lacks
        it. Further signals have values of their own (`ui.further`).
        """
        return self.columns.values(signal) if signal in SIGNALS else None

    @property
    def file_stem(self) -> str:
        """How the names of its downloads begin: two groups never share one."""
        step, problem, group = self.key
        parts = [self.run_name.replace("/", "-"), problem]
        parts += [] if step is None else [f"step{step}"]
        parts += [f"group{group}"] if group else []
        return "-".join(parts)

    def states(self) -> HiddenStates | None:
        """The hidden states of the layer asked for, or of the highest one; None: none are kept."""
        layer = default_layer(self.run) if self.layer is None else self.layer
        return None if layer is None else self.run.load_states(self.key, layer)

    def share_below(self, signal: str, value: float) -> float | None:
        """The share in [0, 1] of the group's tokens with a smaller value; None where unknown."""
        ranked = self.columns.ranked(signal)
        if np.isnan(value) or not ranked.size:
            return None
        return float(np.searchsorted(ranked, value)) / ranked.size

    @property
    def identity(self) -> tuple[str, int, GroupKey, str, int | None]:
        """Run, its stamp, group, config, layer: equal ones, equal numbers."""
        return self.run_name, self.stamp, self.key, self.config.to_json(), self.layer

    @property
    def asked(self) -> Asked:
        """The group as further signals are computed for it."""
        return Asked(self.run, self.group, self.config, self.layer)


def selected_group() -> GroupView | None:
    """The selected group with its credit; None if the run holds no group."""
    selection = state.current()
    if selection.run is None or selection.problem is None:
        return None
    run = data.run(selection.run)
    key = GroupKey(selection.global_step, selection.problem, selection.group)
    config = data.for_run(selection.credit, run)
    credit, refused = None, None
    try:
        credit = _credit(run, selection.run, key, config, selection.layer)
    except HaraError as error:
        refused = str(error)
    if credit is None:
        config = CreditConfig(signal="uniform", success_threshold=config.success_threshold)
        credit = data.group_credit(selection.run, key, config, selection.layer)
    stamp, layer = data.run_stamp(selection.run), selection.layer
    columns = _columns(selection.run, stamp, key, config.to_json(), layer, credit)
    return GroupView(
        run=run,
        run_name=selection.run,
        stamp=stamp,
        key=key,
        group=credit.group,
        credit=credit,
        config=config,
        layer=layer,
        columns=columns,
        refused=refused,
    )


def _credit(
    run: Run, name: str, key: GroupKey, config: CreditConfig, layer: int | None
) -> GroupCredit | None:
    """Computed here if that is quick, else in the side process; None: stopped there."""
    n_tokens = sum(lengths_of(data.group(name, key)))
    if n_tokens <= drawer.LIVE_TOKENS or config.signal == "uniform":
        return data.group_credit(name, key, config, layer)
    return computed(
        credit_group_at,
        str(run.path),
        data.run_stamp(name),
        key,
        config.to_json(),
        layer,
        message=f"Computing the credit of {n_tokens:,} tokens …",
        key="credit.group",
    )


def refusal(view: GroupView) -> None:
    """Say why the credit that was asked for is not shown."""
    if view.refused:
        st.warning(inert(view.refused, 600) + ". Shown instead: uniform GRPO.")


@st.cache_resource(max_entries=32, show_spinner=False)
def _columns(
    run: str, stamp: int, key: GroupKey, config: str, layer: int | None, _found: GroupCredit
) -> GroupColumns:
    return GroupColumns(_found)
