"""A comparison as one self-contained page: no script, nothing fetched, model text inert."""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hara_viz.analysis.learning_curves import METRICS, title_of
from hara_viz.backend.compare import Comparison, Pair
from hara_viz.backend.compare_report import ComparisonReport, TokenReport, metric_texts
from hara_viz.export.origin import Origin
from hara_viz.export.place import new_file
from hara_viz.export.report_svg import curve_svg, matrix_svg
from hara_viz.text import inert

_FOLDER = Path(__file__).parent
_SHEETS = ("page.css", "report.css")
_STYLE = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SHEETS)
_RULES = {"half": "at least half", "any": "at least one", "all": "all"}


def write_report(found: ComparisonReport, out: Path, *, force: bool = False) -> Path:
    """Write the page; `force` replaces a file that is there.

    Returns:
        `out`.

    Raises:
        InvalidInputError: `out` is a folder, lies in none that exists, or is there already.
    """
    with new_file(out, force=force) as path:
        path.write_text(report_page(found), encoding="utf-8", errors="replace")
    return out


def report_page(found: ComparisonReport) -> str:
    """The page as text."""
    comparison = found.comparison
    names = list(dict.fromkeys(c.place.run for c in comparison.checkpoints))
    title = f"Comparison of {len(names)} runs"
    sections = [_curves(comparison)]
    sections += [_pair(pair) for pair in found.pairs]
    if found.tokens is not None:
        sections += _tokens(found.tokens, comparison)
    notes = "".join(f'<p class="note">{_text(note)}</p>' for note in found.notes)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{_text(title)}</h1>
<p class="facts">{_text(" · ".join(names))}</p>
{notes}
{"".join(sections)}
<p class="facts">{_text(Origin(runs=tuple(names)).line)}</p>
</body>
</html>
"""


def _curves(found: Comparison) -> str:
    boxes = []
    for name, curve in found.curves.items():
        lines = [
            (_steps(found, places), [curve.points[place] for place in places])
            for places in found.series.values()
        ]
        title = title_of(METRICS[name], found.k)
        boxes.append(curve_svg(title, lines, is_share=METRICS[name].unit == "share"))
    legend = "".join(
        f'<span class="s{number % 7}"><i></i>{_text(name)}</span>'
        for number, name in enumerate(found.series)
    )
    heads = ["run", "step", "series", "problems", *metric_texts(found, 0)]
    rows = [
        [c.place.run, _step(c.place.step), c.series, str(len(c.problems)),
         *metric_texts(found, place).values()]
        for place, c in enumerate(found.checkpoints)
    ]  # fmt: skip
    return (
        f"<h2>Learning curves</h2><p class='legend'>{legend}</p>"
        f"<div class='figures'>{''.join(boxes)}</div>{_table(heads, rows)}"
        "<p class='note'>Means over problems with 95 % bootstrap intervals over problems.</p>"
    )


def _pair(pair: Pair) -> str:
    test = pair.test
    interval, p_value = test.difference.interval, test.difference.p_value
    said = (
        f"{test.n_solved} solved, {test.n_lost} lost of {test.n_problems} problems (solved: "
        f"{_RULES[test.rule]} of the rollouts right); exact McNemar p = {test.p_mcnemar:.3g}; "
        f"pass@1 changed by {interval.value:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}], "
        f"p = {p_value:.2g} (paired bootstrap over problems)"
    )
    moved = pair.table.iloc[pair.table["change"].abs().argsort()[::-1]]
    rows = [
        [row.prompt_head, row.gold if isinstance(row.gold, str) else "",
         f"{row.n_success_a}/{row.n_scored_a}", f"{row.n_success_b}/{row.n_scored_b}",
         f"{row.change:+.3f}" if math.isfinite(row.change) else "–", row.verdict]
        for row in moved.itertuples()
        if row.change != 0
    ]  # fmt: skip
    heads = ["problem", "gold", "right, A", "right, B", "change", "solved"]
    table = _table(heads, rows) if rows else ""
    return (
        f"<h2>{_text(pair.b.label)} against {_text(pair.a.label)}</h2><p>{_text(said)}</p>{table}"
    )


def _tokens(found: TokenReport, comparison: Comparison) -> list[str]:
    sections: list[str] = []
    labels = [c.label for c in comparison.checkpoints]
    if found.drift is not None:
        figure = matrix_svg("Distance (diagonal: null)", found.drift.distance, labels)
        rows = [
            [labels[b], labels[a], f"{found.drift.distance[a, b]:.4f}",
             f"{test.interval.value:+.4f} [{test.interval.low:+.4f}, {test.interval.high:+.4f}]",
             f"{test.p_value:.2g}"]
            for (a, b), test in found.drift.excess.items()
        ]  # fmt: skip
        table = _table(["checkpoint", "against", "distance", "above the null", "p"], rows)
        sections.append(
            "<h2>Drift of barycenters</h2><p>Structure alone (distances of states inside each "
            "rollout); the null is the distance of two halves of one checkpoint's rollouts.</p>"
            f"<div class='scroll'>{figure}</div>{table}"
        )
    if found.agreement is not None and found.agreement.ranks:
        ranks, moved = found.agreement.ranks, found.agreement.moved
        uniform, hara = 0, found.method_labels.index("HarA")
        rows = [
            [label, f"{100 * moved[i][uniform].value:.1f}", f"{100 * moved[i][hara].value:.1f}",
             "–" if math.isnan(ranks[i][hara].value) else f"{ranks[i][hara].value:.3f}"]
            for i, label in enumerate(found.method_labels)
        ]  # fmt: skip
        heads = ["method", "weight moved, %", "against HarA, %", "rank correlation with HarA"]
        sections.append(
            f"<h2>Credit methods on the rollouts of {_text(labels[-1])}</h2>{_table(heads, rows)}"
        )
    patterns: Any = found.patterns
    if len(patterns):
        rows = [
            [row.kind, "right" if row.success else "wrong", row.text,
             f"{row.z:+.2f} [{row.low:.2f}, {row.high:.2f}]", f"{row.q:.2g}", str(row.n),
             str(row.n_problems), row.example]
            for row in patterns.itertuples()
        ]  # fmt: skip
        heads = ["kind", "in", "element", "z", "q", "times", "problems", "most novel example"]
        sections.append(
            f"<h2>Consistently novel under {_text(labels[-1])}</h2>{_table(heads, rows)}"
        )
    return sections


def _steps(found: Comparison, places: Sequence[int]) -> list[float]:
    """Unknown steps stand at their place in the series."""
    steps = [found.checkpoints[place].place.step for place in places]
    return [float(i if step is None else step) for i, step in enumerate(steps)]


def _step(step: int | None) -> str:
    return "–" if step is None else str(step)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _text(text: str) -> str:
    return html.escape(inert(str(text)).replace("\n", "⏎"))
