"""The Training page of a run that no trainer recorded: why it says little, what would fill it."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui.training_data import StepView

_TRY = """\
.venv/bin/pip install "hara-viz[trl]"   # once, if TRL is not there
.venv/bin/python -m examples.train_trl --steps 20 --out runs/trl-demo"""
_IMPORT = ".venv/bin/hara-viz import out/completions --out runs/grpo"


def is_recorded(view: StepView) -> bool:
    """Whether the run is a training's: a trainer recorded it, or it holds several of its steps."""
    return view.run.info.training is not None or len(view.steps) > 1


def explain_no_training() -> None:
    """Why there are no steps to go through, and the commands and clicks that bring some."""
    with st.container(border=True, key="training.empty"):
        st.markdown(
            "**This run was sampled from one checkpoint; no trainer recorded it.** So it has one "
            "step, and no advantages or weights that an optimizer got. What fills this page:"
        )
        st.markdown("A small training on the demo, about a minute on one core, seen as it goes:")
        st.code(_TRY, language="bash")
        st.markdown(
            "Your own training: `HaraGRPOTrainer` in place of TRL's `GRPOTrainer` (README, “HarA "
            "in a TRL run”), or what your trainer has written already:"
        )
        st.code(_IMPORT, language="bash")
        with st.container(horizontal=True):
            st.page_link(
                "pages/runs.py", label="Import rollouts here", icon=":material/upload_file:"
            )
            st.page_link(
                "pages/compare.py",
                label="Compare checkpoints of a training",
                icon=":material/difference:",
            )
