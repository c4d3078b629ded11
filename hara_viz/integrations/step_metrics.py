"""The figures that a step logs beside the trainer's own, all below `hara/`."""

from __future__ import annotations

import sys

import torch
from torch import Tensor

from hara_viz.credit import CreditConfig
from hara_viz.integrations.batch_credit import RowCredit

_SUMS: tuple[str, ...] = (
    "tokens", "compared", "novelty", "weights", "squares", "clipped", "rows", "lone", "classes",
    "unconverged",
)  # fmt: skip


def step_sums(found: RowCredit, config: CreditConfig) -> Tensor:
    """What `step_figures` divides: sums over this process's rows, float64; add them up over all."""
    credit, own = found.credit, range(found.first, found.first + found.n_local)
    sums: dict[str, float] = dict.fromkeys(_SUMS, 0.0)
    weights = torch.cat(found.of_rows(credit.weights)).double()
    low, high = config.weight_range
    sums["tokens"] = weights.numel()
    sums["weights"] = float(weights.sum())
    sums["squares"] = float(weights.square().sum())
    near = 1e-6  # weights are float32
    sums["clipped"] = int(((weights <= low + near) | (weights >= high - near)).sum())
    sums["rows"] = found.n_local
    novelty = found.of_rows(credit.novelty)
    for outcome in credit.outcomes:
        rows = [row - found.first for row in outcome.rows if row in own]
        if not rows:
            continue
        alone = len(outcome.rows) == 1
        sums["lone"] += alone
        # A class that several processes hold is counted by the one that holds its first row.
        if outcome.rows[0] in own and not alone:
            sums["classes"] += 1
            sums["unconverged"] += not outcome.converged
        if not alone:
            values = torch.cat([novelty[row] for row in rows])
            sums["novelty"] += float(values.double().sum())
            sums["compared"] += values.numel()
    return torch.tensor([sums[name] for name in _SUMS], dtype=torch.float64)


def step_figures(sums: Tensor) -> dict[str, float]:
    """Figures of a batch, by name; NaN where there is nothing to divide by.

    `hara/novelty`: mean over the tokens that were compared with others. `hara/weight_std`: spread
    of the weights. `hara/weight_clipped`: share of weights at a bound. `hara/lone_rollouts`: share
    of the rollouts alone with their outcome. `hara/not_converged`: share of the barycenters.
    """
    total = dict(zip(_SUMS, sums.tolist(), strict=True))

    def share(part: str, whole: str) -> float:
        return total[part] / total[whole] if total[whole] else float("nan")

    mean = share("weights", "tokens")
    return {
        "hara/novelty": share("novelty", "compared"),
        "hara/weight_std": max(share("squares", "tokens") - mean**2, 0.0) ** 0.5,
        "hara/weight_clipped": share("clipped", "tokens"),
        "hara/lone_rollouts": share("lone", "rows"),
        "hara/not_converged": share("unconverged", "classes"),
    }


def peak_memory_gib(device: torch.device) -> float:
    """The most memory that was in use at once: of the accelerator, or else of this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    import resource  # not at the top: Windows has none

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB, on macOS in bytes
    return peak / (2**30 if sys.platform == "darwin" else 2**20)
