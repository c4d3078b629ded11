"""Rollouts that are longer than a checkpoint reads: left out, told, never a reason to stop."""

from __future__ import annotations

from hara_viz.errors import InvalidInputError
from hara_viz.store import Run
from hara_viz.types import GroupKey, Rollout

Unread = frozenset[tuple[GroupKey, int]]
"""Group and sample number of the rollouts that are left out."""


def too_long(run: Run, most: int | None) -> Unread:
    """The rollouts whose prompt and completion are more than `most` tokens together.

    Args:
        run: an open run.
        most: tokens that the checkpoint reads; None: it has no limit.

    Raises:
        InvalidInputError: that is all of them.
    """
    if most is None:
        return frozenset()
    found, n_rollouts = set[tuple[GroupKey, int]](), 0
    for part in run.parts:
        for rollout in (r for group in run.load_part(part) for r in group.rollouts):
            n_rollouts += 1
            if _exceeds(rollout, most):
                found.add((rollout.key, rollout.sample))
    if found and len(found) == n_rollouts:
        raise InvalidInputError(
            f"all {n_rollouts} rollouts of {run.name} are longer than the {most} tokens that the "
            "checkpoint reads; use one with a longer context"
        )
    return frozenset(found)


def _exceeds(rollout: Rollout, most: int) -> bool:
    n_tokens = len(rollout.completion_ids)
    # An empty completion is read behind one token, whatever its prompt.
    return bool(n_tokens) and len(rollout.prompt_ids or ()) + n_tokens > most
