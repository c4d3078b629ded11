"""A few marks in SVG, for pictures of the documentation: no plotting library needed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

BLUE, RED, GREY, INK, PALE = "#2563a8", "#c2410c", "#8a8f98", "#1f2328", "#e6e8eb"
SERIES = (BLUE, RED, "#0f766e", "#7c3aed", "#a16207")


class Drawing:
    """A picture of a given size in pixels, on white, so that it reads on dark pages too."""

    def __init__(self, width: float, height: float) -> None:
        self._size = (width, height)
        self._marks: list[str] = []

    def text(
        self, x: float, y: float, said: str, *, anchor: str = "start", color: str = INK,
        size: float = 12, bold: bool = False,
    ) -> None:  # fmt: skip
        weight = ' font-weight="600"' if bold else ""
        self._marks.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" '
            f'font-size="{size:g}"{weight}>{escape(said)}</text>'
        )

    def line(
        self, points: Sequence[tuple[float, float]], color: str, width: float = 1.5,
        dashed: bool = False, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._marks.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" '
            f'stroke-opacity="{opacity:g}"{dash}/>'
        )

    def dot(self, x: float, y: float, color: str, r: float = 3, opacity: float = 1.0) -> None:
        self._marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" fill="{color}" '
            f'fill-opacity="{opacity:.3f}"/>'
        )

    def ring(self, x: float, y: float, color: str, r: float = 5) -> None:
        self._marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" fill="#fff" stroke="{color}" '
            f'stroke-width="2"/>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, color: str, opacity: float = 1.0
    ) -> None:
        self._marks.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.2f}" '
            f'fill="{color}" fill-opacity="{opacity:.3f}"/>'
        )

    def save(self, path: Path, title: str) -> None:
        """Write the file; `title` is what a screen reader says."""
        width, height = self._size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" '
            'font-family="system-ui, sans-serif">'
        )
        body = [head, f"<title>{escape(title)}</title>"]
        body += ['<rect width="100%" height="100%" fill="#fff"/>', *self._marks, "</svg>"]
        path.write_text("\n".join(body) + "\n", encoding="utf-8")
