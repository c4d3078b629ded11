"""FGW barycenters: ours against others on the same rollouts, start, K and threads, in one process.

    python -m benchmarks.ot [--threads 2] [--json FILE] [--device cuda]

POT runs `gromov.fgw_barycenters` in float64 with warm plans (its quickest setting), ott-jax its
compiled fused barycenter in float32. All times run from lists of states to the answer: padding,
projection and scoring included. Times mean little beyond this machine and its other work, so read
the ratios, which were taken in one run, and the calibration line.

`x bare` is the time over that of the matrix products alone at the dimensions used: two products a
round (D, or the sketch's S + A), the projection, and the two that start and lift in D.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from benchmarks.ot_parts.measured import bind_threads, calibration, peak_beyond, timed
from benchmarks.ot_parts.peers import exact_objective, ott_solver
from benchmarks.ot_parts.planted import SPECTRUM, Group, objective, planted, rank_agreement
from hara_viz.ot import BarycenterSolution, anchored_solve, fgw_barycenter

ROLLOUTS, SUPPORT, DIM, ALPHA, ANCHORS = 8, 32, 576, 0.5, 16
OTT_EPSILON = 0.02
Row = dict[str, Any]


def solve(group: Group, **options: Any) -> BarycenterSolution:
    """Ours, at its defaults."""
    return fgw_barycenter(
        group.features, group.locations, n_support=SUPPORT, alpha=ALPHA, **options
    )


def bare_products(group: Group, solution: BarycenterSolution) -> float:
    """Seconds of the matrix products alone, at the dimensions that the solve used."""
    h = torch.cat([states.float() for states in group.features])
    device, n = str(h.device), len(h)

    def pair(atoms: torch.Tensor) -> float:
        y = torch.randn(SUPPORT, atoms.shape[1], device=h.device)
        plan = torch.rand(n, SUPPORT, device=h.device)
        return timed(lambda: (atoms @ y.T, plan.T @ atoms), 5, device)[0].best

    full, sketch = pair(h), solution.sketch
    if sketch is None:
        return (solution.iterations + 0.5) * full
    directions = torch.randn(h.shape[1], sketch.dimension, device=h.device)
    projection = timed(lambda: h @ directions, 5, device)[0].best
    small = pair(torch.randn(n, sketch.dimension + ANCHORS, device=h.device))
    late = solution.iterations - sketch.rounds
    return sketch.rounds * small + projection + (late + 1.0) * full


def measure(length: int, options: argparse.Namespace) -> Row:
    """Ours at one length; beside it what is asked of peers."""
    group = planted([length] * ROLLOUTS, DIM, spectrum=options.spectrum, device=options.device)
    solve(group)  # warm-up
    repeats = max(options.repeats, 1)
    timing, solution = timed(lambda: solve(group), repeats, options.device)
    memory, _ = peak_beyond(lambda: solve(group), options.device)
    sketch = solution.sketch
    row: Row = {
        "T": length,
        "ours_s": timing.wall,
        "ours_best_s": timing.best,
        "ours_cpu_s": timing.cpu,
        "rounds": solution.iterations,
        "converged": solution.converged,
        "marginal_error": solution.marginal_error,
        "sketch_dim": sketch.dimension if sketch else None,
        "sketch_rounds": sketch.rounds if sketch else 0,
        "sketch_error": sketch.error if sketch else None,
        "over_bare_products": timing.best / bare_products(group, solution),
        "beyond_input_mb": memory,
    }
    if length <= max(options.peer_lengths, default=0):
        row |= against_full(group, solution)
    if length in options.peer_lengths:
        row |= against_pot(group, solution, timing.wall, timing.cpu)
    if length in options.ott_lengths:
        row |= against_ott(group, solution, timing.wall, timing.cpu)
    return row


def against_full(group: Group, solution: BarycenterSolution) -> Row:
    """What the sketch changes: objective and ranks against all rounds in all dimensions."""
    with mock.patch.object(anchored_solve, "sketch_basis", lambda means: None):
        timing, full = timed(lambda: solve(group), 2)
    return {
        "full_s": timing.best,
        "objective_over_full": objective(group, solution, ALPHA) / objective(group, full, ALPHA),
        "rank_agreement_with_full": rank_agreement(solution.costs, full.costs),
    }


def against_pot(group: Group, solution: BarycenterSolution, wall: float, cpu: float) -> Row:
    """POT's exact barycenter."""
    timing, exact = timed(lambda: solve(group, solver="exact"), 1)
    ratio = objective(group, solution, ALPHA) / objective(group, exact, ALPHA)
    return {
        "pot_s": timing.wall,
        "pot_cpu_s": timing.cpu,
        "ratio_to_pot": timing.wall / wall,
        "cpu_ratio_to_pot": timing.cpu / cpu,
        "objective_over_pot": ratio,
        "rank_agreement_with_pot": rank_agreement(solution.costs, exact.costs),
    }


