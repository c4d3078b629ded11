"""The verb `credit`: token-level credit from what a run holds, without a model.

`credit_group` is what the app calls at every move of a slider; `credit_run` does the same for all
groups and keeps the results. Both come down to `assign_credit_packed`, which a trainer calls too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import torch
from torch import Tensor

from hara_viz.backend.recorded import recorded_baseline
from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.errors import InvalidInputError
from hara_viz.store import CreditWriter, Run, describe_credit, load_credit
from hara_viz.types import (
    GroupKey,
    HiddenStates,
    Progress,
    Report,
    Rollout,
    RolloutGroup,
    ignore_progress,
)

__all__ = [
    "CreditConfig",
    "GroupCredit",
    "credit_group",
    "credit_of",
    "credit_run",
    "default_config",
    "default_layer",
    "kept_credit",
    "kept_or_computed",
]

NEEDS_STATES = frozenset({"hara", "shear"})
"""The signals that read hidden states; the others are computed for runs without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCredit:
    """A group and its credit, row by row."""

    group: RolloutGroup
    credit: Credit
    """Packed over *all* completion tokens; tokens that the policy did not sample hold 0. Plans
    have rows for the sampled tokens only."""
    offsets: Tensor
    """[G+1]: rollout g owns rows offsets[g] : offsets[g+1]."""
    layer: int | None
    """None: computed without states."""
    config: CreditConfig

    def of_row(self, values: Tensor, row: int) -> Tensor:
        """The part of a packed tensor that belongs to one rollout."""
        return values[int(self.offsets[row]) : int(self.offsets[row + 1])]


def credit_group(
    run: Run,
    key: GroupKey,
    config: CreditConfig | None = None,
    layer: int | None = None,
    *,
    source: str | None = None,
) -> GroupCredit:
    """Credit of one group, computed now.

    Args:
        run: an open run.
        key: the group.
        config: None: the defaults, with the run's own threshold of success.
        layer: whose states to use; None: the highest layer that the run holds.
        source: fingerprint of the checkpoint whose states to use; None: the run's own
            (`Run.source_of`).

    Raises:
        InvalidInputError: the group's states are needed and not kept, or a setting needs what the
            run lacks; the sentence says which command fills it in.
    """
    config = default_config(run) if config is None else config
    layer = _layer(run, config, layer, source)
    found = _credit(run, run.load_group(key), config, layer, source)
    if found is None:
        raise InvalidInputError(
            f"{run.name} does not keep the states of layer {layer} for all rollouts of this group; "
            "fill them in with `hara-viz states`, or choose a signal that needs none, such as "
            "entropy"
        )
    return found


def credit_of(
    group: RolloutGroup,
    states: HiddenStates | None,
    config: CreditConfig,
    baseline: Tensor | None = None,
) -> GroupCredit:
    """Credit of a group in memory; `states` may be None for signals that need none.

    `baseline` [G]: the A_r of a trainer, in place of the config's rule.
    """
    lengths = [len(rollout.completion_ids) for rollout in group.rollouts]
    masks = [_own_tokens(rollout) for rollout in group.rollouts]
    counts = [sum(mask) for mask in masks]
    own = torch.tensor([sampled for mask in masks for sampled in mask], dtype=torch.bool)
    if states is None:
        packed = torch.zeros(sum(counts), 1)
    else:
        if not _is_whole(states, group):
            raise InvalidInputError(
                f"states of group {tuple(group.key)} are kept for some of its rollouts only; fill "
                "them in with `hara-viz states`"
            )
        packed = states.states if bool(own.all()) else states.states[own]
    credit = assign_credit_packed(
        packed,
        torch.tensor([0, *accumulate(counts)]),
        group.rewards,
        torch.zeros(len(group), dtype=torch.int64),
        config,
        reasoning_step=_packed(group, "reasoning_step", own, torch.int64),
        logprobs=_packed(group, "logprobs", own, torch.float32),
        entropy=_packed(group, "entropy", own, torch.float32),
        baseline_advantages=baseline,
    )
    return GroupCredit(
        group=group,
        credit=credit if bool(own.all()) else _spread(credit, own),
        offsets=torch.tensor([0, *accumulate(lengths)]),
        layer=None if states is None else states.layer,
        config=config,
    )


