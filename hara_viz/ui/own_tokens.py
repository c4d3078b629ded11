"""A completion's tokens and the rows of its plan, which has one for each token of the policy's own.

Tokens are counted from 0 within their completion, others' among them: that number is what a link,
a table and a tooltip say. Rows of plans are counted among own tokens alone and are never shown.
"""

from __future__ import annotations

import numpy as np

from hara_viz.types import Rollout


def own_tokens(rollout: Rollout) -> np.ndarray:
    """[T] bool: sampled by the policy."""
    mask = rollout.sampled_mask
    return np.asarray((True,) * len(rollout.completion_ids) if mask is None else mask, bool)


def plan_row(rollout: Rollout, token: int) -> int | None:
    """The row of the plan that belongs to a token; None: the policy did not sample it."""
    if rollout.sampled_mask is None:
        return token
    return sum(rollout.sampled_mask[:token]) if rollout.sampled_mask[token] else None


def completion_token(rollout: Rollout, row: int) -> int:
    """The inverse of `plan_row`."""
    if rollout.sampled_mask is None:
        return row
    return [token for token, own in enumerate(rollout.sampled_mask) if own][row]
