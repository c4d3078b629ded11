"""Anchors of the structure cost on the map of a group: which tokens stand nearest to them.

An anchor of the default kind is a place along a rollout, not a state, so the map can show no more
than the token that lies nearest to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hara_viz.components.embedding_map import MapAnchor
from hara_viz.credit import CreditConfig
from hara_viz.types import Rollout
from hara_viz.ui.own_tokens import own_tokens


def anchored_samples(selected: int | None, paths: Sequence[int]) -> tuple[int, ...]:
    """The rollouts in focus, whose anchors are marked: the selected one and the paths."""
    return tuple(sorted({*paths, *(() if selected is None else (selected,))}))


def anchor_tokens(rollout: Rollout, config: CreditConfig) -> list[int]:
    """For each anchor the token nearest to it, among the completion's own; empty: none is known.

    Anchor a lies at s_a = a / max(A − 1, 1) of the rollout's extent. Of state structure it is the
    token round(s_a (T − 1)) itself, of location structure that is the nearest token.
    """
    own = np.flatnonzero(own_tokens(rollout))
    if config.solver == "exact" or config.anchors == "prompt" or not len(own):
        return []
    # In the solver's own precision, so that halves are rounded as there.
    quantiles = np.arange(config.n_anchors, dtype=np.float32) / max(config.n_anchors - 1, 1)
    return own[np.round(quantiles * np.float32(len(own) - 1)).astype(int)].tolist()


def map_anchors(
    points: pd.DataFrame,
    rollouts: Sequence[Rollout],
    config: CreditConfig,
    samples: Sequence[int],
) -> tuple[MapAnchor, ...]:
    """The anchors of some rollouts, on the points that stand for their tokens.

    An anchor whose token is not among the points is left out.

    Args:
        points: columns sample, token (the first one) and n_tokens.
        rollouts: of the group.
        config: which anchors.
        samples: whose.
    """
    found: list[MapAnchor] = []
    for rollout in rollouts:
        if rollout.sample not in samples:
            continue
        rows = np.flatnonzero(points["sample"] == rollout.sample)
        first = points["token"].to_numpy()[rows]
        ends = first + points["n_tokens"].to_numpy()[rows]
        for number, token in enumerate(anchor_tokens(rollout, config)):
            inside = np.flatnonzero((first <= token) & (token < ends))
            found += [MapAnchor(int(rows[i]), number) for i in inside[:1]]
    return tuple(found)


def anchor_note(config: CreditConfig, n_focus: int, n_marked: int) -> str:
    """What the anchors are and how they are shown, or why they are not. Pure.

    Args:
        config: which anchors.
        n_focus: rollouts in focus.
        n_marked: anchors that are on the map.
    """
    if config.solver == "exact":
        return "The exact solver has no anchors."
    if config.anchors == "prompt":
        return "Anchors are not drawn: they are states of the prompt, which a run does not keep."
    if config.structure == "state":
        what = f"{config.n_anchors} of its own tokens, evenly along its length"
    else:
        what = f"{config.n_anchors} evenly spaced places along its length, not states"
    first = " of the first solve" if config.anchors == "coupling" else ""
    if not n_focus:
        return (
            f"Anchors{first} are {what}, for each rollout; select a rollout or draw its path to "
            "see the tokens nearest to them."
        )
    if not n_marked:
        return (
            f"Anchors{first} are {what}; of the rollouts that are selected or drawn as paths, no "
            "token nearest to one is among the points."
        )
    return (
        f"Numbered squares: anchors{first}. They are {what}; marked is the token nearest to each, "
        "for the rollouts that are selected or drawn as paths."
    )
