"""What to solve: the parameters of a barycenter, checked on construction."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hara_viz.errors import ConfigError

Anchors = Literal["quantile", "prompt", "coupling"]
Structure = Literal["location", "state"]
Solver = Literal["anchored", "exact"]
CostScale = Literal["none", "mean"]

# A config may come from a link: beyond these it would overflow, or take memory and hours.
EPSILONS, TOLERANCES = (1e-6, 1e6), (1e-9, 1e6)
MOST_POINTS, MOST_ROUNDS = 4096, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverConfig:
    """Parameters of an FGW barycenter; names and defaults as in `CreditConfig`.

    Raises:
        ConfigError: a field is out of its range or names something unknown.
    """

    n_support: int | Literal["auto"] = "auto"
    """K; "auto" = clamp(round(median T / 8), 8, 64)."""
    alpha: float = 0.5
    """Share of structure in the cost (1): 0 = features only, 1 = structure only."""
    epsilon: float = 0.02
    """Entropy of the plans, relative to the mean cost at the start."""
    n_anchors: int = 16
    anchors: Anchors = "quantile"
    refine: int = 0
    """Coupling rounds (3b) after the anchored solve."""
    structure: Structure = "location"
    solver: Solver = "anchored"
    cost_scale: CostScale = "none"
    """"mean" divides each of the two costs by its own mean at the start."""
    tolerance: float = 1e-2
    max_iterations: int = 50
    seed: int = 0
    """0 = the monotone start; others perturb it, to see how stable a solution is."""

    def __post_init__(self) -> None:
        check_range("alpha", self.alpha, 0.0, 1.0)
        check_range("epsilon", self.epsilon, *EPSILONS)
        check_range("tolerance", self.tolerance, *TOLERANCES)
        check_choice("anchors", self.anchors, get_args(Anchors))
        check_choice("structure", self.structure, get_args(Structure))
        check_choice("solver", self.solver, get_args(Solver))
        check_choice("cost_scale", self.cost_scale, get_args(CostScale))
        check_whole("n_anchors", self.n_anchors, 1, MOST_POINTS)
        check_whole("refine", self.refine, 0, MOST_ROUNDS)
        check_whole("max_iterations", self.max_iterations, 1, MOST_ROUNDS)
        check_whole("seed", self.seed, 0, 2**63 - 1)
        if self.n_support != "auto":
            check_whole("n_support", self.n_support, 1, MOST_POINTS)
        if self.anchors == "prompt" and self.structure != "state":
            raise ConfigError(
                'anchors is "prompt" but structure is "location": prompt anchors are states, '
                'so set structure to "state"'
            )

    def support_size(self, lengths: Sequence[int]) -> int:
        """K for rollouts of these lengths."""
        if self.n_support != "auto":
            return self.n_support
        return min(max(round(statistics.median(lengths) / 8), 8), 64)

    @property
    def coupling_rounds(self) -> int:
        """Refining rounds to run: "coupling" anchors need a first plan, hence at least one."""
        return max(self.refine, 1) if self.anchors == "coupling" else self.refine


def check_choice(name: str, value: object, known: Sequence[object]) -> None:
    """Raise ConfigError unless value is one of the known ones."""
    if value not in known:
        raise ConfigError(f"{name} is {value!r}; known are {', '.join(map(repr, known))}")


def _is_number(value: object) -> bool:  # annotations do not bind callers
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Raise ConfigError unless low ≤ value ≤ high (NaN fails)."""
    if not _is_number(value) or not low <= value <= high:
        raise ConfigError(f"{name} is {value!r}; it must be between {low:g} and {high:g}")


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise ConfigError unless value is an integer with low ≤ value ≤ high."""
    check_at_least(name, value, low)
    if isinstance(value, int) and value > high:
        raise ConfigError(f"{name} is {value!r}; it must be at most {high}")


def check_at_least(name: str, value: object, low: int) -> None:
    """Raise ConfigError unless value is an integer ≥ low."""
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number of at least {low}")
