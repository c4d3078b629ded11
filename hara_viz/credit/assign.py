"""The two doors: padded for trainers, packed for everything large. One computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import repeat

import torch
from torch import Tensor

from hara_viz.credit.baseline import baseline_advantages as advantages_by_rule
from hara_viz.credit.batch import PackedBatch, build_batch, check_signal_inputs
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.diagnostics import diagnose
from hara_viz.credit.granularity import mixed_z
from hara_viz.credit.novelty import ClassNovelty, hara_novelty
from hara_viz.credit.outcomes import GroupRows, group_rows
from hara_viz.credit.record import Credit, GroupDiagnostics, OutcomeClass
from hara_viz.credit.signals import rival_signal
from hara_viz.credit.weights import clip_to_mean_one
from hara_viz.errors import ShapeError


@torch.no_grad()
def assign_credit(
    hidden: Tensor,
    mask: Tensor,
    rewards: Tensor,
    group_index: Tensor,
    config: CreditConfig | None = None,
    *,
    reasoning_step: Tensor | None = None,
    logprobs: Tensor | None = None,
    entropy: Tensor | None = None,
    anchor_states: Tensor | None = None,
    baseline_advantages: Tensor | None = None,
) -> Credit:
    """Token advantages of a padded batch, equations (1)-(8).

    Args:
        hidden: [B, T, D] states at the completion tokens, any float dtype, any device.
        mask: [B, T] bool, True on the policy's own tokens (not padding, not tool output).
        rewards: [B]; NaN = unscored.
        group_index: [B] int; rows of one problem share a number, in any order.
        config: The choices; default `CreditConfig()`.
        reasoning_step: [B, T] int, sentences or lines numbered within a row; for "step".
        logprobs: [B, T], for the signal "surprisal".
        entropy: [B, T], for the signal "entropy".
        anchor_states: [B, A, D], equal within a group, for anchors "prompt".
        baseline_advantages: [B], a trainer's own A_r in place of `config.baseline`.

    Returns:
        Credit with [B, T] rows, float32, on the device of `hidden`; 0 outside the mask.

    Raises:
        ShapeError, InvalidInputError: see `assign_credit_packed`.
    """
    if hidden.dim() != 3 or mask.shape != hidden.shape[:2]:
        raise ShapeError(
            f"hidden {tuple(hidden.shape)} and mask {tuple(mask.shape)} do not fit; "
            "expected [B, T, D] and [B, T]"
        )
    own = mask.bool()
    lengths = own.sum(1)
    offsets = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])

    def packed(name: str, values: Tensor | None) -> Tensor | None:
        if values is None:
            return None
        if values.shape != own.shape:
            raise ShapeError(f"{name}: got {tuple(values.shape)}, mask has {tuple(own.shape)}")
        return values[own]

    credit = assign_credit_packed(
        hidden[own],
        offsets,
        rewards,
        group_index,
        config,
        reasoning_step=packed("reasoning_step", reasoning_step),
        logprobs=packed("logprobs", logprobs),
        entropy=packed("entropy", entropy),
        anchor_states=anchor_states,
        baseline_advantages=baseline_advantages,
    )

    def padded(values: Tensor) -> Tensor:
        return torch.zeros(own.shape, device=values.device).masked_scatter_(own, values)

    return replace(
        credit,
        advantages=padded(credit.advantages),
        weights=padded(credit.weights),
        novelty=padded(credit.novelty),
        novelty_feature=padded(credit.novelty_feature),
        novelty_structure=padded(credit.novelty_structure),
    )


@torch.no_grad()
def assign_credit_packed(
    states: Tensor,
    offsets: Tensor,
    rewards: Tensor,
    group_index: Tensor,
    config: CreditConfig | None = None,
    *,
    reasoning_step: Tensor | None = None,
    logprobs: Tensor | None = None,
    entropy: Tensor | None = None,
    anchor_states: Tensor | None = None,
    baseline_advantages: Tensor | None = None,
) -> Credit:
    """Token advantages of a packed batch: `assign_credit` without padding.

    Args:
        states: [N, D] own tokens of all rows, row after row.
        offsets: [B+1] int; row b owns states[offsets[b] : offsets[b+1]].
        rewards: [B]; NaN = unscored.
        group_index: [B] int.
        config: The choices; default `CreditConfig()`.
        reasoning_step: [N] int.
        logprobs: [N].
        entropy: [N].
        anchor_states: [B, A, D].
        baseline_advantages: [B], a trainer's own A_r.

    Returns:
        Credit with [N] rows.

    Raises:
        ShapeError: arrays that do not fit each other.
        InvalidInputError: states that are not finite, an input missing that the config needs.
    """
    config = config or CreditConfig()
    batch = build_batch(
        states,
        offsets,
        rewards,
        group_index,
        reasoning_step=reasoning_step,
        logprobs=logprobs,
        entropy=entropy,
        anchor_states=anchor_states,
        baseline_advantages=baseline_advantages,
    )
    check_signal_inputs(batch, config)
    ledger = _Ledger.open(batch)
    outcomes: list[OutcomeClass] = []
    diagnostics: list[GroupDiagnostics] = []
    groups = group_rows(batch, config)
    found = hara_novelty(batch, groups, config) if config.signal == "hara" else repeat({})
    for group, novelty in zip(groups, found, strict=False):
        classes = _credit_group(batch, group, novelty, config, ledger)
        outcomes += [outcome for outcome, _ in classes]
        without = [outcome.success for outcome, compared in classes if not compared]
        own = [outcome for outcome, _ in classes]
        diagnostics.append(diagnose(batch, group, own, without, config))
    return ledger.close(batch, outcomes, diagnostics)


class _Ledger:
    """Where the classes write their tokens' credit."""

    def __init__(self, n_tokens: int, n_rows: int, device: torch.device) -> None:
        self.feature = torch.zeros(n_tokens, device=device)
        self.structure = torch.zeros(n_tokens, device=device)
        self.weights = torch.ones(n_tokens, device=device)
        self.baseline = torch.zeros(n_rows, dtype=torch.float64)

    @staticmethod
    def open(batch: PackedBatch) -> _Ledger:
        return _Ledger(batch.states.shape[0], batch.n_rows, batch.states.device)

    def close(
        self,
        batch: PackedBatch,
        outcomes: list[OutcomeClass],
        diagnostics: list[GroupDiagnostics],
    ) -> Credit:
        device = self.weights.device
        segments = batch.segments(tuple(range(batch.n_rows)))
        per_token = self.baseline.to(device)[segments]
        return Credit(
            advantages=(per_token * self.weights.double()).float(),
            baseline=self.baseline.float().to(device),
            weights=self.weights,
            novelty=self.feature + self.structure,
            novelty_feature=self.feature,
            novelty_structure=self.structure,
            outcomes=tuple(outcomes),
            diagnostics=tuple(diagnostics),
        )


