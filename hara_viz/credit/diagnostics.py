"""What a reader should know before trusting a group's colours, in plain sentences."""

from __future__ import annotations

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.outcomes import GroupRows
from hara_viz.credit.record import GroupDiagnostics, OutcomeClass

_WORD = {True: "correct", False: "incorrect"}


def diagnose(
    batch: PackedBatch,
    group: GroupRows,
    outcomes: list[OutcomeClass],
    without_reference: list[bool],
    config: CreditConfig,
) -> GroupDiagnostics:
    """One record for a group, healthy or not.

    Args:
        batch: The rollouts.
        group: Which rows.
        outcomes: Its classes.
        without_reference: Outcomes whose signal had nothing to compare with.
        config: The choices.
    """
    rewards = batch.rewards[list(group.scored)]
    no_signal = len(group.scored) < 2 or bool(rewards.max() == rewards.min())
    n_unscored = len(group.rows) - len(group.scored)
    n_empty = sum(batch.length(r) == 0 for r in group.rows)
    lone = tuple(c.success for c in outcomes if len(c.rows) == 1)
    unconverged = tuple(c.success for c in outcomes if not c.converged)
    given = batch.given is not None
    notes = [
        *_reward_notes(group, rewards.tolist(), no_signal and not given),
        *_count_notes(n_unscored, n_empty),
        *_class_notes(outcomes, without_reference, config),
        *config_notes(config),
    ]
    return GroupDiagnostics(
        group=group.group,
        n_rollouts=len(group.rows),
        n_unscored=n_unscored,
        n_empty=n_empty,
        n_success=sum(c.success for c in outcomes for _ in c.rows),
        n_failure=sum(not c.success for c in outcomes for _ in c.rows),
        no_signal=no_signal,
        lone_outcomes=lone,
        not_converged=unconverged,
        baseline="given" if given else config.baseline,
        notes=tuple(notes),
    )


def _reward_notes(group: GroupRows, rewards: list[float], no_signal: bool) -> list[str]:
    if not no_signal:
        return []
    if not rewards:
        return ["No rollout is scored, so there is no advantage."]
    if len(rewards) == 1:
        return ["Only one rollout is scored: its advantage is 0, there is nothing to compare with."]
    return [
        f"All {len(rewards)} scored rewards are equal ({rewards[0]:g}): every advantage is 0. "
        "Novelty and weights are shown all the same."
    ]


def _count_notes(n_unscored: int, n_empty: int) -> list[str]:
    notes: list[str] = []
    if n_unscored:
        notes.append(
            f"{n_unscored} unscored: left out of the baseline and the barycenters, "
            "advantage 0, weights 1."
        )
    if n_empty:
        notes.append(f"{n_empty} without own tokens: in the baseline, in no barycenter.")
    return notes


def _class_notes(
    outcomes: list[OutcomeClass], without_reference: list[bool], config: CreditConfig
) -> list[str]:
    notes: list[str] = []
    for success in without_reference:
        rows = next(c.rows for c in outcomes if c.success == success)
        if config.signal in ("entropy", "surprisal"):
            why = f"{config.signal} is unknown for some of its tokens"
        elif config.signal == "shear" or config.reference == "opposite_outcome":
            why = "there is no rollout of the other outcome to compare with"
        elif len(rows) == 1:
            why = "it is alone in its outcome class and has no pattern to differ from"
        else:
            why = "there is nothing to compare with"
        who = f"The only {_WORD[success]} rollout" if len(rows) == 1 else f"{_WORD[success]} class"
        notes.append(f"{who[0].upper()}{who[1:]}: {why}; novelty 0, weights 1.")
    for outcome in outcomes:
        if not outcome.converged:
            change = f"{outcome.changes[-1]:.1e}" if outcome.changes else "unknown"
            notes.append(
                f"The barycenter for the {_WORD[outcome.success]} rollouts did not converge in "
                f"{outcome.iterations} rounds (last change {change}, marginal error "
                f"{outcome.marginal_error:.1e}, tolerance {config.tolerance:g})."
            )
    return notes


def config_notes(config: CreditConfig) -> list[str]:
    """Settings that have no effect together."""
    notes: list[str] = []
    if config.conserve == "rollout" and "rollout" in config.shares():
        notes.append(
            'conserve "rollout" cancels the rollout level of the granularity exactly; '
            'use "outcome" or "auto".'
        )
    if config.signal != "uniform" and config.strength == 0:
        notes.append("strength is 0: all weights are 1.")
    if config.signal != "uniform" and config.weight_range == (1.0, 1.0):
        notes.append("weight_range is (1, 1): all weights are 1.")
    if config.solver == "exact" and config.anchors == "coupling":
        notes.append('anchors "coupling" has no effect with the exact solver.')
    return notes
