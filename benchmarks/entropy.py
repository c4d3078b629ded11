"""How much of the FGW objective above exact is the entropy's, and how much our approximation's?

    python -m benchmarks.entropy [--classes 8]

Outcome classes of the demo's real rollouts. Barycenters from ours at its defaults, and from POT's
entropic FGW in float64 at the same absolute entropy weight, alternated with the closed updates (2b)
from where ours ended; both plans are put into (1) and given over POT's exact objective. What both
share is the blur's, and no solver of the regularised problem avoids it.
"""

from __future__ import annotations

import argparse
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from benchmarks.fidelity_parts.agreement import solve
from benchmarks.fidelity_parts.classes import TestedClass, real_classes
from benchmarks.ot_parts.planted import objective
from hara_viz.ot import BarycenterSolution, SolverConfig

EPSILONS = (0.02, 0.1, 0.2)
ALPHA = SolverConfig().alpha
MOST_TOKENS, ROUNDS = 700, 15


def entropic(tested: TestedClass, ours: BarycenterSolution) -> Any:
    """POT's plans and the barycenter of them, as `objective` takes a solution."""
    import ot

    fused: Any = ot.gromov.entropic_fused_gromov_wasserstein
    features = [h.double().numpy() for h in tested.group.features]
    lines = [line.double().numpy() for line in tested.group.locations]
    structures = [np.abs(line[:, None] - line[None]) for line in lines]
    support, structure = ours.features.double().numpy(), ours.structure.double().numpy()
    n_support = len(support)
    q, plans = np.full(n_support, 1 / n_support), list[Any]()
    for _ in range(ROUNDS):
        plans = [
            fused(
                ((h[:, None] - support[None]) ** 2).sum(-1), c, structure,
                np.full(len(h), 1 / len(h)), q, "square_loss",
                epsilon=ours.reference.scales.epsilon, alpha=ALPHA, max_iter=50, tol=1e-7,
            )
            for h, c in zip(features, structures, strict=True)
        ]  # fmt: skip
        scale = n_support / len(plans)
        support = scale * sum(p.T @ h for p, h in zip(plans, features, strict=True))
        products = [p.T @ c @ p for p, c in zip(plans, structures, strict=True)]
        structure = scale * n_support * sum(products)
    return SimpleNamespace(
        plans=[torch.from_numpy(plan) for plan in plans],
        features=torch.from_numpy(support),
        structure=torch.from_numpy(structure),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--classes", type=int, default=8)
    given = parser.parse_args()
    small = (tested for tested in real_classes(3) if tested.n_tokens <= MOST_TOKENS)
    found: dict[float, list[tuple[float, float]]] = {epsilon: [] for epsilon in EPSILONS}
    for tested in islice(small, given.classes):
        exact = objective(tested.group, solve(tested, solver="exact"), ALPHA)
        print(f"{tested.cluster}, layer {tested.layer}, {tested.n_tokens} tokens", end="")
        for epsilon in EPSILONS:
            ours = solve(tested, epsilon=epsilon)
            solutions = ours, entropic(tested, ours)
            a, b = (objective(tested.group, solution, ALPHA) / exact for solution in solutions)
            found[epsilon].append((a, b))
            mark = "" if ours.converged else " (not converged)"
            print(f"  ε {epsilon}: ours {a:.3f}{mark}, POT {b:.3f}", end="", flush=True)
        print()
    for epsilon, pairs in found.items():
        ours, pot = np.mean(pairs, axis=0)
        print(f"mean at ε {epsilon}: ours {ours:.3f}, POT's entropic solver {pot:.3f} of exact")


if __name__ == "__main__":
    main()
