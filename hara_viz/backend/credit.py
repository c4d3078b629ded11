"""The verb `credit`: token-level credit from what a run holds, without a model.

`credit_group` is what the app calls at every move of a slider; `credit_run` does the same for all
groups and keeps the results. Both come down to `assign_credit_packed`, which a trainer calls too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

import torch

from hara_viz.backend.group_credit import GroupCredit, credit_of, is_whole
from hara_viz.backend.recorded import recorded_baseline
from hara_viz.credit import Credit, CreditConfig
from hara_viz.credit.baseline import baseline_advantages
from hara_viz.errors import InvalidInputError
from hara_viz.store import CreditWriter, Run, describe_credit, load_credit
from hara_viz.types import (
    GroupKey,
    Progress,
    Report,
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
    given = recorded_baseline(run, group, config)
    expected = baseline_advantages(group.rewards, config.baseline) if given is None else given
    if not torch.equal(credit.baseline, expected.float()):  # the trainer's own no longer holds
        return None
    offsets = torch.tensor([0, *accumulate(len(r.completion_ids) for r in group.rollouts)])
    return GroupCredit(group=group, credit=credit, offsets=offsets, layer=layer, config=config)


def _groups(run: Run) -> Iterator[RolloutGroup]:
    for part in run.parts:
        yield from run.load_part(part)
    raise InvalidInputError(
        f"{run.name} keeps states for none of its {len(run.keys())} groups; fill them in with "
        "`hara-viz states`, or choose a signal that needs none, such as position"
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
            "that needs none, such as position"
        )
    return layer


def _credit(
    run: Run, group: RolloutGroup, config: CreditConfig, layer: int | None, source: str | None
) -> GroupCredit | None:
    """Credit of a group; None if its states are not kept."""
    states = None if layer is None else run.load_states(group.key, layer, source=source)
    if layer is not None and (states is None or not is_whole(states, group)):
        return None
    return credit_of(group, states, config, recorded_baseline(run, group, config))
