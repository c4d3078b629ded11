"""A group as one self-contained page: the same component and frame as in the app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hara_viz.analysis.signals import Offer
from hara_viz.backend.credit import GroupCredit, credit_group, default_config
from hara_viz.backend.further_signals import (
    Asked,
    Further,
    further_of,
    further_values,
    offers,
    own_channel,
)
from hara_viz.backend.show import keys_of
from hara_viz.components.token_heatmap import (
    SignalFrame,
    content_of,
    encode,
    encode_signal,
    frame_of,
)
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError, InvalidInputError
from hara_viz.export.origin import origin_of
from hara_viz.export.page import page_of
from hara_viz.export.place import check_place, new_file
from hara_viz.store import Run
from hara_viz.types import GroupKey, RolloutGroup


def export_group(
    run: Run,
    problem: str,
    out: Path,
    *,
    global_step: int | None = None,
    layer: int | None = None,
    config: CreditConfig | None = None,
    signals: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Write the first group of a problem as one HTML file.

    Args:
        run: an open run.
        problem: its id, the beginning of it, or the data set's own id.
        out: the file; its folder must exist.
        global_step: which training step's group; None: the first.
        layer: whose states the credit is computed from; None: the highest kept.
        config: of the credit; None: the defaults, with the run's own threshold of success.
        signals: further signals to carry along (`hara_viz.backend.further_signals`); those that
            the run merely has to read (recorded advantages, log-ratios) come anyway.
        force: replace a file that is there.

    Returns:
        `out`.

    Raises:
        MissingInputError: the run has no such problem, or none at that step.
        InvalidInputError: a signal is unknown or locked, or `out` is no place for a new file.
    """
    check_place(out, force=force)
    key = _key(run, problem, global_step)
    config = default_config(run) if config is None else config
    found, notes = _credit(run, key, config, layer)
    page = group_page(run, found, signals=signals, notes=notes)
    with new_file(out, force=force) as path:
        path.write_text(page, encoding="utf-8", errors="replace")
    return out


def group_credit_of(
    run: Run,
    problem: str,
    *,
    global_step: int | None = None,
    layer: int | None = None,
    config: CreditConfig | None = None,
) -> GroupCredit:
    """The first group of a problem with its credit; arguments as for `export_group`.

    Raises:
        MissingInputError, InvalidInputError: there is no such group, or no credit for it.
    """
    return credit_group(run, _key(run, problem, global_step), config, layer)


def group_page(
    run: Run, found: GroupCredit, *, signals: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """A group and its credit as the text of one page.

    Args:
        run: where the group comes from.
        found: the group with its credit.
        signals: as for `export_group`.
        notes: sentences to show on top.

    Raises:
        InvalidInputError: a signal is unknown or locked.
    """
    asked = Asked(run, found.group, found.config, found.layer)
    chosen = _chosen(asked, signals)
    checkpoint = run.info.checkpoint
    frame = encode(
        frame_of(
            found.group,
            found.credit,
            special_ids=checkpoint.special_ids if checkpoint else (),
            success_threshold=found.config.success_threshold,
            # What is not carried along cannot be asked for here.
            offers=[Offer(further.signal) for further in chosen],
        )
    )
    return page_of(
        title=f"{run.name} · {_name(found.group)}",
        question=_question(found.group),
        facts=_facts(run, found),
        notes=notes,
        frame=frame,
        origin=origin_of(run, found.config, found.layer).line,
        signals=[_signal_frame(asked, further, content_of(frame)) for further in chosen],
    )


def _key(run: Run, problem: str, global_step: int | None) -> GroupKey:
    keys = keys_of(run, problem)
    at_step = [key for key in keys if global_step in (None, key.global_step)]
    if not at_step:
        steps = ", ".join(sorted({str(key.global_step) for key in keys}))
        raise InvalidInputError(
            f"{run.name} has no group of {problem!r} at step {global_step}; it has steps {steps}"
        )
    return at_step[0]


def _credit(
    run: Run, key: GroupKey, config: CreditConfig, layer: int | None
) -> tuple[GroupCredit, list[str]]:
    """The group's credit; uniform, with a sentence, where it cannot be computed."""
    try:
        return credit_group(run, key, config, layer), []
    except HaraError as error:
        uniform = replace(config, signal="uniform")
        return credit_group(run, key, uniform, None), [f"{error}. Shown instead: uniform GRPO."]


def _chosen(asked: Asked, names: Sequence[str]) -> list[Further]:
    """The further signals to carry along, each channel once."""
    for name in names:
        if further_of(asked.run, name) is None:
            known = ", ".join(offer.signal.name for offer in offers(asked))
            raise InvalidInputError(f"no signal {name!r} to carry along; known are {known}")
    chosen: list[Further] = []
    for offer in offers(asked):
        further = further_of(asked.run, offer.signal.name)
        assert further is not None
        wanted = offer.signal.name in names
        if wanted and offer.locked:
            raise InvalidInputError(f"{offer.signal.label}: {offer.locked}")
        if wanted or (further.is_read and not offer.locked):
            chosen.append(further)
    return chosen


def _signal_frame(asked: Asked, further: Further, base: str) -> bytes:
    name = further.signal.name
    values = further_values(asked, name)
    return encode_signal(
        SignalFrame(base=base, signal=name, channel=own_channel(further.signal), values=values)
    )


def _name(group: RolloutGroup) -> str:
    first = group.rollouts[0]
    return first.source_id or first.problem_id


def _question(group: RolloutGroup) -> str:
    first = group.rollouts[0]
    turns = [m.content for m in first.prompt_messages or () if m.role == "user"]
    return turns[-1] if turns else first.prompt_text


def _facts(run: Run, found: GroupCredit) -> list[str]:
    group, config = found.group, found.config
    rewards = [r.reward for r in group.rollouts if r.reward is not None]
    right = sum(reward >= config.success_threshold for reward in rewards)
    checkpoint = run.info.checkpoint
    facts = [
        f"{right} of {len(rewards)} scored rollouts right",
        f"gold answer {group.rollouts[0].gold or 'unknown'}",
        f"signal {config.signal}" if config.signal != "hara" else f"HarA, α {config.alpha:g}",
    ]
    if checkpoint is not None:
        facts.append(f"checkpoint {checkpoint.path}")
    if group.key.global_step is not None:
        facts.append(f"training step {group.key.global_step}")
    return facts
