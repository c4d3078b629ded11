"""Model text is hostile: how it is shown so that it stays text."""

from __future__ import annotations

import unicodedata

# Joiners are invisible but make letters and emoji: Persian, Hindi, families.
_JOINERS = {"\u200c", "\u200d"}
_UNSAFE = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}


def inert(text: str) -> str:
    """`text` with nothing invisible left that acts: only newlines and tabs pass.

    Control codes, direction overrides, other invisible marks, halves of surrogate pairs and
    unassigned code points become `‹U+001B›`, so an ANSI sequence is seen, not obeyed. (The control
    pictures of Unicode would be shorter, but many fonts lack them.)
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def plain(text: str) -> str:
    """`text` on one line for a terminal: like `inert`, newlines as ⏎ and tabs as ⇥."""
    return inert(text).replace("\n", "⏎").replace("\t", "⇥")


def _shown(char: str) -> str:
    if char in "\n\t" or char in _JOINERS or unicodedata.category(char) not in _UNSAFE:
        return char
    return f"‹U+{ord(char):04X}›"
