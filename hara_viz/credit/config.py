"""`CreditConfig`: every choice that the credit of a token depends on, checked on construction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from hara_viz.errors import ConfigError
from hara_viz.ot.config import (
    Anchors,
    CostScale,
    Solver,
    SolverConfig,
    Structure,
    check_choice,
    check_range,
)

Baseline = Literal["grpo", "grpo_verl", "dr_grpo", "rloo", "maxrl"]
Signal = Literal["hara", "uniform", "position", "entropy", "surprisal", "shear"]
Level = Literal["token", "step", "rollout"]
ReferenceKind = Literal["same_outcome", "leave_one_out", "opposite_outcome", "group"]
Normalize = Literal["l2", "center_l2", "none"]
Location = Literal["relative", "absolute"]
Conserve = Literal["auto", "rollout", "outcome", "none"]
Incorrect = Literal["amplify", "shield", "uniform"]

LEVELS: tuple[Level, ...] = get_args(Level)

METHOD_VERSION = 2
"""Raised when equal inputs and an equal config would give other numbers than before."""

_CHOICES: dict[str, tuple[str, ...]] = {
    "baseline": get_args(Baseline),
    "signal": get_args(Signal),
    "reference": get_args(ReferenceKind),
    "normalize": get_args(Normalize),
    "location": get_args(Location),
    "conserve": get_args(Conserve),
    "incorrect": get_args(Incorrect),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditConfig:
    """How rewards become token advantages; names, defaults and equations as in docs/method.md.

    Raises:
        ConfigError: a field is out of its range or names something unknown.
    """

    baseline: Baseline = "grpo"
    """How rewards become one advantage A_r per rollout."""
    signal: Signal = "hara"
    """What says that a token deserves more: HarA's novelty, or a rival."""
    alpha: float = 0.5
    """Share of structure (where tokens stand) against features (what they mean): (1)."""
    epsilon: float = 0.02
    """Blur of the transport plans, relative to the mean cost: (5)."""
    n_support: int | Literal["auto"] = "auto"
    """K, the number of points of a barycenter."""
    n_anchors: int = 16
    """A, the anchors of the linearization: (3)."""
    anchors: Anchors = "quantile"
    """Which anchors linearise the structure cost."""
    refine: int = 0
    """Rounds that walk from the anchored plan towards exact FGW: (3b)."""
    normalize: Normalize = "l2"
    """What is done to each state before it is compared."""
    structure: Structure = "location"
    """What a distance inside a rollout is: of places, or of states."""
    location: Location = "relative"
    """Places relative to the rollout's own length, or to the longest of its group."""
    solver: Solver = "anchored"
    """"exact" is POT in float64: slow, for comparison."""
    granularity: Level | Mapping[str, float] = "token"
    """One level, or a mix such as {"token": 0.5, "step": 0.3, "rollout": 0.2}."""
    reference: ReferenceKind = "same_outcome"
    """Which barycenter a rollout is compared with."""
    strength: float = 0.5
    """How far novelty moves a weight: (7). 0 is plain group advantage."""
    weight_range: tuple[float, float] = (0.2, 3.0)
    """(w_min, w_max): bounds of a token's weight."""
    conserve: Conserve = "auto"
    """Whose mean weight is kept at 1: each rollout's, each outcome class's, or none's."""
    cost_scale: CostScale = "none"
    """"mean" divides both costs by their mean, so that alpha weighs like against like."""
    incorrect: Incorrect = "amplify"
    """What novelty means in an incorrect rollout."""
    success_threshold: float = 0.5
    """A rollout is correct if its reward reaches this."""
    tolerance: float = 1e-2
    """On the plans' marginal error and on the barycenter's relative change."""
    max_iterations: int = 50
    """Rounds of the barycenter's alternation."""
    seed: int = 0
    """0 starts in time order; others start elsewhere, to see how stable a colour is."""

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            check_choice(name, getattr(self, name), known)
        check_range("strength", self.strength, 0.0, 1e6)
        check_range("success_threshold", self.success_threshold, -1e308, 1e308)
        self._freeze_range()
        self._freeze_granularity()
        self.solver_config()  # checks what it shares with the solver

    def _freeze_range(self) -> None:
        bounds = tuple(self.weight_range)
        if len(bounds) != 2:
            raise ConfigError(f"weight_range is {bounds!r}; it must be two numbers")
        low, high = bounds
        check_range("w_min", low, 0.0, 1.0)
        check_range("w_max", high, 1.0, 1e6)
        object.__setattr__(self, "weight_range", (float(low), float(high)))

    def _freeze_granularity(self) -> None:
        if isinstance(self.granularity, str):
            check_choice("granularity", self.granularity, LEVELS)
            return
        for level, share in self.granularity.items():
            check_choice("granularity", level, LEVELS)
            check_range(f"the share of {level!r} in granularity", share, 0.0, 1e6)
        if sum(self.granularity.values()) <= 0:
            raise ConfigError(
                f"granularity is {dict(self.granularity)!r}; at least one share must be above 0"
            )
        object.__setattr__(self, "granularity", dict(self.granularity))

    def shares(self) -> dict[Level, float]:
        """Levels with a share in the mix, scaled to sum 1."""
        if isinstance(self.granularity, str):
            return {self.granularity: 1.0}
        total = sum(self.granularity.values())
        mix: dict[Level, float] = {}
        for level in LEVELS:
            if share := self.granularity.get(level, 0.0):
                mix[level] = share / total
        return mix

    def conserved(self) -> Literal["rollout", "outcome", "none"]:
        """What "auto" stands for: the rollout level would be cancelled by "rollout"."""
        if self.conserve != "auto":
            return self.conserve
        return "outcome" if "rollout" in self.shares() else "rollout"

    def solver_config(self) -> SolverConfig:
        """The part that the transport room needs."""
        shared = {f.name for f in fields(SolverConfig)}
        return SolverConfig(**{name: getattr(self, name) for name in shared})

    def to_json(self) -> str:
        """Canonical JSON: equal configs, equal strings."""
        values = asdict(self) | {"weight_range": list(self.weight_range)}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> CreditConfig:
        """Inverse of `to_json`.

        Raises:
            ConfigError: a field is unknown (a newer version wrote it) or out of range.
        """
        values: dict[str, Any] = json.loads(text)
        unknown = set(values) - {f.name for f in fields(CreditConfig)}
        if unknown:
            raise ConfigError(
                f"unknown credit fields {sorted(unknown)}; a newer version wrote them"
            )
        if "weight_range" in values:
            values["weight_range"] = tuple(values["weight_range"])
        return CreditConfig(**values)

    @property
    def fingerprint(self) -> str:
        """16 hex digits over the config and the method's version."""
        text = f"{METHOD_VERSION}:{self.to_json()}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]
