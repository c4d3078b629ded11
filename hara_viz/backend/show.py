"""The verb `show`: a run as tables of data; who prints them also makes model text inert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hara_viz.analysis.figures import RunFigures, group_table, run_figures
from hara_viz.analysis.spans import SpanText, TokenSpan, span_text, top_spans
from hara_viz.backend.credit import GroupCredit, credit_group, default_config
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.store import Run
from hara_viz.types import GroupKey, Rollout, RunInfo, is_success


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutLine:
    """One rollout of a group."""

    sample: int
    reward: float | None
    success: bool | None
    answer: str | None
    reason: str
    n_tokens: int
    finish: str
    advantage: float | None
    """Before reweighting; None if no credit could be computed."""
    novelty: float | None
    """Mean over its own tokens; None without credit, or where it has nothing to compare with."""
    weights: tuple[float, float] | None
    """The smallest and the largest weight of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLine:
    """One of the most novel spans of a group."""

    sample: int
    success: bool | None
    span: TokenSpan
    text: SpanText
    weight: float
    """Mean weight of its tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """One group: rollouts, diagnostics, most novel spans."""

    key: GroupKey
    source_id: str | None
    question: str
    gold: str | None
    rollouts: tuple[RolloutLine, ...]
    spans: tuple[SpanLine, ...]
    notes: tuple[str, ...]
    """What is special about the group, in sentences; also why there is no credit."""

    @property
    def n_right(self) -> int:
        """Rollouts with success."""
        return sum(line.success is True for line in self.rollouts)

    @property
    def n_scored(self) -> int:
        """Rollouts with a verdict."""
        return sum(line.success is not None for line in self.rollouts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run's head and figures, and its groups."""

    name: str
    info: RunInfo
    complete: bool
    figures: RunFigures
    groups: tuple[GroupView, ...]
    n_hidden: int
    """Groups that were left out by `limit`."""
    warnings: tuple[str, ...]


def show_run(
    run: Run,
    *,
    problem: str | None = None,
    limit: int | None = 8,
    config: CreditConfig | None = None,
    layer: int | None = None,
    top: int = 3,
) -> RunView:
    """Collect what `hara-viz show` prints.

    Args:
        run: an open run.
        problem: a problem's id (or how it begins), or the data set's own id; None: all.
        limit: at most this many groups, in the order of the run; None: all.
        config: of the credit; None: the defaults.
        layer: whose states; None: the highest one kept.
        top: most novel spans of each group.

    Raises:
        MissingInputError: the run has no such problem.
        InvalidInputError: the beginning of an id fits several problems.
    """
    config = default_config(run) if config is None else config
    table = group_table(run.summaries())
    keys = run.keys() if problem is None else keys_of(run, problem)
    shown = keys if limit is None else keys[:limit]
    return RunView(
        name=run.name,
        info=run.info,
        complete=run.complete,
        figures=run_figures(table),
        groups=tuple(_view(run, key, config, layer, top) for key in shown),
        n_hidden=len(keys) - len(shown),
        warnings=run.warnings(),
    )


def novel_spans(found: GroupCredit, *, top: int = 5, context: int = 32) -> tuple[SpanLine, ...]:
    """The most novel spans of a group: reasoning steps where they are cut, else windows of 8.

    Args:
        found: the group with its credit.
        top: at most this many.
        context: code points shown on either side.
    """
    rollouts = found.group.rollouts
    offsets: list[int] = found.offsets.tolist()
    steps = [step for r in rollouts for step in (r.reasoning_step or ())]
    values = found.credit.novelty.double().numpy()
    segments = np.array(steps) if len(steps) == len(values) else None
    return tuple(
        _span_line(found, rollouts[span.row], span, context)
        for span in top_spans(values, offsets, top=top, segments=segments)
    )


def _span_line(found: GroupCredit, rollout: Rollout, span: TokenSpan, context: int) -> SpanLine:
    weights = found.of_row(found.credit.weights, span.row)[span.start : span.stop]
    cells = rollout.cell_start
    if cells is None:
        text = SpanText("", f"tokens {span.start} to {span.stop - 1}", "")
    else:
        text = span_text(rollout.completion_text, cells, span.start, span.stop, context=context)
    return SpanLine(
        sample=rollout.sample,
        success=is_success(rollout.reward, found.config.success_threshold),
        span=span,
        text=text,
        weight=float(weights.mean()),
    )


def _view(run: Run, key: GroupKey, config: CreditConfig, layer: int | None, top: int) -> GroupView:
    notes: list[str] = []
    try:
        found = credit_group(run, key, config, layer)
        group = found.group
        notes += [note for record in found.credit.diagnostics for note in record.notes]
    except InvalidInputError as error:
        found, group = None, run.load_group(key)
        notes.append(str(error))
    first = group.rollouts[0]
    threshold = config.success_threshold
    return GroupView(
        key=key,
        source_id=first.source_id,
        question=_question(first),
        gold=first.gold,
        rollouts=tuple(
            _rollout_line(rollout, row, found, threshold)
            for row, rollout in enumerate(group.rollouts)
        ),
        spans=() if found is None else novel_spans(found, top=top),
        notes=tuple(dict.fromkeys(notes)),
    )


def _rollout_line(
    rollout: Rollout, row: int, found: GroupCredit | None, threshold: float
) -> RolloutLine:
    weights = None
    if found is not None and len(of_tokens := found.own_of_row(found.credit.weights, row)):
        weights = (float(of_tokens.min()), float(of_tokens.max()))
    return RolloutLine(
        sample=rollout.sample,
        reward=rollout.reward,
        success=is_success(rollout.reward, threshold),
        answer=rollout.extracted_answer,
        reason=rollout.reward_reason or "",
        n_tokens=len(rollout.completion_ids),
        finish=rollout.finish.value,
        advantage=None if found is None else float(found.credit.baseline[row]),
        novelty=None if found is None else found.mean_novelty(row),
        weights=weights,
    )


def _question(rollout: Rollout) -> str:
    if not rollout.prompt_messages:
        return rollout.prompt_text
    return rollout.prompt_messages[-1].content


def keys_of(run: Run, problem: str) -> Sequence[GroupKey]:
    """The groups of one problem, by its id, the beginning of it, or the data set's own id."""
    table = run.summaries()
    own = set(table["problem_id"][table["source_id"] == problem])
    begins = (
        {name for name in table["problem_id"] if name.startswith(problem)} if problem else set()
    )
    found = own or begins
    if not found:
        raise MissingInputError(
            f"{run.name} has no problem {problem!r}; `hara-viz show {run.name}` lists those it has"
        )
    if len(found) > 1:
        raise InvalidInputError(
            f"{problem!r} fits {len(found)} problems of {run.name} ({', '.join(sorted(found)[:3])}"
            f"{', …' if len(found) > 3 else ''}); give more of the id"
        )
    keys = run.keys()
    return [key for key in keys if key.problem_id in found]