def _credit_group(
    batch: PackedBatch,
    group: GroupRows,
    found: Mapping[bool, ClassNovelty],
    config: CreditConfig,
    ledger: _Ledger,
) -> list[tuple[OutcomeClass, bool]]:
    """Fill the ledger for one group; its classes, and whether each had a reference."""
    rows = list(group.rows)
    if batch.given is None:
        ledger.baseline[rows] = advantages_by_rule(batch.rewards[rows], config.baseline)
    else:
        ledger.baseline[rows] = batch.given[rows]
    classes: list[tuple[OutcomeClass, bool]] = []
    for success in (True, False):
        members = group.outcome(success)
        if not members:
            continue
        index = batch.token_index(members)
        novelty = found.get(success)
        signal = _write_signal(batch, group, success, config, novelty, ledger, index)
        if signal is not None:
            ledger.weights[index] = _weights(signal, batch, members, success, config)
        classes.append((_outcome(group.group, success, members, novelty), signal is not None))
    return classes


def _write_signal(
    batch: PackedBatch,
    group: GroupRows,
    success: bool,
    config: CreditConfig,
    novelty: ClassNovelty | None,
    ledger: _Ledger,
    index: Tensor,
) -> Tensor | None:
    if config.signal != "hara":
        # A rival has no parts: all of it stands in the first.
        signal = rival_signal(batch, group, success, config)
        if signal is not None:
            ledger.feature[index] = signal.float()
        return signal
    if novelty is None or novelty.transport is None:
        return None
    ledger.feature[index] = torch.cat(novelty.transport.costs_feature)
    ledger.structure[index] = torch.cat(novelty.transport.costs_structure)
    return ledger.feature[index] + ledger.structure[index]


def _weights(
    signal: Tensor,
    batch: PackedBatch,
    rows: tuple[int, ...],
    success: bool,
    config: CreditConfig,
) -> Tensor:
    """w [n] of one class by (7)."""
    if not success and config.incorrect == "uniform":
        return torch.ones_like(signal)
    z = mixed_z(signal, batch, rows, config)
    if not success and config.incorrect == "shield":
        z = -z
    raw = 1.0 + config.strength * z
    low, high = config.weight_range
    conserved = config.conserved()
    if conserved == "none":
        return raw.clamp(low, high).float()
    segments = batch.segments(rows)
    if conserved == "outcome":
        segments = torch.zeros_like(segments)
    return clip_to_mean_one(raw, segments, low, high).float()


def _outcome(
    group: int, success: bool, rows: tuple[int, ...], novelty: ClassNovelty | None
) -> OutcomeClass:
    transport = novelty.transport if novelty else None
    solution = novelty.solution if novelty else None
    return OutcomeClass(
        group=group,
        success=success,
        rows=rows,
        barycenter=novelty.barycenter if novelty else None,
        plans=tuple(transport.plans) if transport else (),
        converged=solution.converged if solution else True,
        iterations=solution.iterations if solution else 0,
        marginal_error=transport.marginal_error if transport else 0.0,
        changes=solution.changes if solution else (),
    )
