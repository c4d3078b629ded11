"""What goes wrong while a page is drawn, as a sentence in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from hara_viz.errors import HaraError
from hara_viz.ui.words import inert


@contextmanager
def trouble_told() -> Iterator[None]:
    """Show why a run's files cannot be read, instead of the rest of the block.

    Streamlit would show a page without the reason: it keeps the messages of exceptions to itself.
    """
    try:
        yield
    except HaraError as error:
        _say(str(error))
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        _say(f"a file cannot be read:{where} {error.strerror or error}; choose another run")


def _say(text: str) -> None:
    st.error(inert(text[:1].upper() + text[1:], 600), icon=":material/error:")
