"""What a training batch costs: one group, and 32 groups together against 32 single calls.

    python -m benchmarks.training_group [--threads 2] [--device cuda]

Groups of 8 rollouts in one outcome class, D = 576, K = 32 and "auto"; lengths differ within a group
from 0.6 to 1 of its longest. Both ways give the same bits, which is checked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Literal

import torch

from benchmarks.ot_parts.measured import bind_threads, calibration, timed
from benchmarks.ot_parts.planted import planted
from hara_viz.ot import RolloutClass, SolverConfig, solve_barycenters

ROLLOUTS, GROUPS, DIM = 8, 32, 576
RANGES = ((32, 64), (64, 128), (64, 256), (256, 256))


def groups(shortest: int, longest: int, options: argparse.Namespace) -> list[RolloutClass]:
    """Groups whose longest rollouts lie in that range."""
    generator = torch.Generator().manual_seed(0)
    built: list[RolloutClass] = []
    for seed in range(options.groups):
        top = int(torch.randint(shortest, longest + 1, (1,), generator=generator))
        shares = 0.6 + 0.4 * torch.rand(ROLLOUTS, generator=generator)
        lengths = [max(int(top * share), 2) for share in shares.tolist()]
        lengths[0] = top
        group = planted(lengths, options.dim, seed=seed, device=options.device)
        built.append(RolloutClass(group.features, group.locations))
    return built


def measure(
    span: tuple[int, int], n_support: int | Literal["auto"], options: argparse.Namespace
) -> dict[str, Any]:
    """Milliseconds a group alone and in the batch."""
    classes, config = groups(*span, options), SolverConfig(n_support=n_support)
    solve_barycenters(classes[:2], config)  # warm-up
    repeats, device = options.repeats, options.device
    alone, singles = timed(
        lambda: [solve_barycenters([c], config)[0] for c in classes], repeats, device
    )
    together, batch = timed(lambda: solve_barycenters(classes, config), repeats, device)
    equal = all(
        torch.equal(a, b)
        for one, other in zip(singles, batch, strict=True)
        for a, b in zip(one.costs, other.costs, strict=True)
    )
    return {
        "lengths": span,
        "K": n_support,
        "single_ms": 1e3 * alone.best / len(classes),
        "batch_ms": 1e3 * together.best / len(classes),
        "ratio": alone.best / together.best,
        "cpu_ratio": alone.cpu / together.cpu,
        "equal": equal,
        "converged": sum(s.converged for s in batch),
        "rounds": sum(s.iterations for s in batch) / len(batch),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--dim", type=int, default=DIM)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    bind_threads(options.threads)
    machine = calibration(options.device)
    print(f"calibration {machine['gflops']:.0f} GFLOP/s · {options.threads} threads")
    print("| longest | K | alone ms | together ms | ratio | cpu ratio | rounds | same bits |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    rows: list[dict[str, Any]] = []
    for span in RANGES:
        for n_support in (32, "auto"):
            row = measure(span, n_support, options)
            rows.append(row)
            print(
                "| {lengths[0]}-{lengths[1]} | {K} | {single_ms:.1f} | {batch_ms:.1f} | "
                "{ratio:.2f} | {cpu_ratio:.2f} | {rounds:.1f} | {equal} |".format(**row)
            )
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
