"""How stable is a colour over starts, and how often is a step's novelty more than chance?

    python -m benchmarks.doubt [--groups 8] [--shuffles 199] [--json FILE]

Stability: eight starts. Null: outcomes shuffled, tokens shuffled in time, per reasoning step, at
a false-discovery rate of 0.1 in each group. Power: a stretch of eight tokens is pulled towards
directions of its own by a share, in one of five planted rollouts; found = its q is at most 0.1.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.fidelity_parts.kept_runs import kept_runs
from benchmarks.ot_parts.planted import planted
from hara_viz.credit import CreditConfig, novelty_null, novelty_stability
from hara_viz.store import Run
from hara_viz.types import GroupKey

RATE = 0.1
STRETCH, LENGTH, ROLLOUTS = 8, 64, 5


def inputs(run: Run, key: GroupKey, layer: int) -> tuple[dict[str, Tensor], Tensor]:
    """A group as the doors of credit take it, and its reasoning steps."""
    group, states = run.load_group(key), run.load_states(key, layer)
    assert states is not None  # the runs were made so
    steps = [torch.tensor(r.reasoning_step or [0] * len(r.completion_ids)) for r in group.rollouts]
    packed = {
        "states": states.states,
        "offsets": states.offsets,
        "rewards": group.rewards,
        "group_index": torch.zeros(len(group), dtype=torch.long),
    }
    return packed, torch.cat(steps)


def of_run(name: str, run: Run, n_groups: int, n_shuffles: int) -> dict[str, Any]:
    """Stability and discoveries on the last layer."""
    layer, config = run.layers[-1], CreditConfig()
    spreads, agreements, kept = list[Tensor](), list[float](), list[float]()
    found: dict[str, list[float]] = {"outcomes": [], "time": []}
    for key in run.keys()[:n_groups]:
        packed, steps = inputs(run, key, layer)
        stable = novelty_stability(**packed, config=config)
        known = ~stable.rank.isnan()
        spreads.append((stable.rank_high - stable.rank_low)[known])
        agreements += [c.agreement for c in stable.classes if c.agreement == c.agreement]
        top = stable.rank[known] >= 0.9
        kept.append(float((stable.rank_low[known][top] >= 0.8).double().mean()))
        for null, shares in found.items():
            q = novelty_null(
                **packed,
                config=config,
                spans=steps,
                null="outcomes" if null == "outcomes" else "time",
                n_shuffles=n_shuffles,
            ).q
            q = q[~q.isnan()]
            if len(q):
                shares.append(float((q <= RATE).double().mean()))
    spread = torch.cat(spreads)
    return {
        "run": name,
        "layer": layer,
        "agreement": float(np.mean(agreements)),
        "spread_median": float(spread.median()),
        "spread_90": float(spread.quantile(0.9)),
        "top_tenth_stays_in_top_fifth": float(np.mean(kept)),
        "steps_found_outcomes": float(np.mean(found["outcomes"])) if found["outcomes"] else None,
        "steps_found_time": float(np.mean(found["time"])),
    }


def power(share: float, draws: int, n_shuffles: int) -> dict[str, float]:
    """How often a planted stretch is found, and how many others are."""
    hits, false = list[bool](), list[int]()
    for seed in range(draws):
        group = planted([LENGTH] * ROLLOUTS, 64, seed=seed)
        own = torch.randn(STRETCH, 64, generator=torch.Generator().manual_seed(seed))
        own = torch.nn.functional.normalize(own * torch.arange(1, 65) ** -0.625, dim=-1)
        states = torch.cat(group.features)
        place = slice(2 * LENGTH + 3 * STRETCH, 2 * LENGTH + 4 * STRETCH)
        states[place] = (1 - share) * states[place] + share * own
        found = novelty_null(
            states,
            torch.arange(ROLLOUTS + 1) * LENGTH,
            torch.ones(ROLLOUTS),
            torch.zeros(ROLLOUTS, dtype=torch.long),
            spans=torch.arange(LENGTH).repeat(ROLLOUTS) // STRETCH,
            null="time",
            n_shuffles=n_shuffles,
            seed=seed,
        )
        planted_one = (found.rows == 2) & (found.numbers == 3)
        hits.append(bool((found.q[planted_one] <= RATE).all()))
        false.append(int((found.q[~planted_one] <= RATE).sum()))
    return {"share": share, "power": float(np.mean(hits)), "others": float(np.mean(false))}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--shuffles", type=int, default=199)
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    powers = [power(s, options.draws, 2 * options.shuffles + 1) for s in (0.0, 0.25, 0.5, 1.0)]
    for row in powers:
        print(
            "planted share {share}: found {power:.2f}; others found {others:.1f} of 39".format(
                **row
            )
        )
    rows: list[dict[str, Any]] = []
    for name, run in kept_runs():
        rows.append(of_run(name, run, options.groups, options.shuffles))
        print(rows[-1])
    if options.json:
        options.json.write_text(json.dumps({"power": powers, "runs": rows}, indent=1))


if __name__ == "__main__":
    main()
