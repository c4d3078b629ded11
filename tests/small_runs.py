"""Small real runs on disk for tests of pages: written by the store, read by everything else.

Tokens are words with the blank before them; a word's hidden state hangs on the word and its place,
so that shared wording is ordinary and what only one rollout says is novel.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import torch

from hara_viz.store import RunWriter
from hara_viz.text import reasoning_steps
from hara_viz.types import (
    CheckpointInfo,
    Finish,
    HiddenStates,
    Message,
    Problem,
    Rollout,
    RolloutGroup,
    RunInfo,
    SamplingConfig,
)

HIDDEN_SIZE, LAYERS = 24, (2, 4)
END = "<|im_end|>"

PENS = Problem(
    messages=(Message("user", "A shop has 3 boxes with 4 pens each. How many pens are there?"),),
    gold="12",
    source_id="pens",
)
HOSTILE = Problem(
    messages=(
        Message(
            "user",
            "<img src=x onerror=\"document.title='owned'\"> **What** is $1+1$? :material/home: "
            "[click](javascript:alert(1))",
        ),
    ),
    gold="<b>2</b>",
    source_id="hostile",
)
APPLES = Problem(
    messages=(Message("user", "Tom has 5 apples and eats 2 of them. How many are left?"),),
    gold="3",
    source_id="apples",
)

PENS_TEXTS = (
    ("There are 3 boxes.\nEach box has 4 pens.\nSo there are 3 * 4 = 12 pens.", 1.0),
    ("There are 3 boxes.\nEach box holds 4 pens.\nThat gives 12 pens.", 1.0),
    ("Count the pens box by box: 4, 8, 12.\nThe answer is 12 pens.", 1.0),
    ("There are 3 boxes.\nEach box has 4 pens.\nSo there are 3 + 4 = 7 pens.", 0.0),
    ("There are 3 boxes and 4 pens.\nSo there are 7 pens.", 0.0),
    ("Pens are blue.\nI guess the answer is 34 pens.", 0.0),
)
HOSTILE_TEXTS = (
    ("<script>document.title='owned'</script> The answer is 2", 1.0),
    ("</style></div><b>bold</b> **stars** $x^2$ `code` :red[x] answer 2", 1.0),
    ("\x1b[31mred\x1b[0m \u202eabc\u202c 答案是 三 👩‍👩‍👧 مرحبا", 0.0),
    ("<img src=x onerror=\"document.title='owned'\"> [l](javascript:alert(1)) 3", 0.0),
)
APPLES_TEXTS = (("Tom has 7 apples.", 0.0), ("There are 10 apples left.", 0.0), ("He has 7.", 0.0))


def write_runs(folder: Path) -> Path:
    """A runs folder with one good run, one without states, and one that cannot be read."""
    write_run(folder / "small")
    write_run(folder / "no-states", layers=())
    (folder / "broken" / "rollouts").mkdir(parents=True)
    (folder / "broken" / "run.json").write_text("{not json")
    return folder


def write_run(path: Path, layers: Sequence[int] = LAYERS) -> Path:
    """A finished run of three groups: mixed, mixed with hostile text, all wrong."""
    info = RunInfo(
        checkpoint=CheckpointInfo(
            path="models/tiny", n_layers=4, hidden_size=HIDDEN_SIZE, special_ids=(token_id(END),)
        ),
        problem_set="word_problems.jsonl",
        sampling=SamplingConfig(group_size=6, max_new_tokens=64),
        reward="number",
        created="2026-01-01T00:00:00+00:00",
    )
    groups = [
        group_of(PENS, PENS_TEXTS),
        group_of(HOSTILE, HOSTILE_TEXTS),
        group_of(APPLES, APPLES_TEXTS),
    ]
    with RunWriter(path, info) as writer:
        for group in groups:
            writer.write_part([group], [states_of(group, layer) for layer in layers])
        writer.finish()
    return path


def group_of(problem: Problem, texts: Sequence[tuple[str, float | None]]) -> RolloutGroup:
    """A group with these completions and rewards."""
    return RolloutGroup(
        tuple(_rollout(problem, i, text, reward) for i, (text, reward) in enumerate(texts))
    )


def words_of(text: str) -> list[str]:
    """The tokens of a text: words with the white space before them."""
    return re.findall(r"\s*\S+|\s+$", text)


def token_id(word: str) -> int:
    """A stable id of a word."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:2], "big")


def states_of(group: RolloutGroup, layer: int) -> HiddenStates:
    """Hidden states of all rollouts: a direction per word, bent a little along the completion."""
    rows = []
    for rollout in group.rollouts:
        n_tokens = len(rollout.completion_ids)
        for t, number in enumerate(rollout.completion_ids):
            noise = torch.Generator().manual_seed(1000 * layer + number)
            direction = torch.randn(HIDDEN_SIZE, generator=noise)
            direction[0] += 3.0 * t / max(n_tokens - 1, 1)
            rows.append(direction)
    lengths = [len(rollout.completion_ids) for rollout in group.rollouts]
    return HiddenStates(
        states=torch.stack(rows),
        offsets=torch.tensor([0, *accumulate(lengths)]),
        layer=layer,
        after_norm=layer == max(LAYERS),
    )


def _rollout(problem: Problem, sample: int, text: str, reward: float | None) -> Rollout:
    words = [*words_of(text), END]
    full = "".join(words)
    starts = tuple([0, *accumulate(len(word) for word in words)][:-1])
    n_tokens = len(words)
    answer = re.search(r"\d+(?=\D*$)", text)
    return Rollout(
        problem_id=problem.problem_id,
        source_id=problem.source_id,
        sample=sample,
        prompt_messages=problem.messages,
        prompt_text=f"user: {problem.messages[0].content}\nassistant: ",
        gold=problem.gold,
        completion_text=full,
        completion_ids=tuple(token_id(word) for word in words),
        cell_start=starts,
        reasoning_step=reasoning_steps(full, starts),
        logprobs=tuple(-0.1 * (1 + (i * 7 + sample) % 5) for i in range(n_tokens)),
        logprobs_kind="raw",
        entropy=tuple(0.2 * (1 + (i * 3 + sample) % 4) for i in range(n_tokens)),
        reward=reward,
        extracted_answer=answer.group() if answer else None,
        answer_start=answer.start() if answer else None,
        answer_end=answer.end() if answer else None,
        reward_reason="match" if reward else "mismatch",
        finish=Finish.STOP,
    )
