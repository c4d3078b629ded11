"""The one selection that rules the app, and how a move changes it. Pure; no Streamlit.

A selection names things, it never holds them: every page reads it, loads what it names and may
move it. None means "nothing chosen yet", which `fit` of the sidebar replaces by the first choice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from hara_viz.credit import CreditConfig
from hara_viz.ui.fields import LEVELS as LEVELS

# What a move invalidates: a token index means nothing in another rollout.
_DEPENDENTS: dict[str, tuple[str, ...]] = {
    "runs": ("global_step", "group", "among", "paths", "sample", "token", "layer"),
    "global_step": ("group", "among", "paths", "sample", "token"),
    "problem": ("group", "among", "paths", "sample", "token"),
    "group": ("among", "paths", "sample", "token"),
    "sample": ("token",),
    "signal": ("bounds",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is looked at. Defaults are what a link leaves out."""

    runs: tuple[str, ...] = ()
    """Run names below the runs folder; the first is the one that single-run pages show."""
    global_step: int | None = None
    """Training step, for runs that hold several."""
    problem: str | None = None
    """A problem_id."""
    group: int = 0
    among: tuple[int, ...] = ()
    """Samples that text and tables are narrowed to, as by a lasso, ascending; empty = all."""
    paths: tuple[int, ...] = ()
    """Samples whose paths are drawn on a map of states, ascending."""
    sample: int | None = None
    """The rollout's number in its group."""
    token: int | None = None
    """Position in the rollout's completion, from 0."""
    layer: int | None = None
    """Hidden-state layer; None = the last one that the run holds."""
    signal: str = "novelty"
    """Name of the signal that fills the token heatmap."""
    underline: str | None = None
    """Name of a second signal, drawn under the text."""
    granularity: str = "token"
    """How coarse signals are shown, one of LEVELS (computed is another matter: `credit`)."""
    bounds: tuple[float, float] | None = None
    """Colour domain; None = 2-98 % quantiles of the group."""
    credit: CreditConfig = field(default_factory=CreditConfig)

    @property
    def run(self) -> str | None:
        """The run that single-run pages show."""
        return self.runs[0] if self.runs else None


DEFAULT = Selection()


def move(selection: Selection, **changes: Any) -> Selection:
    """The selection after a move; what the move makes meaningless falls back to its default.

    The problem outlives a change of run: the same problem under another checkpoint is what one
    wants to see next.
    """
    changed = {name for name, value in changes.items() if getattr(selection, name) != value}
    stale = {dep for name in changed for dep in _DEPENDENTS.get(name, ())} - set(changes)
    return replace(selection, **changes, **{name: getattr(DEFAULT, name) for name in stale})


def differences(selection: Selection) -> dict[str, Any]:
    """The fields that are not at their default."""
    values = {f.name: getattr(selection, f.name) for f in fields(selection)}
    return {name: value for name, value in values.items() if value != getattr(DEFAULT, name)}
