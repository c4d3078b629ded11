"""Places of a rollout quoted with what stands around them."""

from __future__ import annotations

from hara_viz.analysis.spans import span_text
from hara_viz.types import Rollout
from hara_viz.ui.own_tokens import completion_token
from hara_viz.ui.words import one_line


def words_of_span(
    rollout: Rollout, start: int, stop: int, context: int = 28
) -> tuple[str, str, str]:
    """Text before, of and after tokens start … stop−1 of a completion, each on one line."""
    if rollout.cell_start is None:
        return "", "(not cut into cells)", ""
    parts = span_text(rollout.completion_text, rollout.cell_start, start, stop, context=context)
    before, inside, after = (marked(part) for part in parts)
    return before, one_line(inside, 160), after


def words_at(rollout: Rollout, own_token: int) -> tuple[str, str, str]:
    """The same for one own token, a row of the rollout's plan."""
    token = completion_token(rollout, own_token)
    return words_of_span(rollout, token, token + 1, context=20)


def token_text(rollout: Rollout, token: int) -> tuple[str, str, str]:
    """The text before, of and after a token's display cell; empty if it was never cut."""
    if rollout.cell_start is None:
        return "", "", ""
    return span_text(rollout.completion_text, rollout.cell_start, token, token + 1, context=28)


def marked(text: str) -> str:
    """Line ends and tabs as signs; blanks at the ends stay, so that words do not run together."""
    flat = one_line(text.replace("\n", "⏎").replace("\t", "⇥"))
    left = " " if text[:1] == " " else ""
    right = " " if text[-1:] == " " and len(text) > 1 else ""
    return f"{left}{flat}{right}"
