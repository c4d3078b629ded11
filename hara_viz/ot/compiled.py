"""The way from tensors to the compiled descent: when it suits, and on how many threads."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

from hara_viz.ot.descent import Descent
from hara_viz.ot.limits import RULES

# From here on LAPACK's Cholesky, which the batched descent calls, is quicker than a plain one.
_MOST_COLUMNS = 160
# With fewer numbers a second thread gains nothing: those of torch still wait for work, spinning.
_LEAST_SHARED = 2**21


def suits_compiled(scaled: Tensor) -> bool:
    """Whether `descend_compiled` can take these costs [R, T, K] and is the quicker way."""
    return scaled.device.type == "cpu" and scaled.shape[-1] <= _MOST_COLUMNS


def descend_compiled(
    scaled: Tensor,
    potentials: Tensor,
    mass: Tensor,
    weights: Tensor,
    tolerance: Tensor,
    max_sweeps: int,
    max_steps: int,
) -> Descent:
    """See `Descent`; rollouts are shared out among torch's threads."""
    import numpy as np

    from hara_viz.ot.compiled_steps import FAR, STARVED, descend  # Numba takes a while to load

    inputs = (scaled, potentials, mass, weights, tolerance)
    given = [values.detach().contiguous().numpy() for values in inputs]
    # Made by torch, which aligns it: what a product rounds to hangs on that.
    plans = torch.empty(scaled.shape, dtype=scaled.dtype)
    # Made by NumPy: going this way costs a third of going the other.
    ends, masses = np.empty_like(given[1]), np.empty_like(given[1])
    errors, counts = np.empty_like(given[4]), np.empty((len(scaled), 3), np.int64)
    arrays = (*given, plans.numpy(), ends, masses, errors, counts)

    def run(rows: slice) -> None:
        descend(*(array[rows] for array in arrays), max_sweeps, max_steps, RULES)

    n_threads = min(torch.get_num_threads(), len(scaled))
    if n_threads == 1 or scaled.numel() < _LEAST_SHARED:
        descend(*arrays, max_sweeps, max_steps, RULES)
    else:
        list(_threads(n_threads, os.getpid()).map(run, _shares(len(scaled), 2 * n_threads)))
    sweeps, steps, _ = counts.max(0).tolist()
    starved, far = (np.flatnonzero(counts[:, 2] == end) for end in (STARVED, FAR))
    found = [torch.from_numpy(values) for values in (ends, masses, errors, starved, far)]
    return Descent(plans, *found, sweeps=sweeps, steps=steps)


def _shares(n_rows: int, n_shares: int) -> list[slice]:
    bounds = [n_rows * share // n_shares for share in range(n_shares + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds) if a < b]


@cache
def _threads(count: int, process: int) -> ThreadPoolExecutor:
    """A pool of this process: threads do not live on in a fork."""
    return ThreadPoolExecutor(count, thread_name_prefix="hara-descent")
