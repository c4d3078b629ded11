"""How far can a viewer believe a colour? Token novelty against exact FGW, beside the ceiling.

    python -m benchmarks.fidelity [--quick] [--groups 12] [--curves refine …] [--json FILE]

A barycenter is not unique: exact solves (POT) from different starts rank the tokens differently
too. So ranks are read beside that ceiling. "same start" is what the app shows: ours and exact from
the monotone start. "other start" pairs different starts, as the ceiling does, and is the fair one.

Classes: planted ones, two demo runs in three layers, and SmolLM2-135M-Instruct in three layers (if
installed), all kept below artifacts/fidelity after the first call.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from benchmarks.fidelity_parts.agreement import Agreement, agreement, bootstrap
from benchmarks.fidelity_parts.classes import TestedClass, planted_classes, real_classes
from benchmarks.fidelity_parts.curves import CURVES, Point, curve

TARGET = -0.03
"""The lower bound of (ours − ceiling) is to lie above it."""
FIELDS = ("same_start", "other_start", "ceiling", "own", "objective", "restarted")


def agreement_table(found: Sequence[Agreement]) -> str:
    """Means per source and layer, as Markdown."""
    lines = [
        "| rollouts | layer | classes | ours: same start | ours: other start | ceiling | "
        "ours with ours | objective / exact | exact restarted | converged |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for source, layer in dict.fromkeys((a.source, a.layer) for a in found):
        own = [a for a in found if (a.source, a.layer) == (source, layer)]
        means = [f"{np.mean([getattr(a, name) for a in own]):.3f}" for name in FIELDS]
        n_converged = sum(a.converged for a in own)
        cells = [source, "–" if layer is None else str(layer), str(len(own)), *means]
        lines.append("| " + " | ".join([*cells, f"{n_converged}/{len(own)}"]) + " |")
    return "\n".join(lines)


def verdicts(found: Sequence[Agreement]) -> list[dict[str, object]]:
    """Ours − ceiling: mean and 95 % interval over classes, real ones alone and all."""
    rows: list[dict[str, object]] = []
    for which, chosen in (
        ("real", [a for a in found if a.source != "planted"]),
        ("all", list(found)),
    ):
        if not chosen:
            continue
        for name in ("same_start", "other_start"):
            differences = [getattr(a, name) - a.ceiling for a in chosen]
            mean, low, high = bootstrap(differences, [a.cluster for a in chosen])
            n_clusters = len({a.cluster for a in chosen})
            rows.append(
                {
                    **{"classes": which, "n": len(chosen), "n_clusters": n_clusters},
                    **{"compared": name, "mean": mean, "low": low, "high": high},
                    "met": low > TARGET,
                }
            )
    return rows


def curve_table(points: Sequence[Point]) -> str:
    """One curve as Markdown."""
    lines = [
        "| setting | classes | same start | other start | ceiling | ours with ours | "
        "objective / exact | cost | structure | rounds | converged |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for p in points:
        setting = ", ".join(f"{key} {value}" for key, value in p.options.items())
        ratio = "–" if np.isnan(p.objective) else f"{p.objective:.3f}"
        lines.append(
            f"| {setting} | {p.n_classes} | {p.agreement:.3f} | {p.other_start:.3f} | "
            f"{p.ceiling:.3f} | {p.own:.3f} | {ratio} | {p.cost:.1f}x | "
            f"{p.structure_share:.0%} | {p.rounds:.0f} | {p.converged:.0%} |"
        )
    return "\n".join(lines)


def spread(classes: Sequence[TestedClass], at_most: int) -> list[TestedClass]:
    """So many classes, evenly from all."""
    step = max(len(classes) // at_most, 1)
    return list(classes[::step])[:at_most]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=12, help="groups of each run")
    parser.add_argument("--planted", type=int, default=12, help="planted classes")
    parser.add_argument("--curves", nargs="*", choices=[*CURVES], default=[*CURVES])
    parser.add_argument("--curve-classes", type=int, default=36)
    parser.add_argument("--quick", action="store_true", help="three planted classes, one curve")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    options = parse(arguments)
    torch.set_num_threads(1)
    begun = time.process_time()
    if options.quick:
        classes, curves = list(planted_classes(3)), ["refine"]
    else:
        classes = [*real_classes(options.groups), *planted_classes(options.planted)]
        curves = options.curves
    found = [agreement(tested) for tested in classes]
    print(agreement_table(found))
    judged = verdicts(found)
    for row in judged:
        print(
            "ours ({compared}) − ceiling, {n} {classes} classes in {n_clusters} clusters: "
            "{mean:+.3f}, 95 % interval {low:+.3f} … {high:+.3f}; "
            .format(**row)
            + f"lower bound above {TARGET}: {'yes' if row['met'] else 'NO'}"
        )  # fmt: skip
    points: list[Point] = []
    for name in curves:
        own = list(curve(name, spread(classes, options.curve_classes)))
        points += own
        print(f"\n{name}\n{curve_table(own)}")
    print(f"\n{time.process_time() - begun:.0f} s of processor time")
    if options.json:
        record = {
            "agreement": [asdict(a) for a in found],
            "verdicts": judged,
            "curves": [asdict(p) for p in points],
        }
        options.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
