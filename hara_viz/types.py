"""The records that rooms hand to each other. Frozen; `None` means unknown, 0 means zero.

Dimension letters, everywhere: P problems, G rollouts of one problem, R rollouts of one outcome
class, T tokens of one completion, S prompt tokens, D hidden size, K support points, A anchors,
B rows of a batch, N packed rows (the sum of T over a batch).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError, ShapeError


class Finish(StrEnum):
    """Why a completion ended."""

    STOP = "stop"
    """An end-of-sequence token or a stop string."""
    LENGTH = "length"
    """The limit of new tokens."""
    ABORT = "abort"
    """The engine gave up; see `Rollout.error`."""
    UNKNOWN = "unknown"
    """The source does not say (text dumps with their special tokens stripped)."""


class TokensSource(StrEnum):
    """Where the token ids of a completion come from."""

    ENGINE = "engine"
    """The very ids that were sampled."""
    DUMP = "dump"
    """Ids that another program wrote down."""
    RETOKENISED = "retokenised"
    """Text encoded again: approximate, the split may differ from what was sampled."""


class Message(NamedTuple):
    """One turn of a chat."""

    role: str
    content: str


def messages_to_json(messages: Sequence[Message]) -> str:
    """Canonical JSON of a prompt: same prompt, same string."""
    turns = [{"content": m.content, "role": m.role} for m in messages]
    return json.dumps(turns, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def messages_from_json(text: str) -> tuple[Message, ...]:
    """Inverse of `messages_to_json`."""
    return tuple(Message(turn["role"], turn["content"]) for turn in json.loads(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A question with (usually) a known answer."""

    messages: tuple[Message, ...]
    """The prompt without the system prompt and few-shot turns that a sampling run adds."""
    gold: str | None = None
    """The gold answer as the verifier takes it; None if the set has none."""
    source_id: str | None = None
    """The data set's own id, for show."""

    @property
    def problem_id(self) -> str:
        """First 16 hex digits of sha256(canonical messages + gold): equal wherever it is equal."""
        text = messages_to_json(self.messages) + "\x00" + ("" if self.gold is None else self.gold)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingConfig:
    """How a group is sampled. Every field is explicit; no default comes from the checkpoint."""

    group_size: int = 8
    max_new_tokens: int = 512
    temperature: float = 1.0
    """0 means greedy."""
    top_p: float = 1.0
    top_k: int = 0
    """0 means off."""
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    stop: tuple[str, ...] = ()
    """Stop strings; the text that ends with one is kept up to and including it."""
    system: str | None = None
    few_shot: tuple[Message, ...] = ()
    """Turns put before the problem's own."""
    template_kwargs: Mapping[str, Any] = field(default_factory=lambda: {})
    """Passed to the chat template, for instance {"enable_thinking": False}."""
    seed: int = 0
    deterministic: bool = False
    """One batch shape for all: equal seeds then draw bit-equal, whatever is sampled beside."""

    def __post_init__(self) -> None:
        checks: tuple[tuple[str, bool, str], ...] = (
            ("group_size", self.group_size >= 1, "at least 1"),
            ("max_new_tokens", self.max_new_tokens >= 1, "at least 1"),
            ("temperature", self.temperature >= 0, "0 (greedy) or more"),
            ("top_p", 0 < self.top_p <= 1, "in (0, 1]"),
            ("top_k", self.top_k >= 0, "0 (off) or more"),
            ("min_p", 0 <= self.min_p <= 1, "in [0, 1]"),
            ("repetition_penalty", self.repetition_penalty > 0, "greater than 0"),
        )
        for name, holds, expected in checks:
            if not holds:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; it must be {expected}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """Which weights a run was sampled from."""

    path: str
    """The directory, file or hub id as it was given."""
    revision: str | None = None
    fingerprint: str = ""
    """Hash over the weights' files: equal weights, equal fingerprint."""
    tokenizer_fingerprint: str = ""
    n_layers: int = 0
    """Hidden states 0 … n_layers exist (0 = embeddings)."""
    hidden_size: int = 0
    dtype: str = ""
    special_ids: tuple[int, ...] = ()
    """Token ids that are markers, not text (end of turn, …): viewers show them as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Checkpoints or steps of one training, in order."""

    id: str
    method: str | None = None
    base_fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInfo:
    """How the trainer that recorded a run made its advantages: enough to make them again."""

    trainer: str
    """Library and version, for instance "trl 1.16.0"."""
    credit: str
    """The `CreditConfig` as canonical JSON."""
    method_version: int
    """`METHOD_VERSION` of the credit code that ran."""
    layer: int | None = None
    """Whose hidden states the credit read; None: it read none."""
    loss_type: str | None = None
    importance_sampling_level: str | None = None
    scale_rewards: str | None = None
    """What the trainer divided centred rewards by: "group", "batch" or "none"."""
    beta: float | None = None
    """Weight of the KL term; where it is not 0, recorded coefficients hold its part too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The header of a run on disk (`run.json`)."""

    checkpoint: CheckpointInfo | None = None
    """None for a run that was imported without its weights."""
    series: Series | None = None
    global_step: int | None = None
    """The training step, when the whole run belongs to one."""
    problem_set: str | None = None
    sampling: SamplingConfig | None = None
    reward: str | None = None
    success_threshold: float = 0.5
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=lambda: {})
    """Versions of hara-viz, torch, transformers, … that wrote the run."""
    created: str = ""
    """UTC, ISO 8601."""
    training: TrainingInfo | None = None
    """None: no trainer recorded the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verifier's verdict on one completion."""

    reward: float | None
    """None: unscored (timed out, no gold, verifier failed)."""
    parts: Mapping[str, float | None] = field(default_factory=lambda: {})
    """The reward functions' own values, by name."""
    extracted_answer: str | None = None
    """None: no answer found."""
    answer_start: int | None = None
    answer_end: int | None = None
    """The answer's span in code points of the text that was judged, end exclusive."""
    reason: str = ""
    """In words: "match", "mismatch", "no answer", "timed out", …"""


