"""A completion's text or ids to tokens, display cells and reasoning steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hara_viz.errors import HaraError
from hara_viz.importers.foreign import ForeignRollout, UnusableRowError, plain_text
from hara_viz.importers.tokenizer import Tokenizer
from hara_viz.text import Span, cells_of, cut_cells, reasoning_steps, without_special
from hara_viz.text.boxed import boxed_spans
from hara_viz.types import Message, TokensSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCompletion:
    """A completion as tokens. `text` is decode(ids), where a tokenizer is at hand."""

    ids: tuple[int, ...]
    text: str
    source: TokensSource
    sampled_mask: tuple[bool, ...] | None
    cell_start: tuple[int, ...] | None
    reasoning_step: tuple[int, ...] | None
    agrees: bool
    """Whether the dump's text and the text of the ids are the same."""
    answer: tuple[str, int, int] | None
    """The last box: its text, start and end."""


def read_completion(rollout: ForeignRollout, tokenizer: Tokenizer | None) -> FoundCompletion:
    """Tokens of a completion: the dump's own, else its text encoded again.

    Raises:
        UnusableRowError: the ids are not of this tokenizer, or the turns not of its template.
    """
    said = plain_text(rollout.completion)
    if tokenizer is None:
        return _uncut(rollout, said or "")
    ids, mask, source = rollout.completion_ids, rollout.sampled_mask, TokensSource.DUMP
    if ids is None:
        source = TokensSource.RETOKENISED
        ids, mask = _encode(rollout, said, tokenizer)
    highest = max((*ids, *(rollout.prompt_ids or ())), default=0)
    if highest >= tokenizer.n_ids:
        raise UnusableRowError(
            "token ids that the tokenizer of --model does not have",
            f"{highest} of {tokenizer.n_ids}",
        )
    cells = cut_cells(ids, tokenizer.decode, tokenizer.special_ids)
    seen = without_special(
        cells.text, cells_of(cells.text, cells.cell_start, ids, tokenizer.special_ids)
    )
    boxes = boxed_spans(seen.text)
    answer = None
    if boxes:
        place = seen.to_original(boxes[-1].start, boxes[-1].end)
        answer = (seen.text[boxes[-1].start : boxes[-1].end], place.start, place.end)
    return FoundCompletion(
        ids=ids,
        text=cells.text,
        source=source,
        sampled_mask=mask,
        cell_start=cells.cell_start,
        reasoning_step=reasoning_steps(cells.text, cells.cell_start),
        agrees=said is None or said.strip() == seen.text.strip() or said.strip() in cells.text,
        answer=answer,
    )


def _uncut(rollout: ForeignRollout, text: str) -> FoundCompletion:
    """The dump's ids beside the dump's text: which token stands where is not known."""
    assert rollout.completion_ids is not None, "without a tokenizer only dumps of ids are taken"
    boxes = boxed_spans(text)
    return FoundCompletion(
        ids=rollout.completion_ids,
        text=text,
        source=TokensSource.DUMP,
        sampled_mask=rollout.sampled_mask,
        cell_start=None,
        reasoning_step=None,
        agrees=True,
        answer=_box(text, boxes[-1]) if boxes else None,
    )


def _box(text: str, box: Span) -> tuple[str, int, int]:
    return text[box.start : box.end], box.start, box.end


def _encode(
    rollout: ForeignRollout, said: str | None, tokenizer: Tokenizer
) -> tuple[tuple[int, ...], tuple[bool, ...] | None]:
    if said is not None:
        return tuple(tokenizer.encode(said)), None
    assert isinstance(rollout.completion, tuple), "text or turns"
    if not isinstance(rollout.prompt, tuple):
        raise UnusableRowError("a completion of several turns after a prompt that is no chat")
    ids: list[int] = []
    mask: list[bool] = []
    for piece, sampled in _pieces(rollout.prompt, rollout.completion, tokenizer):
        own = tokenizer.encode(piece)
        ids += own
        mask += [sampled] * len(own)
    return tuple(ids), tuple(mask)


def _pieces(
    prompt: Sequence[Message], turns: Sequence[Message], tokenizer: Tokenizer
) -> list[tuple[str, bool]]:
    """The text after the prompt, cut at the assistant's contents: (piece, sampled)."""
    try:
        whole = tokenizer.transcript([*prompt, *turns])
        at = len(tokenizer.decode(tokenizer.render(prompt)))
    except HaraError as error:
        raise UnusableRowError(
            "a conversation that the chat template of --model refuses", str(error)[:100]
        ) from error
    pieces: list[tuple[str, bool]] = []
    position: int | None = None  # the prompt's own marks are not searched for a first content
    for turn in turns:
        if turn.role != "assistant" or not turn.content.strip():
            continue
        content = turn.content.strip()
        start = whole.find(content, at if position is None else position)
        if start < 0:
            raise UnusableRowError("a conversation that the chat template of --model rewrites")
        if position is not None:
            pieces.append((whole[position:start], False))
        pieces.append((content, True))
        position = start + len(content)
    if not pieces:
        raise UnusableRowError("no turn of the completion is the assistant's")
    return pieces
