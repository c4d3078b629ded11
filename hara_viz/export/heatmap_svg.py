"""A group's token heatmap as one SVG picture for a paper or a slide: running text, colour bar,
legend. No script, no outer font, nothing fetched; text is text, so it can be searched and edited.

The colours are those of the app's light theme (`components/token_heatmap/colour.js`). Text stands
in cells of a fixed width and each cell is stretched to it, so that every reader's monospace font
gives the same picture; wide letters (CJK, emoji) take two. Cells of a line run from left to right,
right-to-left scripts too, as the tokens do.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hara_viz.analysis.map_values import colour_domain
from hara_viz.analysis.signals import Signal, lengths_of
from hara_viz.backend.credit import GroupCredit
from hara_viz.export.origin import Origin
from hara_viz.text import cells_of, inert
from hara_viz.types import Rollout, is_success

PALETTES = {
    False: ("#ffffff", "#fdf0c2", "#fbd189", "#f5a968", "#ea8067"),
    True: ("#6ba3dc", "#a5c8ec", "#dbe8f7", "#ffffff", "#fbe3c8", "#f6bd85", "#ec9450"),
}
"""Stops of the scale, low to high: sequential (False) and signed (True)."""

_UNKNOWN = "#e7e8ea"
_COLUMNS, _ADVANCE, _LINE = 108, 7.2, 19
_LEFT, _LEAST = 16, 680  # the legend and the last line need that much
_OUTCOME = {True: "right", False: "wrong", None: "unscored"}


class Cell(NamedTuple):
    """A stretch of text with one value."""

    text: str
    value: float


def heatmap_svg(found: GroupCredit, signal: Signal, values: np.ndarray, origin: Origin) -> str:
    """All rollouts of a group in one colour domain, those that are right first.

    Args:
        found: the group with its credit.
        signal: what is shown.
        values: of the signal, packed [N]; NaN is unknown and grey.
        origin: stands below the picture and in its metadata.
    """
    low, high = colour_domain(values, signal.signed)
    parts, y, columns = [], 66.0, 0
    threshold, start = found.config.success_threshold, 0
    blocks: list[tuple[Rollout, np.ndarray, int]] = []
    for row, (rollout, n) in enumerate(
        zip(found.group.rollouts, lengths_of(found.group), strict=True)
    ):
        blocks.append((rollout, values[start : start + n], row))
        start += n
    blocks.sort(key=lambda block: is_success(block[0].reward, threshold) is not True)
    for rollout, own, row in blocks:
        advantage = float(found.credit.baseline[row])
        parts.append(_head(rollout, advantage, threshold, y))
        y += _LINE
        for line in wrap(coloured(rollout, own)):
            parts += _line(line, y, low, high, signal.signed)
            columns = max(columns, sum(_columns(cell.text) for cell in line))
            y += _LINE
        y += _LINE * 0.6
    width, height = max(2 * _LEFT + columns * _ADVANCE, _LEAST), y + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="#1c2430">'
        f"<title>{_text(signal.label)} of each token, group {_text(found.group.key.problem_id)}"
        f"</title><metadata>{html.escape(inert(origin.as_json))}</metadata>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f"{_legend(signal, low, high)}{''.join(parts)}"
        f'<text x="{_LEFT}" y="{height - 12:.0f}" font-size="10" fill="#5b6472">'
        f"{_text(origin.line)}</text></svg>\n"
    )


def coloured(rollout: Rollout, values: np.ndarray) -> Iterator[Cell]:
    """The tokens as cells; tokens that share a character share a cell, with their mean value."""
    text, starts = rollout.completion_text, rollout.cell_start
    if starts is None:  # never cut: the text has no tokens to colour
        yield Cell(text, float("nan"))
        return
    for cell in cells_of(text, starts, rollout.completion_ids, ()):
        own = values[cell.first_token : cell.last_token]
        known = own[~np.isnan(own)]
        mean = float(known.mean()) if known.size else float("nan")
        yield Cell(text[cell.start : cell.end], mean)


def wrap(cells: Iterator[Cell]) -> Iterator[list[Cell]]:
    """Lines of at most _COLUMNS columns; a newline ends its line and is shown as ⏎."""
    line: list[Cell] = []
    used = 0
    for cell in cells:
        for piece, ends in _pieces(cell):
            if line and used + _columns(piece.text) > _COLUMNS:
                yield line
                line, used = [], 0
            line.append(piece)
            used += _columns(piece.text)
            if ends:
                yield line
                line, used = [], 0
    if line:
        yield line


def colour_at(value: float, low: float, high: float, signed: bool) -> str:
    """The scale at a value, as #rrggbb; unknown is grey, what lies outside takes the end."""
    if np.isnan(value):
        return _UNKNOWN
    stops = PALETTES[signed]
    place = min(max((value - low) / (high - low), 0.0), 1.0) * (len(stops) - 1)
    below = min(int(place), len(stops) - 2)
    share = place - below
    pairs = zip(_rgb(stops[below]), _rgb(stops[below + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _pieces(cell: Cell) -> Iterator[tuple[Cell, bool]]:
    text = inert(cell.text).replace("\t", "  ")
    lines = text.split("\n")
    for number, part in enumerate(lines):
        ends = number < len(lines) - 1
        shown = f"{part}⏎" if ends else part
        while len(shown) > _COLUMNS // 2:  # one token may be a long run of blanks
            yield Cell(shown[: _COLUMNS // 2], cell.value), False
            shown = shown[_COLUMNS // 2 :]
        if shown:
            yield Cell(shown, cell.value), ends


def _line(line: Sequence[Cell], y: float, low: float, high: float, signed: bool) -> Iterator[str]:
    x = float(_LEFT)
    for cell in line:
        width = _columns(cell.text) * _ADVANCE
        colour = colour_at(cell.value, low, high, signed)
        if colour != "#ffffff":
            yield (
                f'<rect x="{x:.1f}" y="{y - 13:.1f}" width="{width:.1f}" height="{_LINE - 2}" '
                f'fill="{colour}"/>'
            )
        if cell.text.strip():
            yield (
                f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width:.1f}" xml:space="preserve" '
                f'lengthAdjust="spacingAndGlyphs">{_text(cell.text)}</text>'
            )
        x += width


def _head(rollout: Rollout, advantage: float, threshold: float, y: float) -> str:
    outcome = _OUTCOME[is_success(rollout.reward, threshold)]
    said = f"rollout {rollout.sample} · {outcome} · advantage {advantage:+.3f}"
    return f'<text x="{_LEFT}" y="{y:.1f}" font-weight="bold">{said}</text>'


def _legend(signal: Signal, low: float, high: float) -> str:
    stops = PALETTES[signal.signed]
    steps = "".join(
        f'<stop offset="{i / (len(stops) - 1):.3f}" stop-color="{stop}"/>'
        for i, stop in enumerate(stops)
    )
    middle = (
        f'<text x="{_LEFT + 110}" y="46" text-anchor="middle">0</text>' if signal.signed else ""
    )
    return (
        f'<defs><linearGradient id="scale">{steps}</linearGradient></defs>'
        f'<text x="{_LEFT}" y="18" font-weight="bold">{_text(signal.label)}</text>'
        f'<rect x="{_LEFT}" y="24" width="220" height="10" fill="url(#scale)" stroke="#c9ced6"/>'
        f'<text x="{_LEFT}" y="46">{low:.3g}</text>{middle}'
        f'<text x="{_LEFT + 220}" y="46" text-anchor="end">{high:.3g}</text>'
        f'<rect x="{_LEFT + 250}" y="24" width="20" height="10" fill="{_UNKNOWN}"/>'
        f'<text x="{_LEFT + 276}" y="34">unknown</text>'
    )


def _columns(text: str) -> int:
    return sum(
        0
        if unicodedata.combining(char) or char in "\u200c\u200d"
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _text(text: str) -> str:
    # Blanks: XML readers fold them in spite of xml:space.
    return html.escape(inert(text)).replace(" ", "\u00a0").replace("\n", "⏎")
