"""The descent of (5) for one rollout after another, compiled for the CPU.

The steps are those of `sinkhorn` and `newton`. Taken for all rollouts at once, as a GPU needs them,
they are a thousand small operations a solve, over memory that has left the cache meanwhile. Here a
rollout's kernel is laid out once, in blocks of atoms with each column contiguous, and stays in the
cache until the rollout is done.

Numba compiles on first use (some seconds) and keeps the result beside this file, or in the user's
cache folder where that cannot be written. It notices changes of this file alone, so all that is
compiled stands here, and numbers from elsewhere come as arguments. Values are float32 or float64;
sums over blocks and all of the K × K algebra are float64.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hara_viz.ot.limits import Rules

Array = np.ndarray[Any, np.dtype[Any]]

# Atoms a block at most: with 32 columns 32 kB of float32, the first level of the cache.
_BLOCK = 256
# Blocks hold a multiple of so many atoms, a whole number of vectors.
_LANES = 16
# How the descent of a rollout ended, if not at its tolerance or its limits.
STARVED, FAR = 1, 2
# Columns are taken four at a time, so that what they share is loaded once.
_COLUMNS = 4
# 2^f = Σ c_n f^n for |f| ≤ 1/2, within 1.3e-7.
_LOG2_E = np.float32(1.4426950408889634)
_HALF = np.float32(0.5)
_C6, _C5, _C4 = np.float32(1.5403530e-4), np.float32(1.3333558e-3), np.float32(9.6181291e-3)
_C3, _C2, _C1 = np.float32(5.5504109e-2), np.float32(2.4022651e-1), np.float32(6.9314718e-1)
_C0 = np.float32(1.0)


# Sums may be taken in any order, so that they run on vectors; NaN and infinity keep their meaning.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}
# Called from compiled code alone, so without ways in from Python and C, which take time to compile.
_jit: Any = njit
_compiled = _jit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _kept(function: Any) -> Any:
    try:
        return _jit(**_OPTIONS, cache=True)(function)
    except RuntimeError:  # there is no folder that could be written: every process compiles
        return _jit(**_OPTIONS)(function)


class Work(NamedTuple):
    """One rollout's kernel and room for its descent; K is padded to a multiple of four."""

    rules: Rules
    blocks: Array
    """[n, K, L]: n blocks of L atoms. Padding columns are 0, padding atoms 1."""
    masses: Array
    """[n, L], 0 on padding."""
    weights: Array
    """q [K]."""
    log_v: Array
    """[K], 0 on padding."""
    column_mass: Array
    """m [K]."""
    v: Array
    trial: Array
    trial_mass: Array
    best: Array
    best_mass: Array
    sums: Array
    """[L]."""
    moments: Array
    """[L]."""
    exponents: Array
    """[L] int32, and …"""
    powers: Array
    """… the same bytes as float32."""
    hessian: Array
    """[K, K] float64; below its diagonal."""
    direction: Array
    """[K] float64."""


@_kept
def descend(
    scaled: Array,
    potentials: Array,
    mass: Array,
    weights: Array,
    tolerance: Array,
    plans: Array,
    ends: Array,
    masses: Array,
    errors: Array,
    counts: Array,
    max_sweeps: int,
    max_steps: int,
    rules: Rules,
) -> None:
    """Sweeps, then Newton steps, for each rollout from its potentials.

    Args:
        scaled: −M/ε [R, T, K].
        potentials: g/ε [R, K].
        mass: [R, T].
        weights: [R, K].
        tolerance: [R].
        plans: [R, T, K], to receive the plans.
        ends: [R, K], to receive the potentials that belong to them.
        masses: [R, K], to receive their column sums.
        errors: [R], to receive the marginal errors.
        counts: [R, 3], to receive the numbers of sweeps and steps, and how it ended: 0, STARVED
            (a column underflows: nothing was done) or FAR (only another kernel can tell more).
        max_sweeps: See `sinkhorn`.
        max_steps: See `sinkhorn`.
        rules: See `Rules`.
    """
    n_rollouts, length, columns = scaled.shape
    work = _room(rules, length, columns, scaled.dtype)
    for r in range(n_rollouts):
        _lay_out(scaled[r], potentials[r], mass[r], weights[r], work)
        value, error = _evaluate(work, work.log_v, work.column_mass)
        counts[r] = 0
        if _starves(work):
            counts[r, 2] = STARVED
        else:
            value, error, counts[r, 0] = _sweep(work, value, error, tolerance[r], max_sweeps)
            if error >= tolerance[r]:
                goal = work.rules.goal * tolerance[r]
                error, counts[r, 1] = _newton(work, value, error, goal, max_steps)
            if error >= tolerance[r] and _largest(work.log_v) > rules.absorb:
                counts[r, 2] = FAR
        errors[r] = error
        for k in range(columns):
            ends[r, k] = potentials[r, k] + work.log_v[k]
            masses[r, k] = work.column_mass[k]
        _write_plan(work, plans[r])


