"""What the verbs print.

All that a model or a file wrote goes through `plain` and `Text`: no markup, no control codes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hara_viz.cli.progress import count_words, figure_words, rate_words, time_words
from hara_viz.text.terminal import plain

if TYPE_CHECKING:
    from hara_viz.backend.annotations import Annotation
    from hara_viz.backend.jobs import Job
    from hara_viz.backend.sample import Preview, SampleJob
    from hara_viz.backend.show import GroupView, RolloutLine, RunView, SpanLine

RIGHT, WRONG, UNKNOWN = Text("✓", "green"), Text("✗", "red"), Text("?", "yellow")
WIDEST = 120
LONGEST_SPAN = 240
STATE_STYLES = {"running": "green", "failed": "red", "lost": "red", "stopped": "yellow"}
ENDS = {"length": " cut", "abort": " failed"}
"""What is said behind the number of tokens of a rollout that did not end by itself."""


def console() -> Console:
    """Stdout without markup, highlighting or emoji codes; as wide as is comfortable to read."""
    screen = Console(markup=False, highlight=False, emoji=False)
    screen.width = min(screen.width, WIDEST)
    return screen


def inert_text(text: str, style: str = "", *, most: int | None = None) -> Text:
    """Foreign text as one inert line, cut at `most` characters."""
    shown = plain(text)
    if most is not None and len(shown) > most:
        shown = shown[: most - 1] + "…"
    return Text(shown, style)


def print_run(view: RunView) -> None:
    """The whole of `hara-viz show`."""
    screen = console()
    screen.print(_head(view))
    for group in view.groups:
        screen.print()
        screen.print(_group(group, screen.width))
    if view.n_hidden:
        screen.print()
        more = counted(view.n_hidden, "more group")
        screen.print(Text(f"{more}; --limit and --problem choose", "dim"))
    for warning in view.warnings:
        screen.print(inert_text(warning, "yellow"))


def print_jobs(jobs: Sequence[Job]) -> None:
    """The list of jobs."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, expand=True)
    for name in ("job", "state", "started"):
        table.add_column(name, no_wrap=True)
    table.add_column("how far", ratio=1, overflow="fold")
    for job in jobs:
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(job.started or job.created))
        table.add_row(
            inert_text(job.id),
            Text(job.state, STATE_STYLES.get(job.state, "")),
            began,
            inert_text(job.error, "red") if job.error else Text(_how_far(job)),
        )
    console().print(table)


def print_annotations(said: Sequence[Annotation]) -> None:
    """One line per annotation: its id, what it is about, what it says."""
    table = _columns("id", "problem", "rollout", "kind", "reward")
    table.add_column("text", ratio=1)
    for annotation in said:
        table.add_row(
            annotation.id[:8],
            inert_text("" if annotation.key is None else annotation.key.problem_id),
            "all" if annotation.sample is None else str(annotation.sample),
            str(annotation.kind),
            "" if annotation.reward is None else f"{annotation.reward:g}",
            inert_text(annotation.text or ""),
        )
    console().print(table)


def _how_far(job: Job) -> str:
    if job.last is None:
        return f"waits for {job.device}" if job.state == "queued" and job.device else ""
    last, progress = job.last, job.last.progress
    left = ""
    if job.state == "running" and last.seconds_left is not None:
        left = f"{time_words(last.seconds_left)} left"
    known = {name: value for name, value in progress.figures.items() if value is not None}
    parts = [
        f"{progress.stage} {count_words(progress)}",
        rate_words(last.rate, progress.unit),
        figure_words(known),
        left,
    ]
    return " · ".join(part for part in parts if part)


def print_preview(preview: Preview, job: SampleJob) -> None:
    """What `sample --dry-run` found."""
    screen = console()
    understood = preview.gold_understood
    skipped = f", {preview.n_skipped} rows skipped" if preview.n_skipped else ""
    twice = f", {preview.n_duplicates} duplicates left out" if preview.n_duplicates else ""
    rows: list[tuple[str, Text]] = [
        ("problems", inert_text(f"{preview.n_problems} ({preview.format}{skipped}{twice})")),
        ("rollouts", Text(f"{preview.n_rollouts}, {job.sampling.group_size} for each problem")),
        ("model", inert_text(_checkpoint(preview.checkpoint.path, preview.checkpoint.dtype))),
        ("states", Text(_states(job, preview.checkpoint.n_layers))),
        ("gold", Text("none: rollouts stay unscored") if preview.gold is None
         else inert_text(preview.gold)),
        ("read as", Text("–") if understood is None else inert_text(understood)),
        ("template", Text("of the checkpoint" if preview.prompt.templated else "none: plain text")),
    ]  # fmt: skip
    screen.print(_pairs(rows))
    screen.print(Rule(f"first prompt, {len(preview.prompt.ids)} tokens", style="dim"))
    for line in preview.prompt.text.split("\n"):
        screen.print(inert_text(line))
    screen.print(Rule(style="dim"))
    screen.print(Text("Nothing was drawn or written.", "dim"))


def _checkpoint(path: str, dtype: str) -> str:
    return f"{path} ({dtype})" if dtype else path


def _states(job: SampleJob, n_layers: int) -> str:
    layers = ", ".join(str(layer % (n_layers + 1)) for layer in job.layers)
    return "none" if job.states == "none" else f"{job.states}, layers {layers} of 0 … {n_layers}"


