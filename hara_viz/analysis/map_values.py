"""What the points of a map are coloured by: numbers per token brought to tokens or steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from hara_viz.errors import ShapeError


def point_values(
    points: pd.DataFrame, values: np.ndarray, starts: Mapping[int, int], lengths: Mapping[int, int]
) -> np.ndarray:
    """One value per point [P]: the mean over the tokens that it stands for, NaN left out.

    Args:
        points: with columns sample, token (the first one) and n_tokens.
        values: [N] per token, rollouts one after the other.
        starts: by sample, where its tokens begin in `values`.
        lengths: by sample, how many it has.

    Raises:
        ShapeError: a point stands for tokens that are not there.
    """
    if not len(points):
        return np.empty(0)
    samples, token, count = (points[name].to_numpy() for name in ("sample", "token", "n_tokens"))
    last = np.array([lengths.get(sample, 0) for sample in samples])
    beyond = np.flatnonzero(token + count > last)
    if len(beyond):
        i = int(beyond[0])
        raise ShapeError(
            f"point {i} stands for tokens up to {token[i] + count[i]} of rollout {samples[i]}, "
            f"which has {last[i]}"
        )
    first = np.array([starts[sample] for sample in samples]) + token
    ends = np.stack([first, first + count], axis=1).ravel()
    known = ~np.isnan(values)
    # A last 0, since an end may lie one behind the last value.
    sums = np.add.reduceat(np.append(np.where(known, values, 0.0), 0.0), ends)[::2]
    counts = np.add.reduceat(np.append(known, False).astype(np.int64), ends)[::2]
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def point_positions(points: pd.DataFrame, lengths: Mapping[int, int]) -> np.ndarray:
    """Where each point stands in its rollout [P]: 0 = first token, 1 = last."""
    last = np.array([max(lengths[s] - 1, 1) for s in points["sample"]], float)
    return points["token"].to_numpy(float) / last if len(points) else np.zeros(0)


def colour_domain(values: np.ndarray, signed: bool) -> tuple[float, float]:
    """Ends of a colour scale: the 2 % and 98 % quantiles, zero in the middle of a signed one."""
    known = values[np.isfinite(values)]
    if not known.size:
        return (-1.0, 1.0) if signed else (0.0, 1.0)
    low, high = (float(q) for q in np.quantile(known, [0.02, 0.98]))
    if signed:
        high = max(abs(low), abs(high)) or 1.0
        return -high, high
    return (low, high) if high > low else (low, low + 1.0)


def common_words(texts: Iterable[str], top: int = 12) -> list[tuple[str, int]]:
    """The words that most of these texts are made of, with counts; case and blanks do not count."""
    words = Counter(text.strip().casefold() for text in texts)
    words.pop("", None)
    return sorted(words.items(), key=lambda item: (-item[1], item[0]))[:top]


def common_steps(
    texts: Iterable[str], rollouts: Iterable[Hashable], top: int = 12
) -> list[tuple[str, int, int]]:
    """The reasoning steps that most points lie in: (text, points, rollouts that they are of).

    Args:
        texts: of the step that each point lies in; equal but for case and blanks is one step, shown
            as it was first met.
        rollouts: which rollout each point is of.
        top: at most so many.

    Raises:
        ValueError: the two are not equally long.
    """
    points: Counter[str] = Counter()
    found: dict[str, set[Hashable]] = {}
    shown: dict[str, str] = {}
    for text, rollout in zip(texts, rollouts, strict=True):
        name = " ".join(text.split()).casefold()
        if not name:
            continue
        points[name] += 1
        found.setdefault(name, set()).add(rollout)
        shown.setdefault(name, text.strip())
    order = sorted(points, key=lambda name: (-points[name], name))[:top]
    return [(shown[name], points[name], len(found[name])) for name in order]


def outcome_words(successes: Sequence[bool | None]) -> list[str]:
    """Each outcome as a word."""
    return [{True: "right", False: "wrong", None: "unscored"}[success] for success in successes]