@_compiled
def _room(rules: Rules, length: int, columns: int, dtype: Any) -> Work:
    n_blocks, n = -(-length // _BLOCK), -(-columns // _COLUMNS) * _COLUMNS
    size = -(-length // (n_blocks * _LANES)) * _LANES
    exponents = np.empty(size, np.int32)
    return Work(
        rules, np.empty((n_blocks, n, size), dtype), np.empty((n_blocks, size), dtype),
        np.empty(n, dtype), np.empty(n, dtype), np.empty(n, dtype), np.empty(n, dtype),
        np.empty(n, dtype), np.empty(n, dtype), np.empty(n, dtype), np.empty(n, dtype),
        np.empty(size, dtype), np.empty(size, dtype),
        exponents, exponents.view(np.float32), np.empty((n, n)), np.empty(n),
    )  # fmt: skip


@_compiled
def _lay_out(scaled: Array, potentials: Array, mass: Array, weights: Array, work: Work) -> None:
    """One rollout's kernel, scaled by each row's maximum, p [T] and q [K]; log v = 0."""
    length, columns = scaled.shape
    for b in range(len(work.blocks)):
        block, masses = work.blocks[b], work.masses[b]
        for i in range(len(masses)):
            atom = b * len(masses) + i
            masses[i] = mass[atom] if atom < length else 0.0
            for k in range(columns):
                block[k, i] = scaled[atom, k] + potentials[k] if atom < length else 0.0
        _exponentiate(block, columns, work)
    for k in range(len(work.weights)):
        work.weights[k] = weights[k] if k < columns else 0.0
        work.log_v[k] = 0.0


@_compiled
def _exponentiate(block: Array, columns: int, work: Work) -> None:
    """exp(x − max x over the columns), not below `lowest`; 0 in padding columns."""
    top = work.sums
    _copy(block[0], top)
    for k in range(1, columns):
        column = block[k]
        for i in range(len(top)):
            top[i] = max(top[i], column[i])
    lowest = block.dtype.type(work.rules.lowest)
    for k in range(columns):
        column = block[k]
        for i in range(len(top)):
            column[i] = max(column[i] - top[i], lowest)
        if block.itemsize == 4:
            _exp_single(column, work)
        else:
            for i in range(len(top)):
                column[i] = math.exp(column[i])
    for k in range(columns, len(block)):
        _fill(block[k], 0.0)


@_compiled
def _exp_single(values: Array, work: Work) -> None:
    """exp of numbers ≤ 0 in float32, on vectors, which a call of `math.exp` would not be."""
    exponents, powers = work.exponents, work.powers
    for i in range(len(values)):
        y = np.float32(values[i]) * _LOG2_E
        whole = np.int32(y - _HALF)  # towards zero: to the nearest, as y ≤ 0
        f = y - np.float32(whole)
        exponents[i] = (whole + 127) << 23
        values[i] = (((((_C6 * f + _C5) * f + _C4) * f + _C3) * f + _C2) * f + _C1) * f + _C0
    for i in range(len(values)):
        values[i] *= powers[i]


@_compiled
def _write_plan(work: Work, plan: Array) -> None:
    """u K v [T, K], whose rows sum to the mass. The blocks are used up."""
    length, columns = plan.shape
    for k in range(len(work.v)):
        work.v[k] = math.exp(work.log_v[k])
    for b in range(len(work.blocks)):
        block, masses, first = work.blocks[b], work.masses[b], b * len(work.sums)
        _row_sums(block, work.v, work.sums)
        for i in range(len(masses)):
            work.sums[i] = masses[i] / work.sums[i]
        for i in range(min(len(masses), length - first)):
            for k in range(columns):
                plan[first + i, k] = work.sums[i] * block[k, i] * work.v[k]


@_compiled
def _starves(work: Work) -> bool:
    starves = False
    for k in range(len(work.weights)):
        starves |= work.column_mass[k] < work.rules.underflow * work.weights[k]
    return starves


@_compiled
def _fill(target: Array, value: float) -> None:
    for k in range(len(target)):
        target[k] = value


@_compiled
def _copy(source: Array, target: Array) -> None:
    for k in range(len(source)):
        target[k] = source[k]


@_compiled
def _largest(values: Array) -> float:
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    return largest


@_compiled
def _bounded(value: float, bound: float) -> float:
    return min(max(value, -bound), bound)


@_compiled
def _row_sums(block: Array, v: Array, sums: Array) -> None:
    """Σ_k v_k K[i, k] → sums[i]."""
    _fill(sums, 0.0)
    for k in range(0, len(v), _COLUMNS):
        a, b, c, d = v[k], v[k + 1], v[k + 2], v[k + 3]
        p, q, r, s = block[k], block[k + 1], block[k + 2], block[k + 3]
        for i in range(len(sums)):
            sums[i] += a * p[i] + b * q[i] + c * r[i] + d * s[i]


@_compiled
def _add_products(left: Array, block: Array, found: Array) -> None:
    """Σ_i left_i K[i, k], added to found[k], for as many columns as `found` has."""
    for k in range(0, len(found), _COLUMNS):
        a = b = c = d = left.dtype.type(0)
        p, q, r, s = block[k], block[k + 1], block[k + 2], block[k + 3]
        for i in range(len(left)):
            a += left[i] * p[i]
            b += left[i] * q[i]
            c += left[i] * r[i]
            d += left[i] * s[i]
        found[k] += a
        found[k + 1] += b
        found[k + 2] += c
        found[k + 3] += d


@_compiled
def _log_total(sums: Array, masses: Array) -> float:
    """Σ_i p_i log s_i, one logarithm for eight atoms of equal mass."""
    total, product, count, mass = 0.0, 1.0, 0, 0.0
    for i in range(len(sums)):
        if masses[i] != mass or count == 8:
            if mass > 0:
                total += mass * math.log(product)
            product, count, mass = 1.0, 0, masses[i]
        product *= sums[i]
        count += 1
    if mass > 0:
        total += mass * math.log(product)
    return total


@_compiled
def _evaluate(work: Work, log_v: Array, column_mass: Array) -> tuple[float, float]:
    """The row update for column factors log v [K]: m [K] to fill, and F/ε and the error."""
    for k in range(len(log_v)):
        work.v[k] = math.exp(log_v[k])
    value, error = 0.0, 0.0
    _fill(column_mass, 0.0)
    for b in range(len(work.blocks)):
        block, masses = work.blocks[b], work.masses[b]
        _row_sums(block, work.v, work.sums)
        value -= _log_total(work.sums, masses)
        for i in range(len(masses)):
            work.sums[i] = masses[i] / work.sums[i]
        _add_products(work.sums, block, column_mass)
    for k in range(len(log_v)):
        column_mass[k] *= work.v[k]
        value += work.weights[k] * log_v[k]
        error += abs(column_mass[k] - work.weights[k])
    return value, error


@_compiled
def _sweep(
    work: Work, value: float, error: float, tolerance: float, limit: int
) -> tuple[float, float, int]:
    """Sweeps to the limit, or until the error is small or another kernel is needed."""
    rules = work.rules
    for sweep in range(1, limit):
        far = _largest(work.log_v) > rules.absorb
        if sweep % rules.check == 0 and (far or error < tolerance):
            return value, error, sweep
        exponent = rules.relaxation if sweep > rules.plain_sweeps else 1.0
        for k in range(len(work.log_v)):
            step = exponent * _sweep_step(work, k)
            work.log_v[k] = _bounded(work.log_v[k] + step, work.rules.largest)
        value, error = _evaluate(work, work.log_v, work.column_mass)
    return value, error, limit


@_compiled
def _sweep_step(work: Work, k: int) -> float:
    """What a Sinkhorn sweep adds to log v_k."""
    if work.weights[k] > 0:
        return math.log(work.weights[k] / work.column_mass[k])
    return 0.0


@_compiled
def _newton(work: Work, value: float, error: float, goal: float, limit: int) -> tuple[float, int]:
    """Damped Newton steps to the goal, the limit or the end of what the kernel can tell."""
    rules, damping = work.rules, work.rules.damping
    for step in range(limit):
        if error < goal or not _largest(work.log_v) < rules.largest - 1.0:
            return error, step
        _find_direction(work, damping)
        chosen, best_value, best_error = _try_steps(work, error)
        if best_value > value or best_error < error:
            value, error = best_value, best_error
            _copy(work.best, work.log_v)
            _copy(work.best_mass, work.column_mass)
            damping *= rules.factors[chosen]
        else:
            damping *= rules.factors[-1]
        weakest, strongest = rules.damping_range
        damping = min(max(damping, weakest), strongest)
    return error, limit


@_compiled
def _try_steps(work: Work, error: float) -> tuple[int, float, float]:
    """The best in F of some shares of the Newton step and of a sweep; a good full step at once."""
    rules, slack = work.rules, 64 * np.finfo(work.v.dtype).eps
    chosen, best, best_value, best_error = len(rules.shares), -np.inf, -np.inf, np.inf
    for j in range(len(rules.shares) + 1):
        for k in range(len(work.log_v)):
            if j < len(rules.shares):
                step = rules.shares[j] * work.direction[k]
            else:
                step = _bounded(_sweep_step(work, k), rules.reach)
            work.trial[k] = _bounded(work.log_v[k] + step, rules.largest)
        value, off = _evaluate(work, work.trial, work.trial_mass)
        # Of two steps whose F differs by rounding the longer is taken.
        favoured = value + slack * (1 - j / len(rules.shares))
        if favoured > best:
            chosen, best, best_value, best_error = j, favoured, value, off
            _copy(work.trial, work.best)
            _copy(work.trial_mass, work.best_mass)
        if j == 0 and off < rules.good * error:
            break
    return chosen, best_value, best_error


@_compiled
def _find_direction(work: Work, damping: float) -> None:
    """(diag(m) − Σ_i π_i π_iᵀ / p_i + damping)⁻¹ (q − m), bounded, in units of ε."""
    for k in range(len(work.v)):
        work.v[k] = math.exp(work.log_v[k])
    _find_moments(work)
    q, m, v, hessian = work.weights, work.column_mass, work.v, work.hessian
    for k in range(len(v)):
        for j in range(k + 1):
            # A constant added to g changes nothing: q qᵀ fixes it and moves no solution.
            hessian[k, j] = np.float64(q[k]) * q[j] - np.float64(v[k]) * v[j] * hessian[k, j]
        hessian[k, k] += m[k] + damping * (m[k] + 1e-3 * q[k]) + (q[k] == 0)
        work.direction[k] = np.float64(q[k]) - m[k]
    if not _solve(hessian, work.direction):
        _fill(work.direction, 0.0)  # singular by rounding: the sweep is left, and more damping
    scale = work.rules.reach / max(_largest(work.direction), work.rules.reach)
    for k in range(len(v)):
        work.direction[k] *= scale


@_compiled
def _find_moments(work: Work) -> None:
    """Σ_i u_i² / p_i K[i, k] K[i, j] → the lower triangle (and a little more) of the Hessian."""
    for k in range(len(work.hessian)):
        _fill(work.hessian[k], 0.0)
    for b in range(len(work.blocks)):
        block, masses = work.blocks[b], work.masses[b]
        _row_sums(block, work.v, work.sums)
        for i in range(len(masses)):
            work.sums[i] = masses[i] / (work.sums[i] * work.sums[i])
        for k in range(len(work.v)):
            column = block[k]
            for i in range(len(masses)):
                work.moments[i] = work.sums[i] * column[i]
            _add_products(work.moments, block, work.hessian[k, : (k // _COLUMNS + 1) * _COLUMNS])


@_compiled
def _solve(matrix: Array, right: Array) -> bool:
    """Cholesky in the lower triangle; the solution replaces `right`. False: not positive."""
    n = len(right)
    for k in range(n):
        for j in range(k):
            dot = 0.0
            for i in range(j):
                dot += matrix[k, i] * matrix[j, i]
            matrix[k, j] = (matrix[k, j] - dot) / matrix[j, j]
        dot = 0.0
        for i in range(k):
            dot += matrix[k, i] * matrix[k, i]
        if not matrix[k, k] > dot:
            return False
        matrix[k, k] = math.sqrt(matrix[k, k] - dot)
        dot = 0.0
        for i in range(k):
            dot += matrix[k, i] * right[i]
        right[k] = (right[k] - dot) / matrix[k, k]
    for k in range(n - 1, -1, -1):
        right[k] /= matrix[k, k]
        for i in range(k):
            right[i] -= matrix[k, i] * right[k]
    return True
