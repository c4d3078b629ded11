"""Chats: `messages`, with the reference in a column of its own or in the closing reply."""

from __future__ import annotations

from hara_viz.problems.cells import (
    Cells,
    UnusableRowError,
    final_answer_of,
    first_column,
    gold_of,
    id_of,
    prompt_of,
)
from hara_viz.problems.formats.layout import Layout
from hara_viz.problems.formats.prompt_solution import GOLD
from hara_viz.types import Problem

TURNS = ("messages", "conversation", "conversations")


def recognises(cells: Cells) -> bool:
    """A column of chat turns."""
    return first_column(cells, TURNS) is not None


def read(cells: Cells) -> Problem:
    """The problem of one row: the turns before the closing reply."""
    messages = prompt_of(cells.get(first_column(cells, TURNS) or ""))
    reply = messages[-1].content if messages[-1].role == "assistant" else None
    prompt = messages if reply is None else messages[:-1]
    if not prompt:
        raise UnusableRowError("the chat has a reply but no question")
    column = first_column(cells, GOLD)
    if column is None and reply is None:
        raise UnusableRowError("the chat has neither a closing reply nor an answer column")
    gold = gold_of(cells[column]) if column is not None else reply or ""
    return Problem(
        messages=prompt,
        gold=final_answer_of(gold),
        source_id=id_of(cells, "id", "uid", "index", "idx"),
    )


LAYOUT = Layout(name="messages", recognises=recognises, read=read)
