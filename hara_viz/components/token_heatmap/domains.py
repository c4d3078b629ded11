"""One colour domain for several frames that stand side by side: the quantiles of them together.

Twin of `autoDomain` in values.js, over more than one frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hara_viz.components.token_heatmap.frame import Frame, signal_values

LEVELS = ("token", "step", "rollout")


def shared_domains(frames: Sequence[Frame]) -> dict[str, dict[str, tuple[float, float]]]:
    """Level -> signal -> 2 % and 98 % quantiles, zero-centred for signed signals.

    Signals that some frame lacks, or whose values are all unknown, are left out.
    """
    names = [s for s in frames[0].signals if all(s in frame.signals for frame in frames[1:])]
    found: dict[str, dict[str, tuple[float, float]]] = {level: {} for level in LEVELS}
    for signal in names:
        for level in LEVELS:
            parts = [level_values(frame, signal.name, level) for frame in frames]
            known = np.concatenate([part[np.isfinite(part)] for part in parts])
            if not known.size:
                continue
            low, high = (float(end) for end in np.quantile(known, [0.02, 0.98]))
            reach = max(abs(low), abs(high))
            found[level][signal.name] = (-reach, reach) if signal.signed else (low, high)
    return found


def level_values(frame: Frame, name: str, level: str) -> np.ndarray:
    """The values [N] of a signal, each token with the mean of its reasoning step or rollout."""
    values = signal_values(frame, name)
    if level == "token":
        return values
    coarse = np.full(len(values), np.nan)
    start = 0
    for row in frame.rows:
        inner = row.steps if level == "step" and row.steps else (0,)
        for first, last in pairwise([*inner, row.n_tokens]):
            part = values[start + first : start + last]
            known = part[np.isfinite(part)]
            coarse[start + first : start + last] = known.mean() if known.size else np.nan
        start += row.n_tokens
    return coarse
