"""The way from tensors to the compiled descent: when it suits, and on how many threads."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

from hara_viz.ot.descent import Descent
from hara_viz.ot.limits import RULES

# From here on LAPACK's Cholesky, which the batched descent calls, is quicker than a plain one.
_MOST_COLUMNS = 160
# Fewer numbers than these are done before a second thread has begun.
_LEAST_SHARED = 2**16


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
    from hara_viz.ot.compiled_steps import descend  # Numba takes a while to load

    given = (scaled, potentials, mass, weights, tolerance)
    plans, log_v = torch.empty_like(scaled), torch.empty_like(potentials)
    errors = torch.empty_like(tolerance)
    counts = torch.zeros(len(scaled), 3, dtype=torch.int64)
    found = (plans, log_v, errors, counts)
    arrays = [values.numpy() for values in (*(v.contiguous() for v in given), *found)]

    def run(rows: slice) -> None:
        own = (array[rows] for array in arrays)
        descend(*own, max_sweeps=max_sweeps, max_steps=max_steps, rules=RULES)

    n_threads = min(torch.get_num_threads(), len(scaled))
    if n_threads == 1 or scaled.numel() < _LEAST_SHARED:
        run(slice(None))
    else:
        list(_threads(n_threads).map(run, _shares(len(scaled), 2 * n_threads)))
    sweeps, steps, _ = counts.amax(0).tolist()
    return Descent(plans, log_v, errors, counts[:, 2] > 0, sweeps, steps)


def _shares(n_rows: int, n_shares: int) -> list[slice]:
    bounds = [n_rows * share // n_shares for share in range(n_shares + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds) if a < b]


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="hara-descent")