def against_ott(group: Group, solution: BarycenterSolution, wall: float, cpu: float) -> Row:
    """ott-jax's entropic barycenter; an empty row if it is not installed."""
    call = ott_solver(group, SUPPORT, OTT_EPSILON * float(torch.cat(solution.costs).mean()))
    if call is None:
        return {}
    call()  # compilation
    timing, (features, structure, rounds) = timed(call, 1)
    ours = exact_objective(group, solution.features.cpu(), solution.structure.cpu(), ALPHA)
    return {
        "ott_s": timing.wall,
        "ott_cpu_s": timing.cpu,
        "ott_rounds": rounds,
        "ratio_to_ott": timing.wall / wall,
        "cpu_ratio_to_ott": timing.cpu / cpu,
        "objective_over_ott": ours / exact_objective(group, features, structure, ALPHA),
    }


def largest(options: argparse.Namespace) -> Row:
    """Sixteen rollouts of 16,384 states of size 2,048 in bfloat16: time and memory."""
    n_rollouts, length, dim = options.largest
    group = planted([length] * n_rollouts, dim, dtype=torch.bfloat16, device=options.device)
    memory, (timing, solution) = peak_beyond(
        lambda: timed(lambda: solve(group), 1, options.device), options.device
    )
    return {
        "R": n_rollouts,
        "T": length,
        "D": dim,
        "ours_s": timing.wall,
        "ours_cpu_s": timing.cpu,
        "rounds": solution.iterations,
        "converged": solution.converged,
        "beyond_input_mb": memory,
        "tokens_per_s": n_rollouts * length / timing.wall,
    }


def growth(rows: list[Row], key: str) -> float | None:
    """Exponent b of time ∝ T^b by least squares over T ≥ 1,024."""
    logs = [(math.log(row["T"]), math.log(row[key])) for row in rows if row["T"] >= 1024]
    if len(logs) < 2:
        return None
    x, y = torch.tensor(logs, dtype=torch.float64).T
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())


def per_round(rows: list[Row]) -> list[Row]:
    """The same rows with the time of one round: rounds differ from length to length."""
    return [row | {"round_s": row["ours_best_s"] / row["rounds"]} for row in rows]


COLUMNS = (
    ("T", "T", "{:d}"),
    ("ours s", "ours_s", "{:.3f}"),
    ("cpu s", "ours_cpu_s", "{:.3f}"),
    ("rounds", "rounds", "{:d}"),
    ("S", "sketch_dim", "{:d}"),
    ("S error", "sketch_error", "{:.4f}"),
    ("x bare", "over_bare_products", "{:.1f}"),
    ("MB", "beyond_input_mb", "{:.0f}"),
    ("obj/full", "objective_over_full", "{:.4f}"),
    ("rank full", "rank_agreement_with_full", "{:.3f}"),
    ("POT s", "pot_s", "{:.2f}"),
    ("ratio", "ratio_to_pot", "{:.0f}x"),
    ("cpu ratio", "cpu_ratio_to_pot", "{:.0f}x"),
    ("obj/POT", "objective_over_pot", "{:.4f}"),
    ("ott s", "ott_s", "{:.2f}"),
    ("ratio", "ratio_to_ott", "{:.0f}x"),
    ("obj/ott", "objective_over_ott", "{:.4f}"),
)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| " + " | ".join(head for head, _, _ in COLUMNS) + " |", "|--:" * len(COLUMNS) + "|"]
    for row in rows:
        cells = ["–" if row.get(key) is None else form.format(row[key]) for _, key, form in COLUMNS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    lengths = [256, 512, 1024, 2048, 4096, 8192, 16384]
    parser.add_argument("--lengths", type=int, nargs="*", default=lengths)
    parser.add_argument("--peer-lengths", type=int, nargs="*", default=[256, 512, 1024, 2048])
    parser.add_argument("--ott-lengths", type=int, nargs="*", default=[256])
    parser.add_argument("--largest", type=int, nargs="*", default=[16, 16384, 2048])
    parser.add_argument("--spectrum", type=float, default=SPECTRUM)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    options = parse(arguments)
    bind_threads(options.threads)
    machine = calibration(options.device)
    print(
        f"calibration {machine['gflops']:.0f} GFLOP/s, {machine['gigabytes_per_second']:.0f} GB/s"
        f" · {options.threads} threads · {options.device} · R = {ROLLOUTS}, K = {SUPPORT}, "
        f"D = {DIM}, alpha = {ALPHA}, spectrum {options.spectrum:g}"
    )
    rows: list[Row] = []
    for length in options.lengths:
        rows.append(measure(length, options))
        print(f"T = {length}: {rows[-1]['ours_s']:.3f} s", file=sys.stderr)
    print(table(rows))
    if options.ott_lengths and not any("ott_s" in row for row in rows):
        print("ott-jax was not measured: pip install 'hara-viz[bench]'")
    whole = growth(rows, "ours_best_s")
    if whole is not None:
        print(f"growth T^{whole:.2f}, of one round T^{growth(per_round(rows), 'round_s'):.2f}")
    top = largest(options) if options.largest else None
    if top:
        print(
            "{R} x {T} x {D} bfloat16: {ours_s:.1f} s ({ours_cpu_s:.1f} s of processor time), "
            "{rounds} rounds, {beyond_input_mb:.0f} MB beyond the input".format(**top)
        )
    if options.json:
        found = {"machine": machine, "threads": options.threads, "rows": rows, "largest": top}
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
