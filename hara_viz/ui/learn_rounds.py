"""The barycenter as it comes about: round by round, by hand or played."""

from __future__ import annotations

import streamlit as st

from hara_viz.backend.lesson import BarycenterFilm
from hara_viz.plots.lesson import barycenter_round
from hara_viz.ui.export_buttons import CHART
from hara_viz.ui.learn_formulas import objective, round_numbers
from hara_viz.ui.learn_view import LearnView
from hara_viz.ui.widgets import show

_ROUND, _PLAYING = "learn.round", "learn.playing"
_SECONDS = 0.8
"""How long a round is shown."""


def rounds(shown: LearnView, film: BarycenterFilm) -> None:
    """The picture of one round, with the controls that choose it."""
    playing = bool(st.session_state.get(_PLAYING))
    st.button(
        "Stop" if playing else "Play the rounds",
        key="learn.play",
        on_click=_turn,
        args=(film.n_rounds, not playing),
        icon=":material/stop:" if playing else ":material/play_arrow:",
        shortcut="p",
    )
    # Outside of the fragment, so that a press starts or stops its clock.
    st.fragment(_round, run_every=_SECONDS if playing else None)(shown, film)


def _turn(n_rounds: int, playing: bool) -> None:
    st.session_state[_PLAYING] = playing
    if playing and st.session_state.get(_ROUND, n_rounds) >= n_rounds:
        st.session_state[_ROUND] = -1  # the first tick shows the start


def _round(shown: LearnView, film: BarycenterFilm) -> None:
    at_round = min(st.session_state.get(_ROUND, film.n_rounds), film.n_rounds)
    if st.session_state.get(_PLAYING):
        at_round = min(at_round + 1, film.n_rounds)
        if at_round == film.n_rounds:
            st.session_state[_PLAYING] = False
            st.session_state[_ROUND] = at_round
            st.rerun()
    show(_ROUND, at_round, 0, film.n_rounds)
    at_round = st.slider("Round", 0, film.n_rounds, key=_ROUND)
    place = film.rows.index(shown.row)
    plan = None if at_round == 0 else film.plans[at_round - 1][place]
    trail = film.atoms[: at_round + 1]
    figure = barycenter_round(film.tokens, place, shown.words, trail, plan)
    st.plotly_chart(figure, key="learn.barycenter", width="stretch", config=CHART)
    st.latex(objective(shown))
    st.caption(round_numbers(film, at_round))
