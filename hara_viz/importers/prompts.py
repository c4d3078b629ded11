"""Which problem a prompt poses, and the ids that the policy read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from hara_viz.errors import HaraError
from hara_viz.importers.foreign import ForeignRollout, PromptKind
from hara_viz.importers.problem_index import ProblemIndex, without_system
from hara_viz.importers.tokenizer import Tokenizer
from hara_viz.types import Message, Problem

_KEPT = 256
_PROBES = (Message("system", "Qj7system7Qj"), Message("user", "Qj7user7Qj"))
"""Contents that stand in no template."""


@dataclass(frozen=True, slots=True)
class FoundPrompt:
    """A prompt, as far as it could be made out."""

    problem: Problem
    """Without the dump's own gold answer, unless the problem set has it."""
    known: bool
    """Whether it is in the problem set."""
    text: str
    ids: tuple[int, ...] | None
    """None: the very ids cannot be made out."""


class Prompts:
    """Reads prompts; the last few are remembered, since a group shares one.

    Args:
        index: the problem set.
        tokenizer: of the policy; None: only ids that the dump tells are known.
    """

    def __init__(self, index: ProblemIndex, tokenizer: Tokenizer | None) -> None:
        self._index, self._tokenizer = index, tokenizer
        self._found: OrderedDict[object, FoundPrompt] = OrderedDict()
        self._frames = () if tokenizer is None else _frames(tokenizer)

    def find(self, rollout: ForeignRollout) -> FoundPrompt:
        """The prompt of a rollout."""
        key = (rollout.prompt, rollout.prompt_kind, rollout.prompt_ids)
        if key not in self._found:
            self._found[key] = self._find(rollout)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        return self._found[key]

    def _find(self, rollout: ForeignRollout) -> FoundPrompt:
        prompt, ids = rollout.prompt, rollout.prompt_ids
        if ids:
            return self._of_ids(ids, prompt)
        if isinstance(prompt, tuple):
            return self._of_turns(prompt)
        assert prompt is not None, "collect lets no rollout without a prompt through"
        if rollout.prompt_kind is PromptKind.STRIPPED:
            return self._of_stripped(prompt)
        if self._tokenizer is None:
            return self._named(
                self._index.of_text(prompt), (Message("user", prompt),), prompt, None
            )
        marked = rollout.prompt_kind is PromptKind.MARKED
        encode = self._tokenizer.encode if marked else self._tokenizer.encode_prompt
        return self._of_ids(tuple(encode(prompt)), None if marked else prompt)

    def _of_ids(self, ids: tuple[int, ...], said: str | tuple[Message, ...] | None) -> FoundPrompt:
        known = self._index.of_ids(ids)
        if isinstance(said, tuple):
            turns, known = said, known or self._index.of_turns(said)
        elif said is not None:
            turns, known = (Message("user", said),), known or self._index.of_text(said)
        elif self._tokenizer is not None:
            stripped = self._tokenizer.decode_stripped(ids)
            known = known or self._index.of_text(stripped)
            turns = self._unrendered(stripped) or (Message("user", stripped),)
        else:
            turns = (Message("user", f"{len(ids)} tokens"),)
        if self._tokenizer is not None and max(ids, default=0) < self._tokenizer.n_ids:
            text = self._tokenizer.decode(ids)
        else:
            text = _as_text(turns)
        return self._named(known, turns, text, ids)

    def _of_turns(self, turns: tuple[Message, ...]) -> FoundPrompt:
        known = self._index.of_turns(turns)
        try:
            ids = None if self._tokenizer is None else tuple(self._tokenizer.render(turns))
        except HaraError:
            ids = None
        text = _as_text(turns) if ids is None or self._tokenizer is None else (
            self._tokenizer.decode(ids)
        )  # fmt: skip
        return self._named(known, turns, text, ids)

    def _of_stripped(self, text: str) -> FoundPrompt:
        known = self._index.of_text(text)
        turns = known.messages if known is not None else self._unrendered(text)
        if turns is None or self._tokenizer is None:
            return self._named(known, turns or (Message("user", text),), text, None)
        ids = tuple(self._tokenizer.render(turns))
        whole = self._tokenizer.decode_stripped(ids).strip() == text.strip()
        return self._named(
            known or self._index.of_turns(turns),
            turns,
            self._tokenizer.decode(ids) if whole else text,
            ids if whole else None,
        )

    def _unrendered(self, text: str) -> tuple[Message, ...] | None:
        """The turns that the chat template renders to this text, once its marks are stripped."""
        for before, between, after in self._frames:
            turns = _split(text.strip(), before, between, after)
            if turns is not None and self._strips_to(turns, text):
                return turns
        return None

    def _strips_to(self, turns: tuple[Message, ...], text: str) -> bool:
        assert self._tokenizer is not None, "there are no frames without one"
        try:
            rendered = self._tokenizer.decode_stripped(self._tokenizer.render(turns))
        except HaraError:
            return False
        return rendered.strip() == text.strip()

    def _named(
        self,
        known: Problem | None,
        turns: Sequence[Message],
        text: str,
        ids: tuple[int, ...] | None,
    ) -> FoundPrompt:
        if known is not None:
            problem = Problem(
                messages=without_system(known.messages), gold=known.gold, source_id=known.source_id
            )
        else:
            problem = Problem(messages=without_system(turns) or tuple(turns))
        return FoundPrompt(problem, known is not None, text, ids)


def _frames(tokenizer: Tokenizer) -> tuple[tuple[str, str | None, str], ...]:
    """What the template, stripped of its marks, puts before, between and after the turns."""
    found: list[tuple[str, str | None, str]] = []
    for turns in ((_PROBES[1],), _PROBES):
        try:
            text = tokenizer.decode_stripped(tokenizer.render(turns)).strip()
        except HaraError:  # a template without system turns
            continue
        if all(turn.content in text for turn in turns):
            before, rest = text.split(turns[0].content, 1)
            *middle, after = rest.split(turns[-1].content, 1) if len(turns) > 1 else [rest]
            found.append((before, middle[0] if middle else None, after))
    return tuple(found)


def _split(text: str, before: str, between: str | None, after: str) -> tuple[Message, ...] | None:
    inner = len(text) - len(before) - len(after)
    if inner < 0 or not (text.startswith(before) and text.endswith(after)):
        return None
    content = text[len(before) : len(before) + inner]
    if between is None:
        return (Message("user", content),)
    system, found, user = content.partition(between)
    return (Message("system", system), Message("user", user)) if found else None


def _as_text(turns: Sequence[Message]) -> str:
    return "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
