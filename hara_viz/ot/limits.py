"""How far steps go and when they stop: the rules that both descents of (5) keep to."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """Numbers of the descent.

    The compiled one takes them as an argument: code that Numba keeps on disk would not notice that
    a number in another file has changed.
    """

    lowest: float = -70.0
    """Log of the least kernel entry, relative to its row's maximum, so that products with masses
    stay normal numbers: subnormal ones made a sweep twenty times slower."""
    underflow: float = 1e-12
    """A column that keeps less than this share of its mass is updated in the log domain."""
    relaxation: float = 1.6
    """Over-relaxed sweeps halve their number; …"""
    plain_sweeps: int = 2
    """… but the first ones are plain, since far from the solution over-relaxation can diverge."""
    check: int = 4
    """Errors are looked at only so often: each look makes a GPU wait."""
    absorb: float = 20.0
    """Column factors beyond e^±20 are absorbed into the potentials, …"""
    largest: float = 25.0
    """… and never leave e^±25 of the kernel's own: what the cut added then stays below e^-20 of its
    row, and products stay in float32."""
    damping: float = 1e-3
    """Of Newton steps, relative to diag(m): where it starts, …"""
    damping_range: tuple[float, float] = (1e-6, 1e3)
    shares: tuple[float, ...] = (1.0, 0.3, 0.1)
    """… shares of a step that are tried, the sweep being one more, …"""
    factors: tuple[float, ...] = (1 / 8, 1.0, 8.0, 8.0)
    """… and by how much the one that was chosen changes the damping."""
    good: float = 0.1
    """A full step that leaves less than this share of the error is taken, whatever others give."""
    reach: float = 20.0
    """No step moves a potential further than this many ε: beyond it the quadratic model says
    nothing."""
    goal: float = 0.3
    """Newton goes on to this share of the tolerance. Near the end each step squares the error, and
    results then hang less on the step at which a rollout happened to stop (rounding decides it)."""


RULES = Rules()
