"""What the comparison has read of the runs so far, and reading on in the side process.

Entropies and answers are read at once, for all runs together; novelty takes the credit of every
group, so it is computed when somebody asks, one run after the other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from hara_viz.backend.compare_credit import read_credit_at
from hara_viz.backend.compare_read import read_answers_at
from hara_viz.backend.runs import Run
from hara_viz.errors import HaraError
from hara_viz.ui import data, side_work, state
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.words import inert

LIVE_ROLLOUTS = 5000
"""Up to this many are read unasked."""
_KEPT = 256
_ASKED = "hara.compare_asked"


@dataclass(frozen=True, slots=True)
class Reads:
    """What is known beyond the summaries."""

    by_run: dict[str, pd.DataFrame]
    """By run name: entropy, answers, novelty, as far as they were read."""
    key: tuple[str, ...]
    """Names this state: equal keys, equal readings."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the side process that the page may wait for."""

    function: Callable[..., Any]
    arguments: tuple[Hashable, ...]

    def result(self) -> Any:
        """What it gave, if it is at hand; None otherwise."""
        return _shelf().get((self.function, self.arguments))

    def failure(self) -> str | None:
        """Why it failed; None: it did not."""
        return _failures().get((self.function, self.arguments))


class OpenRun(NamedTuple):
    """A run that is compared, looked up once for the whole page."""

    name: str
    run: Run
    stamp: int
    """When it last changed."""


def open_runs(names: Sequence[str]) -> dict[str, OpenRun]:
    """The runs of these names."""
    return {name: OpenRun(name, data.run(name), data.run_stamp(name)) for name in names}


def answers_step(opened: OpenRun) -> Step:
    """Reading the answers and entropies of a run."""
    return Step(read_answers_at, (str(opened.run.path), opened.stamp))


def credit_step(opened: OpenRun) -> Step:
    """Computing the credit of a run under the sidebar's config."""
    config = data.for_run(state.current().credit, opened.run).to_json()
    layer = state.current().layer
    layer = layer if layer in opened.run.layers else None
    return Step(read_credit_at, (str(opened.run.path), opened.stamp, config, layer))


def known_reads(runs: Iterable[OpenRun]) -> Reads:
    """Everything that has been read of these runs."""
    found: dict[str, pd.DataFrame] = {}
    marks: list[str] = []
    for opened in runs:
        step = credit_step(opened)
        answers, credit = answers_step(opened).result(), step.result()
        if answers is None and credit is None:
            continue
        tables = [t for t in (answers, None if credit is None else credit.groups) if t is not None]
        tables = [table.astype({"global_step": "Int64"}) for table in tables]
        keys = ["global_step", "problem_id", "group"]
        whole = tables[0] if len(tables) == 1 else tables[0].merge(tables[1], on=keys, how="outer")
        found[opened.name] = whole
        under = "" if credit is None else step.arguments[2:]
        marks.append(f"{opened.name}:{answers is not None}:{under}")
    return Reads(found, tuple(marks))


def take_steps(steps: Sequence[Step], what: str, key: str, unit: str = "runs") -> bool:
    """Go on with the first step that is missing, in the side process; True: all are at hand.

    What failed is said and skipped.
    """
    failed = [step for step in steps if step.failure()]
    for reason in dict.fromkeys(step.failure() or "" for step in failed):
        st.warning(inert(reason, 600))
    if failed:
        st.button("Try again", key=f"{key}.again", on_click=_forget, args=(failed,))
    missing = [s for s in steps if s.result() is None and s.failure() is None]
    if not missing:
        return True
    future = begun(missing[0].function, *missing[0].arguments)
    if future.done():
        _keep(missing[0], future)
        st.rerun()
    done = (
        f" ({len(steps) - len(missing)} of {len(steps)} {unit} are done)" if len(steps) > 1 else ""
    )
    renew_when_done(future, f"{what}{done} …", key=key)
    return False


def asked(what: str) -> bool:
    """Whether the reader asked for something that takes long, in this session."""
    return what in st.session_state.get(_ASKED, set())


def ask(what: str) -> None:
    """Ask for it: a button's callback."""
    st.session_state.setdefault(_ASKED, set()).add(what)


def _forget(steps: Sequence[Step]) -> None:
    for step in steps:
        _failures().pop((step.function, step.arguments), None)
        side_work.forget(step.function, *step.arguments)


def _keep(step: Step, future: Future[Any]) -> None:
    name = (step.function, step.arguments)
    try:
        _shelf()[name] = future.result()
        while len(_shelf()) > _KEPT:
            _shelf().popitem(last=False)
    except (HaraError, RuntimeError) as error:
        _failures()[name] = str(error)


@st.cache_resource(show_spinner=False)
def _shelf() -> OrderedDict[Hashable, Any]:
    return OrderedDict()


@st.cache_resource(show_spinner=False)
def _failures() -> dict[Hashable, str]:
    return {}
