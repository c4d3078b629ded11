"""Untrusted text and numbers, safe to show. Pure; no Streamlit.

Text of models, problems, links and files goes to `st.text`, `st.code`, data frames and components,
which show it as it is. Where Streamlit leaves no choice but Markdown (a warning, a label), it goes
through `inert`.
"""

from __future__ import annotations

import math
import re

# A word joiner after a colon keeps :emoji: and :material/icon: shortcodes apart, which Streamlit
# replaces after the escapes have been resolved.
_COLON = "\\:\u2060"
_MARKUP = re.compile(r"[!-/;-@\[-`{-~]")
_LONG = 1e9
"""From here on a float is written by its exponent: 1e308 has 309 digits."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def inert(text: str, limit: int = 300) -> str:
    """Markdown source that shows `text` literally, on one line, cut to `limit` characters."""
    one_line = _UNSEEN.sub(" ", text).strip()
    cut = one_line if len(one_line) <= limit else one_line[: limit - 1] + "…"
    return ":".join(_MARKUP.sub(r"\\\g<0>", part) for part in cut.split(":")).replace(":", _COLON)


def one_line(text: str, limit: int = 80) -> str:
    """`text` on one line without control characters, cut: for cells and option lists."""
    flat = " ".join(_UNSEEN.sub(" ", text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def clipped(text: str, limit: int = 60) -> str:
    """`text` in quotes for a sentence, cut: a link may hold 100 kB of it."""
    return repr(one_line(text, limit))


def number(value: float | int | None, digits: int = 3) -> str:
    """A number as a reader wants it: integers whole, unknown as a dash, -0 as 0."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and math.isfinite(value) and abs(value) >= _LONG:
        return f"{value:.{digits}g}".replace("-", "−")
    if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
        shown = f"{value:.{digits}g}" if abs(value) < 1e-3 else f"{value:.{digits}f}"
        return shown.replace("-", "−")
    return (f"{int(value)}" if math.isfinite(value) else str(value)).replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    """A number with its sign, for advantages."""
    shown = number(value, digits)
    return f"+{shown}" if value is not None and value > 0 else shown


def percent(share: float | None) -> str:
    """A share in [0, 1] as per cent, unknown as a dash."""
    return "–" if share is None or math.isnan(share) else f"{100 * share:.0f} %"


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 rollout, 3 rollouts."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
