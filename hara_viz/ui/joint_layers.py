"""What lies on a map of many groups, from the side process: signals as colours, atoms on top."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.joint_marks import CreditOfRun, JointAtoms, joint_atoms
from hara_viz.backend.joint_signals import JointSignals, joint_signals
from hara_viz.components.embedding_map import MapAtom
from hara_viz.errors import HaraError
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.joint_data import ShownJoint, group_title
from hara_viz.ui.map_form import ALL_ATOMS, NO_ATOMS
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.words import inert

_SIGNALS = (
    "The credit of all these groups is being computed. Meanwhile the points are coloured by what "
    "needs none."
)
_ATOMS = "The barycenters are being computed and placed on the map."


def joint_credit(shown: ShownJoint) -> CreditOfRun:
    """The config of the drawer for each run of a map, with that run's own threshold of success."""
    names = {place.run_name: data.run(place.run_name) for place in shown.places}
    asked = state.current().credit
    return tuple((str(run.path), data.for_run(asked, run).to_json()) for run in names.values())


def shown_signals(shown: ShownJoint) -> JointSignals | None:
    """The signals of all points; None: none is the colour, or they are on their way."""
    if shown.form.colour not in SIGNALS:
        return None
    return _layer(joint_signals, (shown.request, joint_credit(shown)), _SIGNALS, "map.signals")


def shown_atoms(shown: ShownJoint, view: GroupView) -> JointAtoms | None:
    """The atoms that the form asks for; None: none, or they are on their way."""
    wanted = shown.form.atoms
    every = range(len(shown.places))
    places = tuple(i for i in every if wanted == ALL_ATOMS or shown.is_here(i, view))
    if wanted == NO_ATOMS or not places:
        return None
    asked = (shown.request, joint_credit(shown), places)
    return _layer(joint_atoms, asked, _ATOMS, "map.atoms")


def map_atoms(shown: ShownJoint, found: JointAtoms | None) -> tuple[MapAtom, ...]:
    """The atoms as the map draws them, with the words that stand for each."""
    if found is None:
        return ()
    columns = ("success", "atom", "x", "y", "place", "mentions")
    return tuple(
        MapAtom(
            success=bool(success),
            name=int(atom),
            text=_words(shown, int(place), mentions),
            x=float(x),
            y=float(y),
            group=group_title(shown, int(place)),
        )
        for success, atom, x, y, place, mentions in zip(
            *(found.table[name] for name in columns), strict=True
        )
    )


def about_atoms(shown: ShownJoint, found: JointAtoms | None) -> list[str]:
    """Sentences on the atoms: whose, how they were placed, who has none. Pure."""
    if found is None:
        return []
    n_groups = len(set(found.table["place"].tolist()))
    if not n_groups:
        return ["There are no atoms: no group asked for has a barycenter."]
    said = [
        f"Diamonds: {len(found.table):,} barycenter atoms of "
        f"{'the selected group' if shown.form.atoms != ALL_ATOMS else f'{n_groups} groups'}, "
        f"placed {found.how}; they took no part in the fit."
    ]
    if found.n_without:
        said.append(f"{found.n_without} groups have no barycenter.")
    return said


def _words(shown: ShownJoint, place: int, mentions: tuple[tuple[int, int], ...]) -> str:
    there = shown.places[place]
    rollouts = {r.sample: r for r in data.group(there.run_name, there.key).rollouts}
    found: dict[str, str] = {}
    for sample, token in mentions:
        word = words_of_span(rollouts[sample], token, token + 1)[1].strip() or "␣"
        found.setdefault(word.lower(), word)
    return " / ".join(found.values())


def _layer(function: Callable[..., Any], asked: tuple[Any, ...], message: str, key: str) -> Any:
    future = begun(function, *asked)
    if not future.done():
        renew_when_done(future, message, key=key)
        return None
    try:
        return future.result()
    except (HaraError, RuntimeError) as error:
        st.warning(inert(str(error), 600))
        return None
