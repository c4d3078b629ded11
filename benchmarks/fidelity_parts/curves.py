"""One setting at a time: cost against agreement with exact FGW."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.fidelity_parts.agreement import ranks, solve
from benchmarks.fidelity_parts.classes import TestedClass
from benchmarks.ot_parts.planted import objective
from hara_viz.ot import BarycenterSolution

Options = dict[str, Any]

CURVES: dict[str, list[Options]] = {
    "refine": [{"refine": n} for n in (0, 1, 2, 5, 10, 20)],
    "anchors": [
        *({"n_anchors": n} for n in (1, 2, 4, 8, 16, 32, 64)),
        {"anchors": "coupling"},
    ],
    "state": [
        {"structure": "state"},
        {"structure": "state", "n_anchors": 64},
        {"structure": "state", "anchors": "prompt"},
        {"structure": "state", "anchors": "coupling"},
        {"structure": "state", "refine": 10},
    ],
    "epsilon": [{"epsilon": e} for e in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)],
    "alpha": [
        *({"alpha": a} for a in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97)),
        *({"alpha": a, "cost_scale": "mean"} for a in (0.1, 0.3, 0.5, 0.7, 0.9)),
    ],
    "n_support": [{"n_support": k} for k in (4, 8, 16, 32)],
    "tolerance": [{"tolerance": t} for t in (5e-2, 1e-2, 1e-3)],
}
EXACT = ("alpha", "structure", "cost_scale", "n_support")
"""Settings that change the problem, not the approximation: exact FGW is solved with them too."""


@dataclass(frozen=True, slots=True)
class Point:
    """A setting, averaged over classes."""

    curve: str
    options: Options
    n_classes: int
    agreement: float
    """Spearman correlation of token novelty with exact FGW from the same (monotone) start."""
    other_start: float
    """The same from different starts."""
    ceiling: float
    """Exact with exact from another start."""
    own: float
    """Ours with ours from another start."""
    objective: float
    """Of our plans in (1), over exact; NaN where (1) is not that of locations."""
    cost: float
    """Processor time over that of the defaults on the same classes."""
    structure_share: float
    """Of the novelty, how much is structure."""
    rounds: float
    converged: float
    """Share of classes."""


def curve(name: str, classes: Sequence[TestedClass]) -> Iterator[Point]:
    """The points of one curve; classes that lack what a setting needs are left out of it."""
    base = [_clocked(tested, {})[1] for tested in classes]
    oracles: dict[tuple[int, str], tuple[BarycenterSolution, BarycenterSolution]] = {}
    for options in CURVES[name]:
        rows, spent, usual = list[list[float]](), 0.0, 0.0
        for place, tested in enumerate(classes):
            if options.get("anchors") == "prompt" and tested.prompt is None:
                continue
            problem = {key: value for key, value in options.items() if key in EXACT}
            oracle = oracles.setdefault((place, repr(problem)), _oracle(tested, problem))
            ours, seconds = _clocked(tested, options)
            spent, usual = spent + seconds, usual + base[place]
            rows.append(_row(tested, ours, oracle, options))
        if rows:
            means = np.mean(rows, axis=0)
            yield Point(name, options, len(rows), *means[:5], spent / usual, *means[5:])


def _clocked(tested: TestedClass, options: Options) -> tuple[BarycenterSolution, float]:
    begun = time.process_time()
    solution = solve(tested, **options)
    return solution, time.process_time() - begun


def _oracle(tested: TestedClass, problem: Options) -> tuple[BarycenterSolution, BarycenterSolution]:
    first = solve(tested, solver="exact", **problem)
    return first, solve(tested, solver="exact", seed=1, **problem)


def _row(
    tested: TestedClass,
    ours: BarycenterSolution,
    oracle: tuple[BarycenterSolution, BarycenterSolution],
    options: Options,
) -> list[float]:
    again = solve(tested, **options, seed=1)
    exact, other = oracle
    structure = float(sum(part.mean() for part in ours.costs_structure))
    whole = float(sum(part.mean() for part in ours.costs))
    scored = options.get("structure") != "state" and "cost_scale" not in options
    alpha = options.get("alpha", 0.5)
    ratio = (
        objective(tested.group, ours, alpha) / objective(tested.group, exact, alpha)
        if scored
        else float("nan")
    )
    return [
        ranks(ours, exact),
        (ranks(ours, other) + ranks(again, exact)) / 2,
        ranks(exact, other),
        ranks(ours, again),
        ratio,
        structure / whole if whole else float("nan"),
        float(ours.iterations),
        float(ours.converged),
    ]