class GroupKey(NamedTuple):
    """One sampling of one problem at one training step."""

    global_step: int | None
    problem_id: str
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One sampled completion with all that is known of it: a row of `rollouts/part-*.parquet`.

    Spans and offsets are code points of `completion_text`. Sequences are per token of
    `completion_ids` unless said otherwise.
    """

    problem_id: str
    source_id: str | None = None
    global_step: int | None = None
    split: str | None = None
    group: int = 0
    sample: int = 0
    prompt_messages: tuple[Message, ...] | None = None
    prompt_text: str
    prompt_ids: tuple[int, ...] | None = None
    gold: str | None = None
    completion_text: str
    completion_ids: tuple[int, ...]
    sampled_mask: tuple[bool, ...] | None = None
    """False on tokens that the policy did not sample (tool output); None = all sampled."""
    cell_start: tuple[int, ...] | None = None
    """The first code point of each token's display cell."""
    reasoning_step: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    logprobs_kind: str | None = None
    """"raw" (of the model), "processed" (after temperature and cuts) or "trainer"."""
    entropy: tuple[float, ...] | None = None
    """Of the next-token distribution that each token was drawn from, in nats."""
    reward: float | None = None
    reward_parts: Mapping[str, float | None] | None = None
    extracted_answer: str | None = None
    answer_start: int | None = None
    answer_end: int | None = None
    reward_reason: str | None = None
    recorded_advantage: float | None = None
    """A_r as a trainer had it, before reweighting."""
    recorded_advantages: tuple[float, ...] | None = None
    """What the optimizer got for each token."""
    recorded_weights: tuple[float, ...] | None = None
    recorded_coefficients: tuple[float, ...] | None = None
    """−∂loss/∂log π of each token in the first pass over the batch: what its gradient carried."""
    advantage_rule: str | None = None
    finish: Finish = Finish.UNKNOWN
    tokens_source: TokensSource = TokensSource.ENGINE
    error: str | None = None

    def __post_init__(self) -> None:
        n_tokens = len(self.completion_ids)
        for name in (
            "sampled_mask",
            "cell_start",
            "reasoning_step",
            "logprobs",
            "entropy",
            "recorded_advantages",
            "recorded_weights",
            "recorded_coefficients",
        ):
            values = getattr(self, name)
            if values is not None and len(values) != n_tokens:
                raise ShapeError(
                    f"{name} of rollout {self.problem_id}/{self.group}/{self.sample}: got "
                    f"{len(values)} values for {n_tokens} tokens; pass the completion only"
                )

    @property
    def key(self) -> GroupKey:
        """The group this rollout belongs to."""
        return GroupKey(self.global_step, self.problem_id, self.group)


