"""The checkpoints of a run's series, and which of them have read the selected group's text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from hara_viz.backend.aligned_map import text_readers
from hara_viz.backend.credit import default_layer
from hara_viz.backend.runs import RunSummary
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, RunInfo
from hara_viz.ui import data
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.launch import all_started, launch, launched
from hara_viz.ui.roots import roots
from hara_viz.ui.sample_jobs import model_of
from hara_viz.ui.words import count, inert

_PLACE = "map.reading"


@dataclass(frozen=True, slots=True)
class Reader:
    """A checkpoint that may have read the text."""

    fingerprint: str
    label: str
    """What it is called; hostile until escaped."""
    weights: str
    """Where it lies, as its run names it."""
    is_writer: bool
    """Whether it wrote the text."""


@dataclass(frozen=True, slots=True)
class SeriesText:
    """A group's rollouts, and the checkpoints of the series by training step."""

    layer: int | None
    """Whose states are asked for; None: the run keeps none at all."""
    read: tuple[Reader, ...]
    """Those under which the group's states of that layer are kept."""
    missing: tuple[Reader, ...]

    @property
    def is_alignable(self) -> bool:
        """Whether the same text was read by two at least."""
        return len(self.read) > 1


def series_text(view: GroupView) -> SeriesText:
    """Who has read the selected group's text."""
    layer = default_layer(view.run) if view.layer is None else view.layer
    readers = series_readers(view.run_name, data.runs())
    if layer is None:
        return SeriesText(None, (), readers)
    names = tuple(reader.fingerprint for reader in readers)
    read = _readers(view.run_name, data.run_stamp(view.run_name), view.key, layer, names)
    return SeriesText(
        layer,
        tuple(reader for reader in readers if reader.fingerprint in read),
        tuple(reader for reader in readers if reader.fingerprint not in read),
    )


def series_runs(run_name: str, summaries: Sequence[RunSummary]) -> tuple[str, ...]:
    """The runs of a run's series, itself too. Pure."""
    info = next((s.info for s in summaries if s.name == run_name), None)
    if info is None or info.series is None:
        return (run_name,)
    same = (s for s in summaries if s.error is None and s.info and s.info.series == info.series)
    return tuple(sorted({run_name, *(s.name for s in same)}))


def checkpoint_labels(infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """What the checkpoint of each run is called: its training step, or the run's name. Pure.

    The name where no step is known, or where another checkpoint has the same one.
    """
    of_step: dict[int | None, set[str]] = defaultdict(set)
    for name, info in infos.items():
        known = info.checkpoint.fingerprint if info.checkpoint else ""
        of_step[info.global_step].add(known or name)
    return {
        name: name
        if info.global_step is None or len(of_step[info.global_step]) > 1
        else f"step {info.global_step}"
        for name, info in infos.items()
    }


def series_readers(run_name: str, summaries: Sequence[RunSummary]) -> tuple[Reader, ...]:
    """The checkpoints of a run's series, each once, by training step. Pure."""
    names = series_runs(run_name, summaries)
    infos = {s.name: s.info for s in summaries if s.name in names and s.info is not None}
    own = infos[run_name].checkpoint if run_name in infos else None
    labels = checkpoint_labels(infos)
    found: dict[str, tuple[tuple[bool, int, str], Reader]] = {}
    for name, info in infos.items():
        if info.checkpoint is None or not info.checkpoint.fingerprint:
            continue
        step, fingerprint = info.global_step, info.checkpoint.fingerprint
        is_writer = own is not None and own.fingerprint == fingerprint
        reader = Reader(fingerprint, labels[name], info.checkpoint.path, is_writer)
        found.setdefault(fingerprint, ((step is None, step or 0, name), reader))
    return tuple(reader for _, reader in sorted(found.values(), key=lambda one: one[0]))


def offer_reading(view: GroupView, text: SeriesText) -> None:
    """Who has not read the text, and the button that lets them; silent if all have."""
    if not text.missing or text.layer is None:
        return
    who = ", ".join(inert(reader.label) for reader in text.missing)
    left, right = st.columns([3, 2], gap="small", vertical_alignment="center")
    left.caption(
        f"Not read by {who}. Reading takes the weights: one pass over this run's rollouts for "
        "each checkpoint, as jobs that go on when the browser is closed."
    )
    right.button(
        f"Let {count(len(text.missing), 'checkpoint')} read this run",
        key=_PLACE,
        icon=":material/visibility:",
        on_click=_read,
        args=(view, text),
    )
    launched(_PLACE)
    if all_started(_PLACE):
        st.fragment(_renew_when_read, run_every=2.0)(view, text)


def _renew_when_read(view: GroupView, text: SeriesText) -> None:
    """Draw the page anew once another checkpoint has read the group."""
    if series_text(view).read != text.read:
        st.rerun()


def _read(view: GroupView, text: SeriesText) -> None:
    arguments: list[dict[str, object]] = []
    refused: list[str] = []
    for reader in text.missing:
        try:
            model = model_of(reader.weights, roots())
        except HaraError as error:
            refused.append(f"{reader.label}: {error}")
            continue
        allowed = [str(root) for root in roots().allowed]
        call = {"run": str(view.run.path), "model": model, "layers": (text.layer,)}
        arguments.append({**call, "roots": allowed})
    if arguments:
        launch(_PLACE, "states", arguments)
    for why in refused:
        st.toast(inert(why, 300), icon=":material/error:")


@st.cache_data(max_entries=64, show_spinner=False)
def _readers(
    run: str, stamp: int, key: tuple[int | None, str, int], layer: int, names: tuple[str, ...]
) -> tuple[str, ...]:
    return text_readers(data.run(run), GroupKey(*key), layer, names)
