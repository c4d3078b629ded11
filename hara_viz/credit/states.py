"""States and locations as the transport room takes them (method §2)."""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.outcomes import GroupRows
from hara_viz.errors import InvalidInputError


def group_center(batch: PackedBatch, group: GroupRows, config: CreditConfig) -> Tensor | None:
    """Mean over the scored rollouts of their token means [D], for "center_l2"; else None."""
    rows = [r for r in group.scored if batch.length(r) > 0]
    if config.normalize != "center_l2" or not rows:
        return None
    means = [batch.states[batch.tokens(r)].float().mean(0) for r in rows]
    return torch.stack(means).mean(0)


def normalised(states: Tensor, config: CreditConfig, center: Tensor | None) -> Tensor:
    """Upcast to float32, centre and scale [..., D]; a zero vector stays zero."""
    upcast = states.float()
    if config.normalize == "none":
        return upcast
    if center is not None:
        upcast = upcast - center
    # Scaled by the largest entry first, so that huge activations do not overflow when squared.
    largest = upcast.abs().amax(-1, keepdim=True)
    upcast = upcast / torch.where(largest > 0, largest, 1.0)
    norm = upcast.norm(dim=-1, keepdim=True)
    return upcast / torch.where(norm > 0, norm, 1.0)


def class_states(
    batch: PackedBatch, rows: tuple[int, ...], config: CreditConfig, center: Tensor | None
) -> list[Tensor]:
    """One [T_r, D] per row."""
    return [normalised(batch.states[batch.tokens(r)], config, center) for r in rows]


def class_locations(
    batch: PackedBatch, rows: tuple[int, ...], group: GroupRows, config: CreditConfig
) -> list[Tensor]:
    """ℓ_t = t / max(T−1, 1), relative; or over the longest rollout of the group, absolute."""
    longest = max(batch.length(r) for r in group.rows)
    device = batch.states.device
    lines: list[Tensor] = []
    for row in rows:
        extent = longest if config.location == "absolute" else batch.length(row)
        lines.append(torch.arange(batch.length(row), device=device) / max(extent - 1, 1))
    return lines


def group_anchors(
    batch: PackedBatch, group: GroupRows, config: CreditConfig, center: Tensor | None
) -> Tensor | None:
    """Prompt anchors [A, D], normalised like the states.

    Raises:
        InvalidInputError: the rows of the group were given different anchors.
    """
    if batch.anchor_states is None or config.anchors != "prompt":
        return None
    anchors = batch.anchor_states[list(group.rows)].float()
    if not torch.allclose(anchors, anchors[:1].expand_as(anchors), rtol=1e-2, atol=1e-2):
        raise InvalidInputError(
            f"anchor_states differ within group {group.group}; a group shares its prompt, "
            "so pass the same states [A, D] for each of its rows"
        )
    return normalised(anchors[0], config, center)
