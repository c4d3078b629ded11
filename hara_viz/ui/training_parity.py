"""Is what the heatmap shows what the optimizer got? Recorded against recomputed, for one step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from hara_viz.backend.recorded import TOLERANCE, Parity, check_step_at
from hara_viz.ui import data, state
from hara_viz.ui.side_work import computed, is_computed
from hara_viz.ui.training_data import StepView
from hara_viz.ui.words import count, inert

_ASKED = "hara.parity_asked"


def parity_panel(view: StepView) -> None:
    """Check the advantages of the step, or say why that is not possible."""
    reasons = view.uncheckable()
    for reason, n_groups in Counter(filter(None, reasons)).items():
        st.info(inert(f"{count(n_groups, 'group')}: {reason}", 600), icon=":material/info:")
    if all(reasons):
        return
    if view.config is not None:
        st.button(
            "Use the trainer's credit settings",
            key="training.use_config",
            on_click=_use_trainers_settings,
            args=(view,),
            help="So that all pages compute the credit that this training used",
        )
    asked = (view.name, view.step)
    arguments = (str(view.run.path), data.run_stamp(view.name), view.step)
    wanted = st.session_state.get(_ASKED) == asked or is_computed(check_step_at, *arguments)
    if not wanted:
        st.button(
            f"Compute {count(reasons.count(''), 'group')} again and compare",
            key="training.check",
            on_click=lambda: st.session_state.update({_ASKED: asked}),
        )
        return
    found = computed(
        check_step_at, *arguments, message="Computing the step again …", key="training.parity"
    )
    if found is not None:
        _verdict(found)


def _verdict(found: Sequence[Parity]) -> None:
    checked = [parity for parity in found if parity.difference is not None]
    apart = [parity for parity in checked if not parity.holds]
    largest = max((parity.difference or 0.0 for parity in checked), default=0.0)
    tokens = sum(parity.n_tokens for parity in checked)
    if not apart:
        st.success(
            f"The optimizer got what is computed here: the advantages of {tokens:,} tokens in "
            f"{count(len(checked), 'group')} differ by at most {largest:.2g} "
            f"(equal means {TOLERANCE:g} or less).",
            icon=":material/check:",
        )
        return
    st.error(
        f"{len(apart)} of {count(len(checked), 'group')} differ, by up to {largest:.2g}: another "
        "device or release of torch rounds otherwise, another release of hara-viz may solve "
        "otherwise; compare on the machine that trained.",
        icon=":material/error:",
    )


def _use_trainers_settings(view: StepView) -> None:
    config = view.config
    if config is not None and view.run.info.training is not None:
        state.update(credit=config, layer=view.run.info.training.layer)
