"""What the solvers answer."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from hara_viz.ot.scales import Scales


@dataclass(frozen=True, slots=True)
class Barycenter:
    """A measured network on K support points: the pattern that the rollouts share."""

    features: Tensor
    """[K, D]."""
    structure: Tensor
    """[K, K], (2b)."""
    locations: Tensor
    """[K], (2b)."""
    weights: Tensor
    """[K] = 1/K."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What other rollouts need in order to be compared with a barycenter."""

    features: Tensor
    """[K, D], not centred."""
    anchor_distances: Tensor
    """τ [K, A]."""
    structure: Tensor
    """[K, K]."""
    scales: Scales


@dataclass(frozen=True, slots=True)
class Transport:
    """R rollouts mapped onto a support, and what that costs each atom."""

    plans: list[Tensor]
    """R plans [T_r, K]; row i sums to 1/T_r, columns nearly to 1/K (`marginal_error`)."""
    costs_feature: list[Tensor]
    """R × [T_r]: the feature part of (6), ≥ 0."""
    costs_structure: list[Tensor]
    """R × [T_r]: the structure part of (6), ≥ 0."""
    marginal_error: float
    """max_r Σ_k |Σ_i π_r[i, k] − 1/K|."""

    @property
    def costs(self) -> list[Tensor]:
        """Each atom's contribution n_r[i] of (6); its mean over the atoms is ⟨π_r, M_r⟩."""
        parts = zip(self.costs_feature, self.costs_structure, strict=True)
        return [feature + structure for feature, structure in parts]


@dataclass(frozen=True, slots=True)
class Sketch:
    """In which small space the first rounds were run, and how far off they ended."""

    dimension: int
    """S < D."""
    captured: float
    """Share of the energy of local means of the states that the space holds, 0 … 1."""
    rounds: int
    """Rounds in the space; the others were run in all D dimensions."""
    error: float
    """How far the first round in all dimensions moved the support, relative as in `changes`."""


@dataclass(frozen=True, slots=True)
class BarycenterSolution:
    """A barycenter, the transport onto it, and how the solver fared."""

    barycenter: Barycenter
    transport: Transport
    converged: bool
    """Marginal error and the last relative change are both below the tolerance."""
    iterations: int
    changes: tuple[float, ...]
    """Relative change of the support per round."""
    reference: Reference
    """For transporting other rollouts onto this barycenter."""
    leave_one_out: Transport | None = None
    """Each rollout against the barycenter of the others, when that was asked for."""
    sketch: Sketch | None = None
    """None: all rounds were run in all dimensions."""

    @property
    def features(self) -> Tensor:
        """[K, D] support features."""
        return self.barycenter.features

    @property
    def structure(self) -> Tensor:
        """[K, K] support structure."""
        return self.barycenter.structure

    @property
    def locations(self) -> Tensor:
        """[K] support locations."""
        return self.barycenter.locations

    @property
    def weights(self) -> Tensor:
        """[K] support weights."""
        return self.barycenter.weights

    @property
    def plans(self) -> list[Tensor]:
        """R transport plans [T_r, K]."""
        return self.transport.plans

    @property
    def costs(self) -> list[Tensor]:
        """R × [T_r]: each atom's contribution (6)."""
        return self.transport.costs

    @property
    def costs_feature(self) -> list[Tensor]:
        """R × [T_r]: feature part of the costs."""
        return self.transport.costs_feature

    @property
    def costs_structure(self) -> list[Tensor]:
        """R × [T_r]: structure part of the costs."""
        return self.transport.costs_structure

    @property
    def marginal_error(self) -> float:
        """max_r Σ_k |Σ_i π_r[i, k] − 1/K|."""
        return self.transport.marginal_error
