"""Which tokens does HarA move? Mean weight of each kind of token, setting by setting.

    python -m benchmarks.token_weights [--groups 12] [--json FILE]

A weight of 1 leaves a token's advantage as it is. η² says how much of the variance of novelty is
told by the token's id alone, without a look at where and among what it stands; chance would give
about (ids − 1) / (tokens − 1), printed beside it. "structure" is its share of the novelty.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.fidelity_parts.kept_runs import kept_runs
from benchmarks.fidelity_parts.tokens import KINDS, kinds
from hara_viz.backend.credit import credit_of
from hara_viz.credit import CreditConfig
from hara_viz.store import Run

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "center_l2": {"normalize": "center_l2"},
    "not normalised": {"normalize": "none"},
    "cost_scale mean": {"cost_scale": "mean"},
    "cost_scale mean, alpha 0.1": {"cost_scale": "mean", "alpha": 0.1},
    "alpha 0": {"alpha": 0.0},
    "alpha 0.9": {"alpha": 0.9},
    "epsilon 0.1": {"epsilon": 0.1},
    "structure state": {"structure": "state"},
    "leave one out": {"reference": "leave_one_out"},
    "opposite outcome": {"reference": "opposite_outcome"},
    "whole group": {"reference": "group"},
    "step": {"granularity": "step"},
    "token + step": {"granularity": {"token": 0.5, "step": 0.5}},
    "token + step + rollout": {"granularity": {"token": 0.5, "step": 0.3, "rollout": 0.2}},
    "surprisal": {"signal": "surprisal"},
    "entropy": {"signal": "entropy"},
    "shear": {"signal": "shear"},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One run, layer and setting."""

    run: str
    layer: int
    setting: str
    n_tokens: int
    structure_share: float
    by_id: float
    """η² of z by token id, mean over classes."""
    by_chance: float
    weights: dict[str, float]
    """Mean weight of each kind."""
    counts: dict[str, int]
    spread: float
    """Standard deviation of the weights."""


def measure(name: str, run: Run, layer: int, setting: str, n_groups: int) -> Row:
    """Over the classes of at least two rollouts of the first groups."""
    config = CreditConfig(**SETTINGS[setting])
    weights, labels = list[np.ndarray](), list[str]()
    told, chance, shares = list[float](), list[float](), list[float]()
    for key in run.keys()[:n_groups]:
        group, states = run.load_group(key), run.load_states(key, layer)
        found = credit_of(group, states, config)
        for outcome in found.credit.outcomes:
            if len(outcome.rows) < 2:
                continue
            own = [found.of_row(found.credit.weights, row).numpy() for row in outcome.rows]
            ids = np.concatenate([group.rollouts[row].completion_ids for row in outcome.rows])
            novelty = _joined(found.of_row(found.credit.novelty, row) for row in outcome.rows)
            if novelty.std() == 0:
                continue
            structure = [found.of_row(found.credit.novelty_structure, r) for r in outcome.rows]
            weights += own
            labels += [kind for row in outcome.rows for kind in kinds(group.rollouts[row])]
            told.append(eta_squared(novelty, ids))
            chance.append((len(np.unique(ids)) - 1) / max(len(ids) - 1, 1))
            shares.append(_joined(structure).mean() / novelty.mean())
    values, named = np.concatenate(weights), np.asarray(labels)
    counts = {kind: int((named == kind).sum()) for kind in KINDS}
    means = {kind: float(values[named == kind].mean()) for kind in KINDS if counts[kind]}
    figures = [float(np.mean(x)) for x in (shares, told, chance)]
    return Row(name, layer, setting, len(values), *figures, means, counts, float(values.std()))


def eta_squared(values: np.ndarray, ids: np.ndarray) -> float:
    """Share of the variance of values [N] that lies between ids [N]."""
    _, index = np.unique(ids, return_inverse=True)
    count = np.bincount(index)
    means = np.bincount(index, weights=values) / count
    total = float(((values - values.mean()) ** 2).sum())
    return float((count * (means - values.mean()) ** 2).sum()) / total if total else float("nan")


def _joined(parts: Any) -> np.ndarray:
    return torch.cat(list(parts)).double().numpy()


def table(rows: Sequence[Row]) -> str:
    """Markdown; kinds with fewer than ten tokens are left out."""
    shown = [kind for kind in KINDS if max(row.counts[kind] for row in rows) >= 10]
    lines = [
        "| setting | layer | " + " | ".join(shown) + " | structure | η² by id (chance) |",
        "|---|--:|" + "--:|" * (len(shown) + 2),
    ]
    for row in rows:
        cells = [f"{row.weights[k]:.2f}" if k in row.weights else "–" for k in shown]
        lines.append(
            f"| {row.setting} | {row.layer} | {' | '.join(cells)} | {row.structure_share:.0%} | "
            f"{row.by_id:.2f} ({row.by_chance:.2f}) |"
        )
    counts = [f"{kind} {rows[0].counts[kind]}" for kind in shown]
    return "\n".join([*lines, "", f"Tokens: {', '.join(counts)}."])


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    rows: list[Row] = []
    for name, run in kept_runs():
        # All layers at the default, every setting at the last.
        wanted = [("default", layer) for layer in run.layers[:-1]]
        wanted += [("center_l2", layer) for layer in run.layers[:-1]]
        wanted += [(setting, run.layers[-1]) for setting in SETTINGS]
        own = [measure(name, run, layer, setting, options.groups) for setting, layer in wanted]
        print(f"\n{name}\n{table(own)}")
        rows += own
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
