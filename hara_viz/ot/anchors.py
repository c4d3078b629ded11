"""Distances of atoms to anchors, σ of (3): the sparse coupling that makes FGW linear."""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError, ShapeError
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.measures import Measures


def anchor_distances(
    measures: Measures, config: SolverConfig, anchor_states: Tensor | None
) -> Tensor:
    """σ_r[i, a] = C_r[i, anchor a]: [R, T, A].

    Args:
        measures: The rollouts.
        config: `anchors`, `n_anchors` and `structure` choose the kind; "coupling" starts from the
            quantile solve, so its σ is the quantile one.
        anchor_states: [A, D] in the space of the features, for "prompt" only.

    Raises:
        InvalidInputError: "prompt" without anchor states.
        ShapeError: anchor states of another hidden size.
    """
    if config.anchors == "prompt":
        return _state_distances(measures, _prompt_anchors(measures, anchor_states))
    if config.structure == "state":
        return _state_distances(measures, _quantile_tokens(measures, config.n_anchors))
    return _location_distances(measures, config.n_anchors)


def _quantiles(n_anchors: int, like: Tensor) -> Tensor:
    return torch.arange(n_anchors, dtype=like.dtype, device=like.device) / max(n_anchors - 1, 1)


def _location_distances(measures: Measures, n_anchors: int) -> Tensor:
    # The anchor lies at s_a of the rollout's own extent, without rounding to a token.
    line = measures.locations
    last = line[:, -1:]  # the padding repeats the last own location
    anchors = _quantiles(n_anchors, line)[None, :] * last
    return (line[..., None] - anchors[:, None, :]).abs()


def _quantile_tokens(measures: Measures, n_anchors: int) -> Tensor:
    quantiles = _quantiles(n_anchors, measures.mass)
    last = torch.tensor(measures.lengths, device=measures.mass.device, dtype=measures.mass.dtype)
    index = torch.round(quantiles[None, :] * (last[:, None] - 1)).long()
    features = measures.features
    return torch.gather(features, 1, index[..., None].expand(-1, -1, features.shape[-1]))


def _prompt_anchors(measures: Measures, anchor_states: Tensor | None) -> Tensor:
    if anchor_states is None:
        raise InvalidInputError(
            'anchors is "prompt" but no anchor_states were given; pass states [A, D] of the prompt'
        )
    if anchor_states.dim() != 2 or anchor_states.shape[1] != measures.center.shape[0]:
        raise ShapeError(
            f"anchor_states: got {tuple(anchor_states.shape)}, expected "
            f"[A, {measures.center.shape[0]}]"
        )
    centred = anchor_states.to(measures.center) - measures.center
    return centred.expand(measures.n_rollouts, -1, -1)


def _state_distances(measures: Measures, anchors: Tensor) -> Tensor:
    return torch.cdist(measures.features, anchors)
