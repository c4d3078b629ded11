"""Further signals on a page: computed when somebody asks for one, carried to the heatmap apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from hara_viz.analysis.signals import (
    CHANNELS,
    SIGNALS,
    advantages_of,
    channel_values,
    channels_of,
    evaluate,
    lengths_of,
)
from hara_viz.backend.further_signals import (
    Asked,
    further_of,
    further_values,
    further_values_at,
    is_further,
)
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey
from hara_viz.ui import drawer
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.words import inert


class FurtherChannel(NamedTuple):
    """What a further signal brings."""

    values: np.ndarray | None
    """[N]; None: not there (yet)."""
    note: str = ""
    """Why it is not; empty while it is on its way."""


def further_channel(view: GroupView, name: str) -> FurtherChannel:
    """The channel of a further signal, computed here if that is quick, else beside the app."""
    try:
        further = further_of(view.run, name)
        small = sum(lengths_of(view.group)) <= drawer.LIVE_TOKENS
        if small or further is None or further.is_read:
            return FurtherChannel(_live(*view.identity, name, view.asked))
        future = begun(further_values_at, str(view.run.path), *view.identity[1:], name)
        return FurtherChannel(future.result() if future.done() else None)
    except (HaraError, RuntimeError) as error:
        return FurtherChannel(None, str(error))


def values_of(view: GroupView, name: str) -> np.ndarray | None:
    """The values [N] of any signal, a further one too; None if it is not there (yet)."""
    if name in SIGNALS:
        return view.values(name)
    signal, own = view.signal(name), further_channel(view, name).values
    if signal is None or own is None:
        return None
    group, credit = view.group, view.credit.credit
    channels = {c: channel_values(c, group, credit) for c in channels_of(signal) if c in CHANNELS}
    known = {c: values for c, values in channels.items() if values is not None}
    return evaluate(signal, known | {name: own}, advantages_of(group, credit))


def wait_for_further(view: GroupView, names: set[str]) -> None:
    """Say what is on its way, or why it is not; the page runs again once it is there."""
    for name in sorted(filter(is_further, names)):
        signal, found = view.signal(name), further_channel(view, name)
        if signal is None:
            st.caption(inert(f"This run knows no signal {name!r}; another one is shown."))
        elif found.note:
            st.caption(inert(found.note, 600))
        elif found.values is None:
            future = begun(further_values_at, str(view.run.path), *view.identity[1:], name)
            renew_when_done(future, f"Computing {signal.label} …", key=f"further.{name}")


@st.cache_resource(max_entries=32, show_spinner="Computing a signal …")
def _live(
    run: str,
    stamp: int,
    key: GroupKey,
    config: str,
    layer: int | None,
    name: str,
    _asked: Asked,
) -> np.ndarray:
    return further_values(_asked, name)