def credit_run(
    run: Run,
    config: CreditConfig | None = None,
    layer: int | None = None,
    report: Report = ignore_progress,
    *,
    source: str | None = None,
) -> str:
    """Compute the credit of all groups that allow it, and keep it in the run.

    Groups that are kept already (same config, layer, states and rewards) are not computed again,
    so an interrupted call goes on where it stopped, and a run that grew gets its new groups only.

    Args:
        run: the run, opened just now.
        config: None: the defaults, with the run's own threshold of success.
        layer: whose states to use; None: the highest layer that the run holds.
        report: hears of progress in groups.
        source: fingerprint of the checkpoint whose states to use; None: the run's own.

    Returns:
        The fingerprint under which the credit is kept.

    Raises:
        InvalidInputError: no group of the run has what the config needs; nothing is written then.
        MissingInputError: the run holds no states of the layer.
    """
    config = default_config(run) if config is None else config
    layer = _layer(run, config, layer, source)

    def compute(group: RolloutGroup) -> GroupCredit | None:
        return _credit(run, group, config, layer, source)

    # A config that fails must not leave an empty cache behind: the first group goes ahead.
    ahead = next(found for group in _groups(run) if (found := compute(group)))
    n_groups = Counter(run.place(key)["part"] for key in run.keys())  # noqa: SIM118
    done, total = 0, n_groups.total()

    def tell() -> None:
        report(Progress(stage="credit", done=done, total=total, unit="groups"))

    with CreditWriter(run, config, layer, source=source) as writer:
        missing = writer.missing_parts
        for part in run.parts:
            if part not in missing:
                done += n_groups[part]
                continue
            groups = run.load_part(part)
            credits: list[Credit | None] = []
            for group in groups:
                tell()
                known = group.key == ahead.group.key
                found = ahead if known else compute(group)
                credits.append(None if found is None else found.credit)
                done += 1
            writer.write_part(part, groups, credits)
        tell()
        writer.finish()
    return writer.fingerprint


def default_config(run: Run) -> CreditConfig:
    """The default config with the run's own threshold of success."""
    return CreditConfig(success_threshold=run.info.success_threshold)


def default_layer(run: Run, source: str | None = None) -> int | None:
    """The highest layer whose states the run holds; None if it holds none."""
    return max(run.layers_of(source), default=None)


def kept_or_computed(
    run: Run, key: GroupKey, config: CreditConfig, layer: int | None = None
) -> GroupCredit:
    """Credit of one group: as the run keeps it, else computed now like `credit_group`."""
    return kept_credit(run, key, config, layer) or credit_group(run, key, config, layer)


def kept_credit(
    run: Run, key: GroupKey, config: CreditConfig, layer: int | None = None
) -> GroupCredit | None:
    """Credit of one group as the run keeps it; None: it keeps none of this config.

    Plans are kept in half precision, all else as `credit_group` computes it.
    """
    layer = default_layer(run) if layer is None else layer
    if config.signal not in NEEDS_STATES:
        layer = None
    elif layer not in run.layers:
        return None
    credit = load_credit(run, describe_credit(run, config, layer).fingerprint, key)
    if credit is None:
        return None
    group = run.load_group(key)
    offsets = torch.tensor([0, *accumulate(len(r.completion_ids) for r in group.rollouts)])
    return GroupCredit(group=group, credit=credit, offsets=offsets, layer=layer, config=config)


def _groups(run: Run) -> Iterator[RolloutGroup]:
    for part in run.parts:
        yield from run.load_part(part)
    raise InvalidInputError(
        f"{run.name} keeps states for none of its {len(run.keys())} groups; fill them in with "
        "`hara-viz states`, or choose a signal that needs none, such as entropy"
    )


def _layer(run: Run, config: CreditConfig, layer: int | None, source: str | None) -> int | None:
    """The layer that a config reads; None if it reads none."""
    if config.signal not in NEEDS_STATES:
        return None
    layer = default_layer(run, source) if layer is None else layer
    if layer is None or layer not in run.layers_of(source):
        held = ", ".join(map(str, run.layers_of(source))) or "none"
        wanted = "" if layer is None else f" of layer {layer}"
        raise InvalidInputError(
            f"signal {config.signal!r} needs hidden states{wanted}, and {run.name} does not hold "
            f"them (layers held: {held}); fill them in with `hara-viz states`, or choose a signal "
            "that needs none, such as entropy"
        )
    return layer


def _credit(
    run: Run, group: RolloutGroup, config: CreditConfig, layer: int | None, source: str | None
) -> GroupCredit | None:
    """Credit of a group; None if its states are not kept."""
    states = None if layer is None else run.load_states(group.key, layer, source=source)
    if layer is not None and (states is None or not _is_whole(states, group)):
        return None
    return credit_of(group, states, config, recorded_baseline(run, group, config))


def _is_whole(states: HiddenStates, group: RolloutGroup) -> bool:
    """Whether all rollouts of a group have their states: a barycenter of some would mislead."""
    return states.offsets.diff().tolist() == [len(r.completion_ids) for r in group.rollouts]


def _own_tokens(rollout: Rollout) -> Sequence[bool]:
    mask = rollout.sampled_mask
    return (True,) * len(rollout.completion_ids) if mask is None else mask


def _packed(group: RolloutGroup, name: str, own: Tensor, dtype: torch.dtype) -> Tensor | None:
    """A per-token field of all rollouts over their own tokens; None if any rollout lacks it."""
    rows = [getattr(rollout, name) for rollout in group.rollouts]
    if any(row is None for row in rows):
        return None
    return torch.tensor([value for row in rows for value in row], dtype=dtype)[own]


def _spread(credit: Credit, own: Tensor) -> Credit:
    """Packed rows over own tokens -> packed rows over all tokens, 0 elsewhere."""

    def spread(values: Tensor) -> Tensor:
        full = values.new_zeros(own.shape[0])
        full[own] = values
        return full

    names = ("advantages", "weights", "novelty", "novelty_feature", "novelty_structure")
    return replace(credit, **{name: spread(getattr(credit, name)) for name in names})