def _pairs(rows: list[tuple[str, Text]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    return table


def _head(view: RunView) -> RenderableType:
    figures, info = view.figures, view.info
    state = Text() if view.complete else Text("  unfinished", "yellow")
    title = Text.assemble(inert_text(view.name, "bold"), state)
    rows: list[tuple[str, Text]] = []
    if info.checkpoint is not None:
        rows.append(("model", inert_text(_checkpoint(info.checkpoint.path, info.checkpoint.dtype))))
    if info.problem_set is not None:
        rows.append(("problems", inert_text(info.problem_set)))
    count = Text(
        f"{figures.n_rollouts:,} in {counted(figures.n_groups, 'group')} "
        f"of {counted(figures.n_problems, 'problem')}"
    )
    if figures.mean_length is not None:
        count.append(f", {figures.mean_length:.0f} tokens each")
    if figures.n_truncated:
        count.append(f", {figures.n_truncated} cut off", "yellow")
    if figures.n_unscored:
        count.append(f", {figures.n_unscored} unscored", "yellow")
    rows += [("rollouts", count), ("pass rate", _pass_rate(view))]
    if figures.n_degenerate:
        what = counted(figures.n_degenerate, "group")
        rows.append(("no signal", Text(f"{what} with equal rewards: nothing to learn from")))
    return Group(title, _pairs(rows))


def _pass_rate(view: RunView) -> Text:
    figures = view.figures
    if figures.pass_at_1 is None:
        return Text("unknown: nothing is scored", "yellow")
    text = Text(percent(figures.pass_at_1), "bold")
    reward = view.info.reward
    rule = f"reward ≥ {view.info.success_threshold:g}"
    text.append_text(inert_text(f"  ({rule}{f', {reward}' if reward else ''})", "dim"))
    if figures.pass_at_k is not None and figures.k > 1:
        text.append(f"   pass@{figures.k} {percent(figures.pass_at_k)}")
    return text


def counted(number: int, noun: str) -> str:
    """As in "1 group" and "2 groups"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """0.3125 -> "31 %"."""
    return f"{100 * share:.0f} %"


def _group(group: GroupView, width: int) -> RenderableType:
    name = group.source_id or group.key.problem_id
    title = Text.assemble(
        inert_text(name, "bold", most=32),
        Text(f"  {group.n_right}/{group.n_scored} right" if group.n_scored else "  unscored"),
    )
    if group.key.global_step is not None:
        title.append(f"  step {group.key.global_step}", "dim")
    gold = Text("no gold answer", "dim") if group.gold is None else Text("answer ", "dim")
    if group.gold is not None:
        gold.append_text(inert_text(group.gold, most=40))
    parts: list[RenderableType] = [
        Rule(title, align="left", style="dim"),
        inert_text(group.question, "italic", most=2 * width),
        gold,
        Padding(_rollouts(group.rollouts), (1, 0, 0, 0)),
    ]
    if group.spans:
        parts.append(Padding(_spans(group.spans, width), (1, 0, 0, 0)))
    parts += [inert_text(f"· {note}", "yellow") for note in group.notes]
    return Group(*parts)


def _columns(*names: str) -> Table:
    """A table of right-aligned columns; the last one, added by the caller, takes the rest."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, expand=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _rollouts(lines: tuple[RolloutLine, ...]) -> Table:
    table = _columns("sample", "", "reward", "advantage", "novelty", "weights", "tokens")
    table.add_column("answer", no_wrap=True)
    table.add_column("why", no_wrap=True, overflow="ellipsis", ratio=1)
    for line in lines:
        sign = "" if line.advantage is None else ("green" if line.advantage > 0 else "red")
        table.add_row(
            str(line.sample),
            _mark(line.success),
            "–" if line.reward is None else f"{line.reward:g}",
            "–" if line.advantage is None else Text(_signed(line.advantage), sign),
            "–" if line.novelty is None else f"{line.novelty:.3f}",
            "–" if line.weights is None else f"{line.weights[0]:.2f} … {line.weights[1]:.2f}",
            f"{line.n_tokens}{ENDS.get(line.finish, '')}",
            Text("–", "dim") if line.answer is None else inert_text(line.answer, most=24),
            inert_text(line.reason, "dim"),
        )
    return table


def _spans(lines: tuple[SpanLine, ...], width: int) -> Table:
    table = _columns("sample", "", "tokens", "novelty", "weight")
    table.add_column("most novel spans", overflow="fold", ratio=1)
    for line in lines:
        before, after = plain(line.text.before), plain(line.text.after)
        inside = plain(line.text.inside)
        if len(inside) > LONGEST_SPAN:  # a whole proof without a full stop is one step
            inside = f"{inside[: LONGEST_SPAN // 2]} … {inside[-LONGEST_SPAN // 2 :]}"
        table.add_row(
            str(line.sample),
            _mark(line.success),
            f"{line.span.start}–{line.span.stop - 1}",
            f"{line.span.mean:.3f}",
            f"{line.weight:.2f}",
            Text.assemble((before, "dim"), (inside, "bold reverse"), (after, "dim")),
        )
    return table


def _mark(success: bool | None) -> Text:
    return UNKNOWN if success is None else RIGHT if success else WRONG


def _signed(value: float) -> str:
    # A rounded −0.00 is a zero.
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")
