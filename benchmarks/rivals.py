"""How far do the credit signals agree? Rank correlations on the demo and on SmolLM2's rollouts.

    python -m benchmarks.rivals [--groups 25] [--json FILE]

Spearman correlation over the tokens of one outcome class, mean over classes that have both outcomes
(shear needs the other one). "uniform" is constant, so it has no ranks.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
import torch

from benchmarks.fidelity_parts.kept_runs import kept_runs
from hara_viz.analysis.ranks import spearman
from hara_viz.backend.credit import credit_of
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import Signal
from hara_viz.store import Run

SIGNALS: tuple[Signal, ...] = ("hara", "position", "entropy", "surprisal", "shear")


def correlations(run: Run, n_groups: int) -> tuple[dict[str, float], int]:
    """Mean correlation of each pair of signals, and over how many classes."""
    found: dict[str, list[float]] = {}
    n_classes = 0
    for key in run.keys()[:n_groups]:
        group, states = run.load_group(key), run.load_states(key, run.layers[-1])
        credits = {s: credit_of(group, states, CreditConfig(signal=s)) for s in SIGNALS}
        outcomes = credits["hara"].credit.outcomes
        if len(outcomes) < 2:
            continue
        for outcome in outcomes:
            if len(outcome.rows) < 2:
                continue
            n_classes += 1
            values = {
                signal: torch.cat([c.of_row(c.credit.novelty, r) for r in outcome.rows]).numpy()
                for signal, c in credits.items()
            }
            for a, b in itertools.combinations(SIGNALS, 2):
                rho = spearman(values[a], values[b])
                if rho is not None:
                    found.setdefault(f"{a}, {b}", []).append(rho)
    return {pair: float(np.mean(rhos)) for pair, rhos in found.items()}, n_classes


def table(found: dict[str, float]) -> str:
    """A square in Markdown."""
    lines = ["| | " + " | ".join(SIGNALS[1:]) + " |", "|---|" + "--:|" * (len(SIGNALS) - 1)]
    for place, a in enumerate(SIGNALS[:-1]):
        cells = ["" for _ in SIGNALS[1 : place + 1]]
        cells += [f"{found.get(f'{a}, {b}', float('nan')):+.2f}" for b in SIGNALS[place + 1 :]]
        lines.append(f"| {a} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=25)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    record: dict[str, dict[str, float]] = {}
    for name, run in kept_runs():
        found, n_classes = correlations(run, options.groups)
        record[name] = found
        print(f"\n{name}, layer {run.layers[-1]}, {n_classes} classes\n{table(found)}")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
