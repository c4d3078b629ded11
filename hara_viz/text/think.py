"""Regions of thinking: between a family's opening and closing marks, closed or not."""

from __future__ import annotations

import re

from hara_viz.text.spans import Span

# Opening and closing mark, by the families that write them.
MARKS = (
    ("<think>", "</think>"),  # DeepSeek-R1, Qwen3, most RL recipes
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),  # GSM8K tutorials with an XML format reward
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),  # gpt-oss
)

_CLOSER_OF = dict(MARKS)
_OPENER = re.compile("|".join(re.escape(opener) for opener, _ in MARKS))
# The closer of gpt-oss ends every message, so alone it says nothing about thinking.
_LONE_CLOSER = re.compile("|".join(re.escape(c) for _, c in MARKS if c != "<|end|>"))


def think_regions(text: str) -> tuple[Span, ...]:
    """Spans of thinking, marks included, in order and without overlap.

    A region that never closes (a truncated completion) runs to the end of the text. A closing mark
    without an opening one, as after a prompt that ends in `<think>`, closes a region that began
    with the completion.
    """
    regions: list[Span] = []
    position = 0
    first = _OPENER.search(text)
    begun_before = _LONE_CLOSER.search(text, 0, len(text) if first is None else first.start())
    if begun_before is not None:
        regions.append(Span(0, begun_before.end()))
        position = begun_before.end()
    while (opening := _OPENER.search(text, position)) is not None:
        closer = _CLOSER_OF[opening.group()]
        end = text.find(closer, opening.end())
        position = len(text) if end < 0 else end + len(closer)
        regions.append(Span(opening.start(), position))
    return tuple(regions)
