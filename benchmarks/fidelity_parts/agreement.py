"""How far the anchored solver agrees with exact FGW, and how far exact FGW agrees with itself."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchmarks.fidelity_parts.classes import TestedClass
from benchmarks.ot_parts.planted import objective
from hara_viz.analysis.ranks import spearman
from hara_viz.ot import BarycenterSolution, SolverConfig, solve_barycenter

STARTS = (0, 1, 2)
"""Seeds: 0 is the monotone start."""


def solve(tested: TestedClass, **options: Any) -> BarycenterSolution:
    """At the defaults, but for the options."""
    states = tested.group
    anchors = None
    if options.get("anchors") == "prompt":
        assert tested.prompt is not None
        n_anchors = options.get("n_anchors", SolverConfig().n_anchors)
        places = torch.linspace(0, len(tested.prompt) - 1, n_anchors).round().long()
        anchors = tested.prompt[places]
    config = SolverConfig(**options)
    return solve_barycenter(states.features, states.locations, config, anchor_states=anchors)


def ranks(a: BarycenterSolution, b: BarycenterSolution) -> float:
    """Spearman correlation of token novelty, all rollouts of the class together."""
    found = spearman(torch.cat(a.costs).double().numpy(), torch.cat(b.costs).double().numpy())
    return float("nan") if found is None else found


@dataclass(frozen=True, slots=True)
class Agreement:
    """One class. Ranks are Spearman correlations of token novelty."""

    source: str
    cluster: str
    layer: int | None
    n_rollouts: int
    n_tokens: int
    same_start: float
    """Ours with exact, both from the monotone start."""
    other_start: float
    """Ours with exact, mean over pairs of different starts: like for like with the ceiling."""
    ceiling: float
    """Exact with exact, mean over pairs of different starts."""
    own: float
    """Ours with ours, mean over pairs of different starts."""
    objective: float
    """Of our plans in (1), over that of exact ones; monotone start."""
    restarted: float
    """Exact from other starts over exact from the monotone one: are they as good?"""
    seconds: float
    """Processor time of ours, monotone start."""
    seconds_exact: float
    converged: bool


def agreement(tested: TestedClass) -> Agreement:
    """Solve a class from several starts, both ways."""
    ours, exact, clock = list[BarycenterSolution](), list[BarycenterSolution](), list[float]()
    for seed in STARTS:
        begun = time.process_time()
        ours.append(solve(tested, seed=seed))
        between = time.process_time()
        exact.append(solve(tested, seed=seed, solver="exact"))
        clock += [between - begun, time.process_time() - between]
    alpha = SolverConfig().alpha
    values = [objective(tested.group, solution, alpha) for solution in exact]
    pairs = list(itertools.combinations(STARTS, 2))
    return Agreement(
        source=tested.source,
        cluster=tested.cluster,
        layer=tested.layer,
        n_rollouts=len(tested.group.features),
        n_tokens=tested.n_tokens,
        same_start=ranks(ours[0], exact[0]),
        other_start=float(
            np.mean([ranks(ours[i], exact[j]) for i, j in itertools.permutations(STARTS, 2)])
        ),
        ceiling=float(np.mean([ranks(exact[i], exact[j]) for i, j in pairs])),
        own=float(np.mean([ranks(ours[i], ours[j]) for i, j in pairs])),
        objective=objective(tested.group, ours[0], alpha) / values[0],
        restarted=float(np.mean(values[1:])) / values[0],
        seconds=clock[0],
        seconds_exact=clock[1],
        converged=all(solution.converged for solution in ours),
    )


def bootstrap(
    differences: Sequence[float], clusters: Sequence[str], draws: int = 10_000
) -> tuple[float, float, float]:
    """Mean of paired differences and its 95 % interval, clusters drawn with replacement.

    The layers of one class come and go together, so that they do not count as many classes.
    """
    names, index = np.unique(np.asarray(clusters), return_inverse=True)
    values = np.asarray(differences, dtype=float)
    totals = np.bincount(index, weights=values)
    counts = np.bincount(index).astype(float)
    drawn = np.random.default_rng(0).integers(len(names), size=(draws, len(names)))
    means = totals[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)
