"""What `hara-viz compare` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hara_viz.cli.tables import console, inert_text

if TYPE_CHECKING:
    from hara_viz.backend.compare import Comparison, Pair
    from hara_viz.backend.compare_report import ComparisonReport, TokenReport

_MOST_PROBLEMS = 12


def print_comparison(found: ComparisonReport) -> None:
    """Curves, then each pair, then the token level if it was asked for."""
    screen = console()
    screen.print(_curves(found.comparison))
    screen.print(
        Text("means over problems [95 % bootstrap intervals over problems]", "dim"), soft_wrap=True
    )
    for pair in found.pairs:
        screen.print()
        _print_pair(pair)
    if found.tokens is not None:
        _print_tokens(found.tokens, found.comparison)
    for note in found.notes:
        screen.print(inert_text(note, "yellow"), soft_wrap=True)


def _curves(found: Comparison) -> Table:
    from hara_viz.backend.compare_report import metric_texts

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("checkpoint", no_wrap=True)
    for title in metric_texts(found, 0):
        table.add_column(title, justify="right")
    for place, checkpoint in enumerate(found.checkpoints):
        cells = []
        for text in metric_texts(found, place).values():
            value, bracket, ends = text.partition(" [")
            cells.append(Text.assemble(value, ("\n" + bracket[1:] + ends, "dim")))
        table.add_row(inert_text(checkpoint.label), *cells)
    return table


def _print_pair(pair: Pair) -> None:
    screen, test = console(), pair.test
    interval = test.difference.interval
    screen.print(
        Text.assemble(inert_text(pair.b.label, "bold"), " against ", inert_text(pair.a.label)),
        soft_wrap=True,
    )
    screen.print(
        f"{test.n_solved} solved, {test.n_lost} lost of {test.n_problems} problems, exact McNemar "
        f"p = {test.p_mcnemar:.3g}",
        soft_wrap=True,
    )
    screen.print(
        f"pass@1 {interval.value:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}], "
        f"p = {test.difference.p_value:.2g} (paired bootstrap)",
        soft_wrap=True,
    )
    changed: Any = pair.table[pair.table["verdict"].isin(["solved", "lost"])]
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    for row in changed.head(_MOST_PROBLEMS).itertuples():
        style = "green" if row.verdict == "solved" else "red"
        table.add_row(
            Text(str(row.verdict), style),
            f"{row.n_success_a}/{row.n_scored_a} → {row.n_success_b}/{row.n_scored_b}",
            inert_text(str(row.prompt_head), most=80),
        )
    if len(changed):
        screen.print(table)
    if len(changed) > _MOST_PROBLEMS:
        screen.print(Text(f"and {len(changed) - _MOST_PROBLEMS} more; --out writes all", "dim"))


def _print_tokens(found: TokenReport, comparison: Comparison) -> None:
    screen = console()
    labels = [c.label for c in comparison.checkpoints]
    if found.drift is not None:
        screen.print(Text("\nbarycenters moved (distance above the null, by structure)", "bold"))
        for places in comparison.series.values():
            for b in places[1:]:
                test = found.drift.excess[places[0], b]
                screen.print(
                    Text.assemble(
                        inert_text(labels[b]),
                        f"  {test.interval.value:+.4f} [{test.interval.low:+.4f}, "
                        f"{test.interval.high:+.4f}], p = {test.p_value:.2g}",
                    ),
                    soft_wrap=True,
                )
    if found.agreement is not None and found.agreement.ranks:
        screen.print(Text("\nshare of the weight that a method moves", "bold"))
        for i, label in enumerate(found.method_labels):
            moved = found.agreement.moved[i][0]
            screen.print(f"{100 * moved.value:5.1f} %  {label}", soft_wrap=True)
    patterns: Any = found.patterns
    if len(patterns):
        screen.print(Text("\nconsistently novel under the last run", "bold"))
        for row in patterns.itertuples():
            where = "right" if row.success else "wrong"
            head = f"{row.kind:9}{where:7}{row.z:+.2f} [{row.low:.2f}, {row.high:.2f}]  "
            screen.print(Text.assemble(head, inert_text(str(row.text), most=60)), soft_wrap=True)
