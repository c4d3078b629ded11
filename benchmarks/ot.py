"""FGW barycenters: ours against POT on the same rollouts, start and K, in one process.

    python -m benchmarks.ot [--lengths 256 1024] [--peer-lengths 256 1024] [--json FILE]

Prints a table and writes JSON if asked. Times are medians and mean little beyond this machine; the
ratios, taken in one run, mean more. The calibration line is a plain Python loop. POT runs
`gromov.fgw_barycenters` in float64 from the same monotone start, warm-started plans (its quickest
setting); both sides include everything from lists of states to costs per atom. The objective (2) of
both answers is computed by the same float64 formula.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from hara_viz.ot import BarycenterSolution, fgw_barycenter

ROLLOUTS, SUPPORT, DIM, ALPHA = 8, 32, 576, 0.5


def rollouts(length: int, seed: int = 0) -> tuple[list[Tensor], list[Tensor]]:
    """Rollouts that pass the same stages of reasoning at paces of their own, some left out."""
    generator = torch.Generator().manual_seed(seed)
    n_stages = max(length // 16, 4)
    stages = torch.randn(n_stages, DIM, generator=generator)
    features: list[Tensor] = []
    for _ in range(ROLLOUTS):
        pace = torch.rand(n_stages, generator=generator) ** 3  # many short stages, a few long ones
        ends = (pace.cumsum(0) / pace.sum() * length).round()
        stage = torch.searchsorted(ends, torch.arange(length) + 0.5).clamp(max=n_stages - 1)
        noise = torch.randn(length, DIM, generator=generator)
        features.append(torch.nn.functional.normalize(stages[stage] + 0.5 * noise, dim=-1))
    return features, [torch.arange(length) / (length - 1)] * ROLLOUTS


def timed(call: Callable[[], BarycenterSolution], repeats: int) -> tuple[float, BarycenterSolution]:
    seconds: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        solution = call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), solution


def objective(
    features: list[Tensor], locations: list[Tensor], solution: BarycenterSolution
) -> float:
    """(2), with the plans and the barycenter as they were handed out."""
    total = 0.0
    for h, line, plan in zip(features, locations, solution.plans, strict=True):
        h, line, plan = h.double(), line.double(), plan.double()
        c, c_b = (line[:, None] - line[None]).abs(), solution.structure.double()
        m = torch.cdist(h, solution.features.double()).square()
        pairs = (c.square() @ plan.sum(1))[:, None] - 2 * c @ plan @ c_b.T
        pairs += (c_b.square() @ plan.sum(0))[None]
        total += float((plan * ((1 - ALPHA) * m + ALPHA * pairs)).sum()) / len(features)
    return total


def bare_products(features: list[Tensor]) -> float:
    """Seconds of one round's two products, states × support and plans × states."""
    h = torch.cat(features)
    y, plan = torch.randn(SUPPORT, DIM), torch.rand(SUPPORT, len(h))
    seconds: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        _ = h @ y.T
        _ = plan @ h
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def calibration() -> float:
    start = time.perf_counter()
    total = 0
    for i in range(5_000_000):
        total += i
    return time.perf_counter() - start


def measure(length: int, with_peer: bool) -> dict[str, float | int | bool | None]:
    features, locations = rollouts(length)
    options = {"n_support": SUPPORT, "alpha": ALPHA}
    fgw_barycenter(features, locations, **options)  # warm-up
    ours, solution = timed(lambda: fgw_barycenter(features, locations, **options), 5)
    row: dict[str, float | int | bool | None] = {
        "T": length,
        "ours_s": ours,
        "rounds": solution.iterations,
        "converged": solution.converged,
        "marginal_error": solution.marginal_error,
        "over_bare_products": ours / (solution.iterations * bare_products(features)),
        "pot_s": None,
        "ratio": None,
        "objective_over_pot": None,
    }
    if with_peer:
        pot, exact = timed(
            lambda: fgw_barycenter(features, locations, solver="exact", **options), 1
        )
        row["pot_s"], row["ratio"] = pot, pot / ours
        row["objective_over_pot"] = objective(features, locations, solution) / objective(
            features, locations, exact
        )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lengths", type=int, nargs="*", default=[64, 256, 1024])
    parser.add_argument("--peer-lengths", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"calibration {calibration():.2f} s · {torch.get_num_threads()} threads · "
          f"R = {ROLLOUTS}, K = {SUPPORT}, D = {DIM}, alpha = {ALPHA}")  # fmt: skip
    heads = [f"{'T':>6}", f"{'ours s':>8}", f"{'rounds':>6}", f"{'x bare':>7}"]
    print(*heads, f"{'POT s':>8}", f"{'ratio':>7}", f"{'objective':>9}")
    rows = [measure(n, n in arguments.peer_lengths) for n in arguments.lengths]
    for row in rows:
        peer = (
            f"{row['pot_s']:8.2f} {row['ratio']:6.0f}x {row['objective_over_pot']:9.4f}"
            if row["pot_s"] is not None
            else f"{'–':>8} {'–':>7} {'–':>9}"
        )
        print(
            f"{row['T']:6d} {row['ours_s']:8.3f} {row['rounds']:6d} "
            f"{row['over_bare_products']:6.1f}x {peer}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
