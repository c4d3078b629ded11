"""The verb `states`: read the completions of a run with a checkpoint, by teacher forcing.

With the run's own checkpoint this fills in what it lacks: layers, log-probabilities, entropies.
With another one the same text is seen through other eyes; `log_ratio` is the difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from hara_viz.backend.projected_states import check_size, project_layer
from hara_viz.backend.state_choice import StateChoice
from hara_viz.backend.too_long import Unread, too_long
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.models import Completion, Policy, TeacherForced, load_policy, teacher_force
from hara_viz.store import Reading, ReadingWriter, Run
from hara_viz.types import (
    CheckpointInfo,
    GroupKey,
    HiddenStates,
    Progress,
    Report,
    Rollout,
    RolloutGroup,
    ignore_progress,
)


class StatesFilled(NamedTuple):
    """What came of `fill_states`."""

    checkpoint: CheckpointInfo
    """Who read; `log_ratio` and `Run.load_readings` take its fingerprint."""
    most: int | None
    """Tokens that it reads at most; None: no limit."""
    unread: Unread
    """Rollouts that are longer than that: their log-probabilities are NaN, and of their groups no
    states are kept, since a barycenter of the others alone would mislead."""


def fill_states(
    run: Run,
    model: str,
    layers: Sequence[int] = (-1,),
    *,
    states: str = "all",
    project: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    base: str | None = None,
    roots: Sequence[Path] | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    report: Report = ignore_progress,
) -> StatesFilled:
    """Read all completions of a run and keep states, log-probabilities and entropies.

    What the run has already is not read again, so an interrupted call goes on where it stopped.
    Rollouts that are longer than the checkpoint reads are left out.

    Args:
        run: an open run.
        model: a directory, GGUF file or hub id.
        layers: whose states are kept, negative ones counted from the last; none: log-probabilities
            and entropies alone.
        states: whose states are kept: "all", "mixed", "sample:N" or "none" (`StateChoice`).
        project: dimensions of a random projection of the states; None: as they are.
        device: "auto", "cpu", "cuda", …
        dtype: "auto", "bfloat16", "float32", …
        revision: of a hub id.
        base: the base model of an adapter.
        roots: folders in which a base that an adapter names must lie; None: anywhere.
        trust_remote_code: run Python code that comes with the checkpoint.
        allow_pickle: read pickled weights, as tensors alone.
        report: hears of progress in tokens.

    Raises:
        InvalidInputError: the run's prompts are not known as ids, or its tokens are not this
            checkpoint's, or all rollouts are too long for it, or a layer does not exist, or
            `states` is no choice.
        ModelError: the checkpoint cannot be loaded or run.
    """
    choice = StateChoice.parse(states)
    _check_prompts(run)
    report(Progress(stage="loading", done=0, total=1, unit="models"))
    policy = load_policy(
        model,
        device=device,
        dtype=dtype,
        revision=revision,
        base=base,
        roots=roots,
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    report(Progress(stage="loading", done=1, total=1, unit="models"))
    _check_tokenizer(run, policy.info)
    chosen = policy.resolve_layers(layers) if layers and choice.kind != "none" else ()
    if project is not None:
        check_size(project, policy.info.hidden_size)
    unread = too_long(run, policy.max_positions)
    kept = _kept(run, choice) - {key for key, _ in unread}
    with ReadingWriter(run.path, policy.info, chosen, keep=kept) as writer:
        meter = _Meter(run, writer.missing_parts, len(unread), report)
        for part in writer.missing_parts:
            groups = run.load_part(part)
            forced = _read(policy, groups, chosen, unread, meter.hear)
            found = forced.states
            if project is not None:
                found = tuple(project_layer(layer, project) for layer in found)
            writer.write_part(part, groups, _readings(forced, groups), found)
            meter.close_part(part)
        writer.finish()
    return StatesFilled(policy.info, policy.max_positions, unread)


def log_ratio(run: Run, key: GroupKey, source: str) -> Tensor:
    """log p(token) of the run's policy minus that of a reference, packed [N]; NaN where unknown.

    Args:
        run: an open run.
        key: the group.
        source: fingerprint of the reference checkpoint.

    Raises:
        MissingInputError: the reference has not read this group.
        InvalidInputError: the run's log-probabilities are not the model's own.
    """
    readings = run.load_readings(key, source)
    if readings is None:
        raise MissingInputError(
            f"checkpoint {source[:8]} has not read {run.name}; let it: `hara-viz states "
            f"{run.name} --model …`"
        )
    group = run.load_group(key)
    kinds = {r.logprobs_kind for r in group.rollouts if r.logprobs is not None} - {"raw"}
    if kinds:
        raise InvalidInputError(
            f"{run.name} holds log-probabilities of the kind {', '.join(sorted(map(str, kinds)))}, "
            "which cannot be compared with a model's own"
        )
    parts = [
        torch.tensor(rollout.logprobs) - torch.tensor(reading.logprobs)
        if rollout.logprobs is not None
        else torch.full((len(rollout.completion_ids),), float("nan"))
        for rollout, reading in zip(group.rollouts, readings, strict=True)
    ]
    return torch.cat(parts).float()


def _kept(run: Run, choice: StateChoice) -> frozenset[GroupKey]:
    """The groups whose states a choice keeps, by the rewards that hold now."""
    keys, threshold = run.keys(), run.info.success_threshold
    drawn = choice.drawn({key.problem_id for key in keys}, run.info.seed)
    return frozenset(
        key
        for key in keys
        if choice.keeps(key.problem_id, run.place(key)["rewards"], drawn, threshold)
    )


def _read(
    policy: Policy,
    groups: Sequence[RolloutGroup],
    layers: Sequence[int],
    unread: Unread,
    report: Report,
) -> TeacherForced:
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    pairs = [
        ((rollout.prompt_ids or ())[:1], ())
        if (rollout.key, rollout.sample) in unread
        else (prompt_of(rollout), rollout.completion_ids)
        for rollout in rollouts
    ]
    return teacher_force(
        policy,
        [prompt for prompt, _ in pairs],
        [completion for _, completion in pairs],
        layers,
        report=report,
    )


def prompt_of(rollout: Rollout) -> tuple[int, ...]:
    """What stands before the completion when it is read.

    Nothing was drawn after a prompt that is too long for the model; it must not be read either, so
    an empty completion stands behind one token.
    """
    return (rollout.prompt_ids or ())[: None if rollout.completion_ids else 1]


def packed_states(
    completions: Sequence[Completion], layers: Sequence[int], checkpoint: CheckpointInfo
) -> tuple[HiddenStates, ...] | None:
    """States that were kept while sampling, one record per layer; None if some were not."""
    drawn = [completion for completion in completions if completion.ids]
    kept = [completion.states for completion in drawn if completion.states is not None]
    if len(kept) < len(drawn) or not kept:
        return None
    lengths = torch.tensor([0, *(len(completion.ids) for completion in completions)])
    return tuple(
        HiddenStates(
            states=torch.cat([states[number] for states in kept]),
            offsets=lengths.cumsum(0),
            layer=layer,
            after_norm=layer == checkpoint.n_layers,
        )
        for number, layer in enumerate(layers)
    )


def _readings(forced: TeacherForced, groups: Sequence[RolloutGroup]) -> list[Reading]:
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    found = []
    for rollout, logprobs, entropy in zip(rollouts, forced.logprobs, forced.entropy, strict=True):
        unknown = (math.nan,) * len(rollout.completion_ids)
        is_read = len(logprobs) == len(unknown)
        values = (logprobs.tolist(), entropy.tolist()) if is_read else (unknown, unknown)
        found.append(Reading(*map(tuple, values)))
    return found


def _check_prompts(run: Run) -> None:
    """Look at one rollout of the run: recorders and importers keep ids for all or for none."""
    keys = run.keys()
    if keys and not run.load_group(keys[0]).rollouts[0].prompt_ids:
        raise InvalidInputError(
            f"{run.name} does not hold the token ids of its prompts, so no model can read what "
            "stands before the completions; import it with --model"
        )


def _check_tokenizer(run: Run, reader: CheckpointInfo) -> None:
    own = run.info.checkpoint
    if own is None or not own.tokenizer_fingerprint or not reader.tokenizer_fingerprint:
        return
    if own.tokenizer_fingerprint != reader.tokenizer_fingerprint:
        raise InvalidInputError(
            f"{reader.path} has another tokenizer than {own.path}, which {run.name} was sampled "
            "with: its ids would mean other text; choose a checkpoint of the same family"
        )


class _Meter:
    """Progress over all parts, from that of each."""

    def __init__(self, run: Run, parts: Sequence[str], n_unread: int, report: Report) -> None:
        self.figures = {"too long to read": n_unread} if n_unread else {}
        places = [run.place(key) for key in run.keys()]  # noqa: SIM118 (a run is no dict)
        self.tokens = {part: 0 for part in parts}
        for place in places:
            if place["part"] in self.tokens:
                self.tokens[place["part"]] += sum(place["lengths"])
        self.total = sum(self.tokens.values())
        self.done = 0
        self.report = report

    def hear(self, progress: Progress) -> None:
        self._tell(self.done + progress.done)

    def close_part(self, part: str) -> None:
        self.done += self.tokens[part]
        self._tell(self.done)

    def _tell(self, done: int) -> None:
        self.report(
            Progress(
                stage="reading", done=done, total=self.total, unit="tokens", figures=self.figures
            )
        )