@dataclass(frozen=True, slots=True)
class RolloutGroup:
    """All rollouts of one sampling of one problem, ordered by sample."""

    rollouts: tuple[Rollout, ...]

    def __post_init__(self) -> None:
        if not self.rollouts:
            raise InvalidInputError("a group needs at least one rollout")
        keys = {rollout.key for rollout in self.rollouts}
        if len(keys) > 1:
            raise InvalidInputError(
                f"rollouts of {len(keys)} groups cannot form one: {sorted(keys)}"
            )

    @property
    def key(self) -> GroupKey:
        """The group's key, shared by its rollouts."""
        return self.rollouts[0].key

    @property
    def rewards(self) -> Tensor:
        """Rewards [G], float64; NaN where a rollout is unscored."""
        values = [float("nan") if r.reward is None else r.reward for r in self.rollouts]
        return torch.tensor(values, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.rollouts)


def is_success(reward: float | None, threshold: float) -> bool | None:
    """The outcome of a rollout: reward >= threshold, None while unscored (None or NaN).

    Derived wherever it is needed, stored nowhere, so that a threshold can change.
    """
    if reward is None or math.isnan(reward):
        return None
    return reward >= threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """A seeded random projection that bounds the size of stored states."""

    source_size: int
    """Hidden size before it; the size after it is that of the states."""
    seed: int
    error: float | None = None
    """Measured relative error of pairwise distances; None if it was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenStates:
    """States of one layer for the rollouts of a group or part, packed along the tokens."""

    states: Tensor
    """[N, D]: the residual stream after reading each completion token."""
    offsets: Tensor
    """[B+1] int64: rollout b owns rows offsets[b] : offsets[b+1]."""
    layer: int
    """Non-negative index into the hidden states; 0 = embeddings."""
    after_norm: bool
    """True: the final norm has been applied (only possible for the last layer)."""
    projection: Projection | None = None
    """None: the states are as the model gave them."""

    def __post_init__(self) -> None:
        if self.states.dim() != 2 or int(self.offsets[-1]) != self.states.shape[0]:
            raise ShapeError(
                f"states {tuple(self.states.shape)} do not fit offsets that end at "
                f"{int(self.offsets[-1])}; states must be [N, D] with N = offsets[-1]"
            )

    def rows(self, b: int) -> Tensor:
        """States [T, D] of rollout b."""
        return self.states[int(self.offsets[b]) : int(self.offsets[b + 1])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One report of a long step: how far, and the figures known so far."""

    stage: str
    """What is being done, in words a user reads: "sampling", "scoring", …"""
    done: int
    total: int | None
    """None: not known beforehand."""
    unit: str
    """What is counted: "rollouts", "tokens", "groups"."""
    figures: Mapping[str, float] = field(default_factory=lambda: {})
    """Live figures by name, for instance {"pass_rate": 0.31, "tokens_per_second": 92.0}."""


Report = Callable[[Progress], None]
"""Where a long step sends its progress. It may raise to stop the step."""


def ignore_progress(progress: Progress) -> None:
    """The report of a caller who does not listen."""
