"""Credit of a group that is in memory: packed over its own tokens, solved, spread over all tokens.

The one place where the backend calls `assign_credit_packed`, which a trainer calls too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import torch
from torch import Tensor

from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates, Rollout, RolloutGroup

_PER_TOKEN = ("advantages", "weights", "novelty", "novelty_feature", "novelty_structure")


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

    def own_of_row(self, values: Tensor, row: int) -> Tensor:
        """The same over the tokens that the policy sampled; the others hold 0 and mean nothing."""
        own = torch.tensor(_own_tokens(self.group.rollouts[row]), dtype=torch.bool)
        return self.of_row(values, row)[own]

    def mean_novelty(self, row: int) -> float | None:
        """Over the tokens that the policy sampled; None: unknown (`Credit.knows_novelty`)."""
        novelty = self.own_of_row(self.credit.novelty, row).double()
        known = bool(len(novelty)) and self.credit.knows_novelty(row, novelty)
        return float(novelty.mean()) if known else None


def credit_of(
    group: RolloutGroup,
    states: HiddenStates | None,
    config: CreditConfig,
    baseline: Tensor | None = None,
) -> GroupCredit:
    """Credit of a group; `states` may be None for signals that need none.

    `baseline` [G]: the A_r of a trainer, in place of the config's rule.

    Raises:
        InvalidInputError: states of some rollouts only, or a setting needs what the group lacks.
    """
    return _solve(group, states, config, [group.rewards], baseline)[0]


def credit_under_rewards(
    group: RolloutGroup,
    states: HiddenStates | None,
    config: CreditConfig,
    rewards: Sequence[Tensor],
) -> list[GroupCredit]:
    """`credit_of` had the rollouts got each of these rewards [G] in turn.

    They are solved together: the same numbers in a third of the time. Raises as `credit_of`.
    """
    return _solve(group, states, config, rewards, None) if rewards else []


def is_whole(states: HiddenStates, group: RolloutGroup) -> bool:
    """Whether all rollouts of a group have their states: a barycenter of some would mislead."""
    return states.offsets.diff().tolist() == [len(r.completion_ids) for r in group.rollouts]


def _solve(
    group: RolloutGroup,
    states: HiddenStates | None,
    config: CreditConfig,
    rewards: Sequence[Tensor],
    baseline: Tensor | None,
) -> list[GroupCredit]:
    """Copies of the group as groups 0, 1, … of one batch, one for each of the rewards."""
    n, lengths = len(rewards), [len(rollout.completion_ids) for rollout in group.rollouts]
    masks = [_own_tokens(rollout) for rollout in group.rollouts]
    own = torch.tensor([sampled for mask in masks for sampled in mask], dtype=torch.bool)
    packed = _packed_states(states, group, own)
    credit = assign_credit_packed(
        packed if n == 1 else packed.repeat(n, 1),  # a single one stays mapped from disk
        torch.tensor([0, *accumulate([sum(mask) for mask in masks] * n)]),
        torch.cat(list(rewards)),
        torch.arange(n).repeat_interleave(len(group)),
        config,
        reasoning_step=_repeated(_packed(group, "reasoning_step", own, torch.int64), n),
        logprobs=_repeated(_packed(group, "logprobs", own, torch.float32), n),
        entropy=_repeated(_packed(group, "entropy", own, torch.float32), n),
        baseline_advantages=baseline,
    )
    return [
        GroupCredit(
            group=group,
            credit=part if bool(own.all()) else _spread(part, own),
            offsets=torch.tensor([0, *accumulate(lengths)]),
            layer=None if states is None else states.layer,
            config=config,
        )
        for part in _parts(credit, n, len(group))
    ]


def _packed_states(states: HiddenStates | None, group: RolloutGroup, own: Tensor) -> Tensor:
    if states is None:
        return torch.zeros(int(own.sum()), 1)
    if not is_whole(states, group):
        raise InvalidInputError(
            f"states of group {tuple(group.key)} are kept for some of its rollouts only; fill "
            "them in with `hara-viz states`"
        )
    return states.states if bool(own.all()) else states.states[own]


def _parts(credit: Credit, n: int, n_rows: int) -> list[Credit]:
    """The credit of each of n copies, as if it had been alone."""
    if n == 1:
        return [credit]
    per_token = {name: getattr(credit, name).chunk(n) for name in _PER_TOKEN}
    baselines = credit.baseline.chunk(n)
    return [
        Credit(
            **{name: chunks[i] for name, chunks in per_token.items()},
            baseline=baselines[i],
            outcomes=tuple(
                replace(found, group=0, rows=tuple(row - i * n_rows for row in found.rows))
                for found in credit.outcomes
                if found.group == i
            ),
            diagnostics=tuple(
                replace(found, group=0) for found in credit.diagnostics if found.group == i
            ),
        )
        for i in range(n)
    ]


def _own_tokens(rollout: Rollout) -> Sequence[bool]:
    mask = rollout.sampled_mask
    return (True,) * len(rollout.completion_ids) if mask is None else mask


def _packed(group: RolloutGroup, name: str, own: Tensor, dtype: torch.dtype) -> Tensor | None:
    """A per-token field of all rollouts over their own tokens; None if any rollout lacks it."""
    rows = [getattr(rollout, name) for rollout in group.rollouts]
    if any(row is None for row in rows):
        return None
    return torch.tensor([value for row in rows for value in row], dtype=dtype)[own]


def _repeated(values: Tensor | None, n: int) -> Tensor | None:
    return None if values is None else values.repeat(n)


def _spread(credit: Credit, own: Tensor) -> Credit:
    """Packed rows over own tokens -> packed rows over all tokens, 0 elsewhere."""

    def spread(values: Tensor) -> Tensor:
        full = values.new_zeros(own.shape[0])
        full[own] = values
        return full

    return replace(credit, **{name: spread(getattr(credit, name)) for name in _PER_TOKEN})
