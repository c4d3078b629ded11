"""The way back in the credit drawer: what differs from the default, and the last change undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError
from hara_viz.ui.fields import DEFAULT, changed_fields

Propose = Callable[[CreditConfig], None]

_PAST, _LAST = "hara.credit_past", "hara.credit_last"
_MOST = 50
"""Changes that can be taken back."""


def changes_row(shown: CreditConfig, labels: Mapping[str, str], propose: Propose) -> None:
    """One button per setting that differs from its default, one for all of them, and Undo.

    A change made elsewhere (the Learn page, a link, a preset) can be taken back as well.

    Args:
        shown: the config that the drawer shows.
        labels: what the drawer calls its settings.
        propose: takes up a config.
    """
    _remember(shown)
    changed = changed_fields(shown)
    past = st.session_state.get(_PAST, [])
    # The place is always there, so that the widgets below it keep theirs.
    with st.container(key="credit.changes", gap="xxsmall"):
        if changed:
            st.caption("Differs from the default:")
        for name in changed:
            value = words_of(getattr(shown, name))
            st.button(
                f"{labels.get(name, name.replace('_', ' '))}: {value}",
                icon=":material/restart_alt:",
                key=f"credit.reset.{name}",
                type="tertiary",
                help=f"Back to the default, {words_of(getattr(DEFAULT, name))}",
                on_click=propose,
                args=(replace_by_default(shown, name),),
            )
        with st.container(horizontal=True, gap="small"):
            if past:
                st.button(
                    "Undo",
                    icon=":material/undo:",
                    key="credit.undo",
                    help="Takes the last change of the credit settings back",
                    on_click=_undo,
                    args=(propose,),
                )
            if changed:
                st.button(
                    "All to the default",
                    icon=":material/restart_alt:",
                    key="credit.reset",
                    on_click=propose,
                    args=(DEFAULT,),
                )


def replace_by_default(config: CreditConfig, name: str) -> CreditConfig:
    """`config` with one setting at its default; with all of them, where that alone cannot be. Pure.

    Settings can hang on each other, and a default that fits no other value is none to offer.
    """
    try:
        return replace(config, **{name: getattr(DEFAULT, name)})
    except ConfigError:
        return DEFAULT


def words_of(value: Any) -> str:
    """A setting's value as a reader wants it. Pure."""
    if isinstance(value, Mapping):
        return ", ".join(f"{share:g} {level}" for level, share in value.items())
    if isinstance(value, tuple):
        return " to ".join(f"{part:g}" for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")


def _remember(shown: CreditConfig) -> None:
    """Keep the config before this one, wherever the change came from."""
    last = st.session_state.get(_LAST)
    if last is not None and last != shown:
        st.session_state[_PAST] = [*st.session_state.get(_PAST, []), last][-_MOST:]
    st.session_state[_LAST] = shown


def _undo(propose: Propose) -> None:
    *past, before = st.session_state[_PAST]
    st.session_state[_PAST], st.session_state[_LAST] = past, before  # no change to be undone again
    propose(before)
