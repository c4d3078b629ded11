"""Credit methods on the same rollouts: HarA, its settings and its rivals, weight against weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hara_viz.analysis.agreement import (
    Agreement,
    GroupAgreement,
    group_agreement,
    over_problems,
)
from hara_viz.analysis.spans import TokenSpan, top_spans
from hara_viz.backend.credit import kept_or_computed
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, RolloutGroup, ignore_progress, is_success

__all__ = [
    "Agreement",
    "GroupMethods",
    "Method",
    "agreement_of",
    "compare_methods",
    "group_methods",
    "methods_at",
    "methods_under",
    "winning_spans",
]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to give credit."""

    name: str
    label: str
    config: CreditConfig


@dataclass(frozen=True, slots=True)
class GroupMethods:
    """The weights of one group under several methods."""

    key: GroupKey
    weights: tuple[np.ndarray | None, ...]
    """By method, [N] over all tokens; None: refused."""
    refused: tuple[str, ...]
    """By method, why; empty: it was not."""
    agreement: GroupAgreement


def methods_under(config: CreditConfig) -> tuple[Method, ...]:
    """The methods that are compared; what they do not name is as in `config`."""

    def rival(name: str, label: str) -> Method:
        changes = {"signal": name, "granularity": "token"}
        return Method(name, label, replace(config, **changes))

    hara = replace(config, signal="hara")
    return (
        rival("uniform", "Uniform"),
        rival("position", "Position"),
        rival("entropy", "Entropy"),
        rival("surprisal", "Surprisal"),
        rival("shear", "SHEAR"),
        Method("hara", "HarA", hara),
        Method("hara-states", "HarA, states only (α = 0)", replace(hara, alpha=0.0)),
        Method("hara-places", "HarA, structure only (α = 1)", replace(hara, alpha=1.0)),
        Method("hara-steps", "HarA, step level", replace(hara, granularity="step")),
        Method("hara-others", "HarA, leave one out", replace(hara, reference="leave_one_out")),
    )


def group_methods(
    run: Run, key: GroupKey, methods: Sequence[Method], layer: int | None = None
) -> GroupMethods:
    """The weights of one group under each method; one that lacks its input is refused."""
    group = run.load_group(key)
    weights: list[np.ndarray | None] = []
    refused: list[str] = []
    for method in methods:
        try:
            found = kept_or_computed(run, key, method.config, layer)
            weights.append(found.credit.weights.double().numpy())
            refused.append("")
        except HaraError as error:
            weights.append(None)
            refused.append(str(error))
    classes = token_classes(group, methods[0].config.success_threshold)
    agreement = group_agreement(key.problem_id, weights, classes)
    return GroupMethods(key, tuple(weights), tuple(refused), agreement)


def compare_methods(
    run: Run,
    config: CreditConfig,
    layer: int | None = None,
    report: Report = ignore_progress,
) -> Agreement:
    """All methods over all groups of a run.

    Args:
        run: an open run.
        config: what the methods do not name.
        layer: whose states; None: the highest kept.
        report: hears of progress in groups.
    """
    found: list[GroupAgreement] = []
    keys, methods = run.keys(), methods_under(config)
    for number, key in enumerate(keys):
        report(Progress(stage="methods", done=number, total=len(keys), unit="groups"))
        found.append(group_methods(run, key, methods, layer).agreement)
    return over_problems(found)


def methods_at(
    path: str, stamp: int, keys: tuple[GroupKey, ...], config: str, layer: int | None
) -> tuple[GroupMethods, ...]:
    """`group_methods` of some groups, for the side process; `stamp` names the state on disk."""
    del stamp
    run, methods = open_run(path), methods_under(CreditConfig.from_json(config))
    return tuple(group_methods(run, GroupKey(*key), methods, layer) for key in keys)


def agreement_of(groups: Sequence[GroupMethods]) -> Agreement:
    """Several groups, summed up over problems."""
    return over_problems([group.agreement for group in groups])


def winning_spans(
    group: RolloutGroup, a: np.ndarray, b: np.ndarray, top: int = 8
) -> tuple[TokenSpan, ...]:
    """Where b gives more weight than a: spans of b − a, largest excess first."""
    offsets = np.cumsum([0, *(len(r.completion_ids) for r in group.rollouts)]).tolist()
    return top_spans(b - a, offsets, top=top)


def token_classes(group: RolloutGroup, threshold: float) -> np.ndarray:
    """[N]: 1 right, 0 wrong; −1: unscored, or not sampled by the policy."""
    parts: list[np.ndarray] = []
    for rollout in group.rollouts:
        success = is_success(rollout.reward, threshold)
        own = np.full(len(rollout.completion_ids), -1 if success is None else int(success))
        if rollout.sampled_mask is not None:
            own[~np.asarray(rollout.sampled_mask, bool)] = -1
        parts.append(own)
    return np.concatenate(parts)
