"""Grouped sampling: many problems in one batch, each rollout with noise of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hara_viz.errors import InvalidInputError
from hara_viz.models.policy import Policy
from hara_viz.models.requests import Completion, SampleRequest
from hara_viz.models.sampler import Sampler
from hara_viz.types import Progress, Report, SamplingConfig, ignore_progress


def sample(
    policy: Policy,
    requests: Sequence[SampleRequest],
    sampling: SamplingConfig,
    report: Report = ignore_progress,
    *,
    max_rows: int | None = None,
    layers: Sequence[int] = (),
) -> Iterator[Completion]:
    """Draw all requests; the completions of a group come out together, ordered by sample.

    Rollouts of all problems share one batch, longest prompts first; a finished row makes room for
    the next. A rollout's noise depends on (seed, problem_id, group, sample, position) alone. When
    memory runs out, the batch shrinks and goes on; tokens drawn so far are kept. A prompt that
    leaves no room for a token gives a completion with finish "abort" and the reason.

    Args:
        policy: From `load_policy`.
        requests: Each (problem_id, group, sample) at most once, with one prompt per group.
        sampling: Every field is used as it stands, none is taken from the checkpoint.
        report: Hears of progress; whatever it raises ends the sampling.
        max_rows: The most rollouts in flight; None = by the device's memory.
        layers: Hidden states to keep of the tokens as they are read, in place of reading them again
            with `teacher_force`. Worth it where arithmetic is dear (on a CPU); up to rounding, both
            give the same.

    Raises:
        InvalidInputError: A rollout was asked for twice, or a group has several prompts.
        ModelError: The model gives NaN, or memory runs out with one row in flight.
    """
    groups = _groups(requests)
    done: dict[tuple[str, int], list[Completion]] = {key: [] for key in groups}
    meter = _Meter(len(requests), report)
    sampler = Sampler(
        policy,
        sampling,
        list(groups.values()),
        max_rows,
        policy.resolve_layers(layers) if layers else (),
    )
    while sampler.busy:
        for completion in sampler.advance():
            meter.done += 1
            key = (completion.request.problem_id, completion.request.group)
            done[key].append(completion)
            if len(done[key]) == len(groups[key]):
                yield from sorted(done.pop(key), key=lambda c: c.request.sample)
        meter.tell(sampler.n_drawn, always=not sampler.busy)


def _groups(requests: Sequence[SampleRequest]) -> dict[tuple[str, int], list[SampleRequest]]:
    groups: dict[tuple[str, int], list[SampleRequest]] = {}
    for request in requests:
        groups.setdefault((request.problem_id, request.group), []).append(request)
    for (problem_id, group), members in groups.items():
        if len({r.sample for r in members}) < len(members):
            raise InvalidInputError(
                f"group {group} of problem {problem_id} asks for a sample twice; number its "
                f"{len(members)} rollouts apart"
            )
        if len({r.prompt.ids for r in members}) > 1:
            raise InvalidInputError(
                f"group {group} of problem {problem_id} has several prompts; the rollouts of a "
                "group answer one prompt: give each its own group number"
            )
    return groups


@dataclass(slots=True)
class _Meter:
    """Turns counts into progress reports, at most five a second."""

    total: int
    report: Report
    done: int = 0
    start: float = field(default_factory=time.monotonic)
    last: float = 0.0

    def tell(self, n_tokens: int, *, always: bool) -> None:
        now = time.monotonic()
        if not always and now - self.last < 0.2:
            return
        self.last = now
        rate = n_tokens / max(now - self.start, 1e-9)
        figures = {"tokens": float(n_tokens), "tokens_per_second": rate}
        self.report(
            Progress(
                stage="sampling",
                done=self.done,
                total=self.total,
                unit="rollouts",
                figures=figures,
            )
        )
