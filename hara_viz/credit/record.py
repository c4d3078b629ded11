"""What `assign_credit` answers."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from hara_viz.ot.solution import Barycenter


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeClass:
    """The rollouts of one group with the same outcome, and the pattern they share."""

    group: int
    success: bool
    rows: tuple[int, ...]
    """Rows of the batch, those without own tokens left out."""
    barycenter: Barycenter | None
    """In the space of the normalised states. None: a lone rollout, or no transport was needed
    (a rival signal)."""
    plans: tuple[Tensor, ...]
    """One [T_r, K] per row, onto the configured reference; empty where there is none."""
    converged: bool
    iterations: int
    marginal_error: float
    changes: tuple[float, ...] = ()
    """Relative change of the barycenter per round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDiagnostics:
    """What is special about one group; healthy ones have no notes."""

    group: int
    n_rollouts: int
    n_unscored: int
    n_empty: int
    """Rollouts without own tokens: in the baseline, in no barycenter."""
    n_success: int
    n_failure: int
    no_signal: bool
    """All scored rewards are equal, or fewer than two are scored: every advantage is 0."""
    lone_outcomes: tuple[bool, ...]
    """Outcomes (True = correct) with a single rollout: no pattern to differ from."""
    not_converged: tuple[bool, ...]
    """Outcomes whose barycenter did not converge."""
    baseline: str
    """The rule of A_r, or "given"."""
    notes: tuple[str, ...]
    """Plain sentences for a reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """Token credit of a batch: rows [B, T] from the padded door, [N] from the packed one."""

    advantages: Tensor
    """A_r · w, float32; 0 outside the mask."""
    baseline: Tensor
    """[B] A_r before reweighting, float32."""
    weights: Tensor
    """1 = untouched, 0 outside the mask."""
    novelty: Tensor
    """The raw signal, ≥ 0 for "hara"; the two parts add up to it."""
    novelty_feature: Tensor
    novelty_structure: Tensor
    outcomes: tuple[OutcomeClass, ...]
    """One per (group, outcome) that occurs, by group number, correct first."""
    diagnostics: tuple[GroupDiagnostics, ...]
    """One per group, by group number."""

    def knows_novelty(self, row: int, novelty: Tensor) -> bool:
        """Whether the novelty of a row says something: an unknown one is held as zeros.

        It is unknown where a rollout is unscored, without own tokens, or alone in its outcome and
        compared with nothing else. Uniform GRPO has none, and rival signals have no plans: they say
        "unknown" by zeros throughout.

        Args:
            row: of the batch.
            novelty: the part of `novelty` that belongs to it, or one of its two parts.
        """
        outcome = next((found for found in self.outcomes if row in found.rows), None)
        return outcome is not None and (bool(outcome.plans) or bool(novelty.any()))
