"""What is asked for -> what exists: each step gives a selection and a sentence per disappointment.

Pure; no Streamlit. The sentences may quote a link, so they are hostile until escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from hara_viz.analysis.figures import MIXED
from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.further_signals import FURTHER, is_further
from hara_viz.ui.selection import DEFAULT, Selection
from hara_viz.ui.words import clipped, count

Fitted = tuple[Selection, tuple[str, ...]]


def fit_runs(selection: Selection, names: Sequence[str]) -> Fitted:
    """Keep the runs that exist; the first of all if none is left."""
    known = tuple(name for name in selection.runs if name in names)
    if not known and names:
        known = (names[0],)
    shown = repr(known[0]) if known else "nothing"
    complaints = tuple(
        f"There is no run {clipped(name)} in the runs folder; {shown} is shown."
        for name in dict.fromkeys(selection.runs)
        if name not in names
    )
    return replace(selection, runs=known), complaints


def fit_group(selection: Selection, groups: pd.DataFrame) -> Fitted:
    """Keep a group that exists; else another group of the problem, a mixed one, the first.

    Args:
        selection: as asked for.
        groups: as `analysis.figures.group_table` gives them.
    """
    if groups.empty:
        return replace(
            selection, problem=None, group=0, among=(), paths=(), sample=None, token=None
        ), ()
    keys = [group_key(row) for row in groups.itertuples()]
    if (selection.global_step, selection.problem, selection.group) in keys:
        return selection, ()
    # A step that exists outweighs a problem: each step of a training may draw other problems.
    known = list(zip(keys, groups["outcome"], strict=True))
    of_step = [(key, outcome) for key, outcome in known if key[0] == selection.global_step]
    choice = of_step if of_step and selection.global_step is not None else known
    of_problem = [key for key, _ in choice if key[1] == selection.problem]
    mixed = [key for key, outcome in choice if outcome == MIXED]
    step, problem, group = (of_problem or mixed or [choice[0][0]])[0]
    found = replace(selection, global_step=step, problem=problem, group=group)
    if selection.problem is not None and not of_problem:
        found = replace(found, among=(), paths=(), sample=None, token=None)
    # Naming a problem alone is enough where it has one group.
    vague = (selection.global_step, selection.group) == (DEFAULT.global_step, DEFAULT.group)
    if selection.problem is None or (of_problem and vague):
        return found, ()
    at_step = "" if selection.global_step is None else f" at step {selection.global_step}"
    return found, (
        f"This run holds no group {selection.group} of problem {selection.problem!r}{at_step}; "
        "another one is shown.",
    )


def fit_token(selection: Selection, lengths: Mapping[int, int]) -> Fitted:
    """Keep a rollout and a token that the group has.

    Args:
        selection: as asked for.
        lengths: sample number -> tokens of its completion.
    """
    sample, token = selection.sample, selection.token
    if sample is not None and sample not in lengths:
        return replace(selection, sample=None, token=None), (
            f"This group has no rollout {sample}; its rollouts are {min(lengths)} to "
            f"{max(lengths)}.",
        )
    if token is None:
        return selection, ()
    if sample is None:
        return replace(selection, token=None), ("A token needs its rollout; name that, too.",)
    if token >= lengths[sample]:
        return replace(selection, token=None), (
            f"Rollout {sample} has {count(lengths[sample], 'token')}, counted from 0; there is no "
            f"token {token}.",
        )
    return selection, ()


def fit_among(selection: Selection, lengths: Mapping[int, int]) -> Fitted:
    """Keep the rollouts of a filter that the group has; `lengths` as in `fit_token`."""
    known, missing = _known_samples(selection.among, lengths)
    if not missing:
        return selection, ()
    shown = "the others are shown" if known else "all are shown"
    return replace(selection, among=known), (
        f"The link narrows the page to rollouts that this group has not: {missing}; {shown}.",
    )


def fit_paths(selection: Selection, lengths: Mapping[int, int]) -> Fitted:
    """Keep the rollouts to be drawn as paths that the group has."""
    known, missing = _known_samples(selection.paths, lengths)
    if not missing:
        return selection, ()
    return replace(selection, paths=known), (
        f"The link asks for paths of rollouts that this group has not: {missing}.",
    )


def _known_samples(
    samples: Sequence[int], lengths: Mapping[int, int]
) -> tuple[tuple[int, ...], str]:
    """Those that the group has, and the others in words."""
    known = tuple(sample for sample in samples if sample in lengths)
    missing = ", ".join(str(sample) for sample in samples if sample not in lengths)
    return known, clipped(missing) if missing else ""


def fit_layer(selection: Selection, layers: Sequence[int]) -> Fitted:
    """Keep a layer whose states the run holds."""
    if selection.layer is None or selection.layer in layers:
        return selection, ()
    held = ", ".join(map(str, layers)) or "none"
    return replace(selection, layer=None), (
        f"This run holds no states of layer {selection.layer}; layers kept: {held}.",
    )


def fit_signals(selection: Selection) -> Fitted:
    """Keep signals that exist."""
    names = (*SIGNALS, *(further.signal.name for further in FURTHER))
    complaints = tuple(
        f"There is no signal {name!r}; there are {', '.join(dict.fromkeys(names))}."
        for name in (selection.signal, selection.underline)
        if name is not None and not _is_signal(name)
    )
    signal = selection.signal if _is_signal(selection.signal) else DEFAULT.signal
    underline = selection.underline
    if underline is not None and not _is_signal(underline):
        underline = None
    return replace(selection, signal=signal, underline=underline), complaints


def _is_signal(name: str) -> bool:
    return name in SIGNALS or is_further(name)


def group_key(row: object) -> tuple[int | None, str, int]:
    """(global_step, problem_id, group) of a row of `itertuples()`."""
    step = getattr(row, "global_step", None)
    known = None if step is None or pd.isna(step) else int(step)
    return known, getattr(row, "problem_id", ""), int(getattr(row, "group", 0))
