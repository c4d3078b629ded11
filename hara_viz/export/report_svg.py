"""Figures of a report as SVG text: no script, no fonts, colours by class so that both themes work.

Every text passes through `svg_text`; numbers alone are written as they are.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

from hara_viz.analysis.bootstrap import Interval
from hara_viz.text import inert

_WIDTH, _HEIGHT = 290, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 26, 26
_CELL = 46


def svg_text(text: str) -> str:
    """Text as an element's content."""
    return html.escape(inert(text).replace("\n", "⏎"))


def curve_svg(
    title: str,
    lines: Sequence[tuple[Sequence[float], Sequence[Interval]]],
    *,
    is_share: bool,
) -> str:
    """One box of learning curves.

    Args:
        title: what is drawn.
        lines: per series, steps and points; the class of a line is s0, s1, …
        is_share: mark the axis in per cent.
    """
    known = [
        [(step, point) for step, point in zip(steps, points, strict=True) if point.n]
        for steps, points in lines
    ]
    flat = [(step, point) for line in known for step, point in line]
    if not flat:
        return ""
    xs = [step for step, _ in flat]
    ends = [e for _, p in flat for e in (p.value, p.low, p.high) if math.isfinite(e)]
    x = _Scale(min(xs), max(xs), _LEFT, _WIDTH - _RIGHT)
    y = _Scale(min(ends), max(ends), _HEIGHT - _BOTTOM, _TOP)
    parts = [f'<text class="title" x="{_LEFT}" y="15">{svg_text(title)}</text>']
    for tick in y.ticks():
        shown = f"{round(100 * tick, 6):g} %" if is_share else f"{tick:.3g}"
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
                     f'y1="{y.at(tick)}" y2="{y.at(tick)}"/>')  # fmt: skip
        parts.append(f'<text class="tick end" x="{_LEFT - 5}" y="{y.at(tick) + 4}">{shown}</text>')
    for step in sorted(set(xs)):
        parts.append(
            f'<text class="tick middle" x="{x.at(step)}" y="{_HEIGHT - 8}">{step:g}</text>'
        )
    for number, line in enumerate(known):
        parts += _line(line, x, y, number)
    return _svg(_WIDTH, _HEIGHT, title, parts)


def matrix_svg(title: str, values: np.ndarray, names: Sequence[str], digits: int = 3) -> str:
    """A square of numbers, darker = larger; NaN stays blank."""
    labels = [name if len(name) <= 26 else f"{name[:25]}…" for name in names]
    left = 12 + 6 * max((len(label) for label in labels), default=0)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    parts = [f'<text class="title" x="0" y="15">{svg_text(title)}</text>']
    for i, label in enumerate(labels):
        y = 28 + 24 * i
        parts.append(
            f'<text class="tick end" x="{left - 6}" y="{y + 16}">{i + 1} {svg_text(label)}</text>'
        )
        for j, value in enumerate(values[i]):
            if not math.isfinite(value):
                continue
            share = (value - low) / (high - low) if high > low else 0.0
            x = left + _CELL * j
            parts.append(
                f'<rect class="cell" x="{x}" y="{y}" width="{_CELL - 1}" height="23" '
                f'fill-opacity="{0.08 + 0.5 * share:.3f}"/>'
                f'<text class="tick middle" x="{x + _CELL / 2}" y="{y + 16}">'
                f"{value:.{digits}f}</text>"
            )
    bottom = 28 + 24 * len(labels)
    for j in range(len(labels)):
        x = left + _CELL * j + _CELL / 2
        parts.append(f'<text class="tick middle" x="{x}" y="{bottom + 14}">{j + 1}</text>')
    return _svg(left + _CELL * len(labels), bottom + 22, title, parts)


def _line(line: Sequence[tuple[float, Interval]], x: _Scale, y: _Scale, number: int) -> list[str]:
    name = f"s{number % 7}"
    banded = [(step, p) for step, p in line if math.isfinite(p.low)]
    parts: list[str] = []
    if len(banded) > 1:
        upper = [f"{x.at(step)},{y.at(p.high)}" for step, p in banded]
        lower = [f"{x.at(step)},{y.at(p.low)}" for step, p in reversed(banded)]
        parts.append(f'<polygon class="band {name}" points="{" ".join(upper + lower)}"/>')
    points = " ".join(f"{x.at(step)},{y.at(p.value)}" for step, p in line)
    parts.append(f'<polyline class="line {name}" points="{points}"/>')
    for step, p in line:
        said = f"{step:g}: {p.value:.4g}"
        if math.isfinite(p.low):
            said += f" [{p.low:.4g}, {p.high:.4g}]"
        parts.append(
            f'<circle class="dot {name}" cx="{x.at(step)}" cy="{y.at(p.value)}" r="3">'
            f"<title>{said}, {p.n} problems</title></circle>"
        )
    return parts


class _Scale:
    """Numbers -> pixels, rounded to a tenth."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if high - low < 1e-12:
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        self.low, self.high, self._start, self._end = low, high, start, end

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> list[float]:
        """Three or four round numbers."""
        step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
        step *= next(f for f in (1, 2, 5, 10, 20) if (self.high - self.low) / (f * step) <= 4)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">'
        f"<title>{svg_text(label)}</title>{body}</svg>"
    )
