"""One training step of the selected run, read once as long as the run does not change."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from hara_viz.backend.recorded import trainer_config, why_uncheckable
from hara_viz.backend.runs import Run, open_run
from hara_viz.credit import CreditConfig
from hara_viz.types import GroupKey, RolloutGroup
from hara_viz.ui import data, state


@dataclass(frozen=True, slots=True)
class StepView:
    """A step with its groups."""

    run: Run
    name: str
    step: int | None
    """None: the run names no steps, so all of it is one."""
    steps: tuple[int, ...]
    """All steps of the run, in order."""
    groups: tuple[RolloutGroup, ...]

    @property
    def config(self) -> CreditConfig | None:
        """What the trainer computed its credit with; None: no trainer recorded the run."""
        return trainer_config(self.run)

    @property
    def threshold(self) -> float:
        """From which reward on a rollout is right."""
        return self.run.info.success_threshold

    def uncheckable(self) -> list[str]:
        """Per group: why parity cannot be checked; empty: it can."""
        return list(_uncheckable(str(self.run.path), data.run_stamp(self.name), self.step))


def selected_step() -> StepView | None:
    """The selected step; None if the run holds no group."""
    selection = state.current()
    if selection.run is None or selection.problem is None:
        return None
    run, table = data.run(selection.run), data.run_table(selection.run).groups
    steps = tuple(sorted({int(step) for step in table["global_step"].dropna()}))
    return StepView(
        run=run,
        name=selection.run,
        step=selection.global_step,
        steps=steps,
        groups=_groups(str(run.path), data.run_stamp(selection.run), selection.global_step),
    )


@st.cache_resource(max_entries=8, show_spinner="Reading the step …")
def _groups(path: str, stamp: int, step: int | None) -> tuple[RolloutGroup, ...]:
    run = open_run(path)
    return tuple(run.load_group(key) for key in _keys(run, step))


@st.cache_resource(max_entries=8, show_spinner=False)
def _uncheckable(path: str, stamp: int, step: int | None) -> tuple[str, ...]:
    run = open_run(path)
    return tuple(why_uncheckable(run, group) for group in _groups(path, stamp, step))


def _keys(run: Run, step: int | None) -> list[GroupKey]:
    return [key for key in run.keys() if key.global_step == step]  # noqa: SIM118
