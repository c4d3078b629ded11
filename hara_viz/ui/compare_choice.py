"""What is compared: the runs, and the two checkpoints A and B.

All of it rides in `Selection.runs`, so that a link restores it: the first is the run that other
pages show, the others are compared, the first two of them as A and B. Where a link names none, the
runs on the same problem set are compared, from the first checkpoint of the shown run's series to
its last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from hara_viz.backend.compare import Checkpoint, RunGroups, outline
from hara_viz.backend.runs import RunSummary
from hara_viz.types import GroupKey
from hara_viz.ui import data, state
from hara_viz.ui.compare_reads import OpenRun, Reads, known_reads, open_runs
from hara_viz.ui.widgets import show
from hara_viz.ui.words import count

MOST = 40
"""Runs that are compared unasked."""
_STEPS = "hara.compare_steps"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the views of the page compare."""

    runs: dict[str, OpenRun]
    """By name, in the order of the selection."""
    checkpoints: tuple[Checkpoint, ...]
    a: Checkpoint
    b: Checkpoint
    reads: Reads

    def showing(self, run: str, key: GroupKey | None = None) -> dict[str, object]:
        """The move that shows a run, and a group of it, elsewhere; what is compared stays."""
        ends = (self.a.place.run, self.b.place.run)
        others = (name for name in self.runs if name not in ends)
        move: dict[str, object] = {"runs": (run, *ends, *others)}
        if key is not None:
            named = zip(("global_step", "problem", "group"), key, strict=True)
            move |= dict(named)
        return move


def chosen_runs() -> Chosen | None:
    """Draw the choice; None, with the reason on the page, where there is nothing to compare."""
    summaries = [s for s in data.runs() if s.error is None and s.n_groups]
    names = compared(state.current().runs, summaries)
    known = {summary.name for summary in summaries}
    names = tuple(name for name in names if name in known)
    if not names:
        st.info("No run holds a finished group yet; the Runs page starts one.")
        return None
    runs = open_runs(names)
    reads = known_reads(runs.values())
    stamps = tuple(opened.stamp for opened in runs.values())
    checkpoints = _checkpoints(names, stamps, reads.key, _reads=reads)
    a, b = pair(state.current().runs[1:3], checkpoints, st.session_state.get(_STEPS, {}))
    left, middle, right = st.columns([3, 3, 2], gap="small", vertical_alignment="bottom")
    with left:
        _place_box("A", a, checkpoints)
    with middle:
        _place_box("B", b, checkpoints)
    with right, st.popover(f"{count(len(names), 'run')} compared", width="stretch"):
        _runs_box(names, [summary.name for summary in summaries])
    return Chosen(runs, checkpoints, a, b, reads)


def compared(runs: Sequence[str], summaries: Sequence[RunSummary]) -> tuple[str, ...]:
    """The runs to compare, each once. Pure.

    Args:
        runs: as selected: the shown run, then those that were chosen.
        summaries: of all runs that can be compared.
    """
    if len(runs) > 1:
        return tuple(dict.fromkeys(runs[1:]))
    shown = next((s for s in summaries if s.name in runs), None)
    if shown is None or shown.info is None:
        return tuple(runs)
    problems, series = shown.info.problem_set, shown.info.series
    related = [s for s in summaries if s.info and s.info.problem_set == problems and problems]
    if not related:
        return (shown.name,)
    own = [s.name for s in related if s.info and series and s.info.series == series]
    return tuple(dict.fromkeys([*own, shown.name, *(s.name for s in related)]))[:MOST]


def pair(
    names: Sequence[str], checkpoints: Sequence[Checkpoint], steps: dict[str, int | None]
) -> tuple[Checkpoint, Checkpoint]:
    """Checkpoints A and B. Pure.

    Args:
        names: the runs asked for as A and B; fewer than two: the ends of the first series.
        checkpoints: by series and step.
        steps: "A" and "B" -> the training step last chosen, for runs that hold several.
    """
    first = checkpoints[0]
    of_series = [c for c in checkpoints if c.series == first.series]
    ends = (of_series[0], of_series[-1] if len(of_series) > 1 else checkpoints[-1])
    if len(names) < 2:
        return ends
    found = [
        _of_run(name, checkpoints, steps.get(letter, 0), last=letter == "B")
        for letter, name in zip("AB", names, strict=False)
    ]
    return found[0] or ends[0], found[1] or ends[1]


def _of_run(
    name: str, checkpoints: Sequence[Checkpoint], step: int | None, *, last: bool
) -> Checkpoint | None:
    own = [c for c in checkpoints if c.place.run == name]
    exact = [c for c in own if c.place.step == step]
    return (exact or own[-1:] if last else exact or own[:1] or [None])[0] if own else None


def _place_box(letter: str, here: Checkpoint, checkpoints: Sequence[Checkpoint]) -> None:
    key = f"compare.{letter}"
    labels = {c.place: c.label for c in checkpoints}
    show(key, here.place)
    st.selectbox(
        f"Checkpoint {letter}",
        list(labels),
        key=key,
        format_func=lambda place: labels.get(place, str(place)),
        on_change=_take_place,
        args=(letter, [c.place.run for c in checkpoints]),
    )


def _take_place(letter: str, runs: Sequence[str]) -> None:
    chosen = {name: st.session_state[f"compare.{name}"] for name in "AB"}
    st.session_state[_STEPS] = {name: place.step for name, place in chosen.items()}
    ends = [place.run for place in chosen.values()]
    others = [name for name in dict.fromkeys(runs) if name not in ends]
    state.update(runs=(state.current().run or ends[0], *ends, *others))


def _runs_box(names: Sequence[str], all_names: Sequence[str]) -> None:
    show("compare.runs", list(names))
    st.multiselect(
        "Runs that are compared",
        all_names,
        key="compare.runs",
        on_change=_take_runs,
        help="Problems are paired by their text and gold answer, whatever file they came from",
    )
    st.button("The runs on the same problems", key="compare.related", on_click=_take_related)


def _take_runs() -> None:
    names = tuple(st.session_state["compare.runs"])
    shown = state.current().run
    # One run alone is compared with itself: the list would otherwise mean "choose for me".
    state.update(runs=(shown or names[0], *(names if len(names) > 1 else names * 2)) if names else
                 (shown,))  # fmt: skip


def _take_related() -> None:
    state.update(runs=state.current().runs[:1])


@st.cache_resource(max_entries=16, show_spinner=False)
def _checkpoints(
    names: tuple[str, ...],
    stamps: tuple[int, ...],
    read: tuple[str, ...],
    _reads: Reads,
) -> tuple[Checkpoint, ...]:
    return outline([run_groups_of(name) for name in names], _reads.by_run)


def run_groups_of(name: str) -> RunGroups:
    """A run as it is compared, from the cached tables."""
    run = data.run(name)
    return RunGroups(name=name, path=run.path, info=run.info, groups=data.run_table(name).groups)


def place_of(chosen: Chosen, checkpoint: Checkpoint) -> int:
    """Where a checkpoint stands among those compared."""
    return chosen.checkpoints.index(checkpoint)


def group_key(checkpoint: Checkpoint, problem: str) -> GroupKey:
    """The key of a checkpoint's (first) group of a problem, as its run has it."""
    names: list[str] = checkpoint.problems["problem_id"].tolist()
    number = int(checkpoint.problems["group"].tolist()[names.index(problem)])
    exact = GroupKey(checkpoint.place.step, problem, number)
    known = data.run(checkpoint.place.run).keys()
    return exact if exact in known else exact._replace(global_step=None)
