"""A run without hidden states: the click and the very command that fill them in."""

from __future__ import annotations

import shlex

import streamlit as st

from hara_viz.backend.runs import Run


def explain_missing_states(run: Run) -> None:
    """What reads the run with its checkpoint, here and on the command line."""
    st.page_link(
        "pages/runs.py",
        label="Read the run with its checkpoint",
        icon=":material/visibility:",
        help="The Runs page, “Read with a checkpoint”",
    )
    st.code(states_command(run), language="bash", wrap_lines=True)


def states_command(run: Run) -> str:
    """The command that fills in hidden states, with the run's own checkpoint if it is known. Pure.

    To be pasted into a shell, so it is quoted for one.
    """
    model = "MODEL" if run.info.checkpoint is None else shlex.quote(run.info.checkpoint.path)
    return f"hara-viz states {shlex.quote(str(run.path))} --model {model}"
