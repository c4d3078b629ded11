"""Rows of a trainer's batch as rollouts of a run: text, cells, reasoning steps, verdict."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hara_viz.text import Cells, cells_of, cut_cells, reasoning_steps, without_special
from hara_viz.text.boxed import boxed_spans
from hara_viz.types import Finish, Message, Problem, Rollout

GOLD_COLUMNS = ("gold", "solution", "answer", "ground_truth", "target", "label")
SOURCE_COLUMNS = ("id", "source_id", "unique_id", "problem_id")


@dataclass(frozen=True, slots=True)
class CompletionText:
    """A completion as people read it."""

    cells: Cells
    reasoning_step: tuple[int, ...]


class TextCutter:
    """Cuts completions into display cells and reasoning steps.

    Args:
        decode: ids → text, special tokens written out, no space touched.
        special_ids: ids that are markers, not text.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], special_ids: frozenset[int]) -> None:
        self.decode = decode
        self.special_ids = special_ids

    @classmethod
    def of_tokenizer(cls, tokenizer: Any, end_ids: Sequence[int]) -> TextCutter:
        """The cutter of a tokenizer of transformers.

        It takes a copy: a fast tokenizer refuses to decode in one thread while another encodes.
        """
        tokenizer = copy.deepcopy(tokenizer)
        flagged = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}

        def decode(ids: Sequence[int]) -> str:
            return tokenizer.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )

        return cls(decode, frozenset(flagged | set(tokenizer.all_special_ids) | set(end_ids)))

    def cut(self, ids: Sequence[int]) -> CompletionText:
        """Cells and steps of one completion."""
        cells = cut_cells(ids, self.decode, self.special_ids)
        return CompletionText(cells, reasoning_steps(cells.text, cells.cell_start))


def problem_of(example: Mapping[str, Any], prompt: Any, gold_column: str | None) -> Problem:
    """The problem of a dataset row: the same id wherever the same problem stands.

    Args:
        example: the row.
        prompt: a string or a list of messages; system turns do not belong to a problem.
        gold_column: where the gold answer stands; None: the first of GOLD_COLUMNS there is.
    """
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    messages = tuple(
        Message(str(turn["role"]), _content(turn.get("content")))
        for turn in turns
        if turn["role"] != "system"
    )
    columns = (gold_column,) if gold_column else GOLD_COLUMNS
    gold = next((example[name] for name in columns if example.get(name) is not None), None)
    source = next((example[name] for name in SOURCE_COLUMNS if name in example), None)
    return Problem(
        messages=messages,
        gold=None if gold is None else str(gold),
        source_id=None if source is None else str(source),
    )


def verdict(
    reward: float, values: Sequence[float], names: Sequence[str], text: CompletionText,
    ids: Sequence[int], special_ids: frozenset[int],
) -> dict[str, Any]:  # fmt: skip
    """The reward columns of a rollout.

    Reward functions of trainers give a number and no place, so the answer is the last box of the
    text, if there is one.
    """
    full, starts = text.cells
    seen = without_special(full, cells_of(full, starts, ids, special_ids))
    boxes = boxed_spans(seen.text)
    answer = boxes[-1] if boxes else None
    place = None if answer is None else seen.to_original(answer.start, answer.end)
    return {
        "reward": None if math.isnan(reward) else reward,
        "reward_parts": {
            name: None if math.isnan(value) else value
            for name, value in zip(names, values, strict=True)
        },
        "extracted_answer": None if answer is None else seen.text[answer.start : answer.end],
        "answer_start": None if place is None else place.start,
        "answer_end": None if place is None else place.end,
        "reward_reason": "no reward function scored it" if math.isnan(reward) else None,
    }


def finish_of(ids: Sequence[int], end_ids: Sequence[int], limit: int) -> Finish:
    """Why a completion ended."""
    if ids and ids[-1] in end_ids:
        return Finish.STOP
    return Finish.LENGTH if len(ids) >= limit else Finish.UNKNOWN


def base_rollout(
    problem: Problem, prompt_ids: Sequence[int], ids: Sequence[int], text: CompletionText,
    cutter: TextCutter, **columns: Any,
) -> Rollout:  # fmt: skip
    """A rollout from what is known of a row; `columns` are further fields of `Rollout`."""
    return Rollout(
        problem_id=problem.problem_id,
        source_id=problem.source_id,
        split="train",
        prompt_messages=problem.messages,
        prompt_text=cutter.decode(prompt_ids),
        prompt_ids=tuple(prompt_ids),
        gold=problem.gold,
        completion_text=text.cells.text,
        completion_ids=tuple(ids),
        cell_start=text.cells.cell_start,
        reasoning_step=text.reasoning_step,
        **columns,
    )


def _content(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(str(part.get("text", "")) for part in content)
