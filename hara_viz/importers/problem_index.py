"""A problem set, looked up by any form in which a dump writes a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from hara_viz.errors import HaraError
from hara_viz.importers.tokenizer import Tokenizer
from hara_viz.types import Message, Problem, messages_to_json

_SYSTEM = ("system", "developer")


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The turns that belong to a problem."""
    return tuple(turn for turn in messages if turn.role not in _SYSTEM)


class ProblemIndex:
    """Problems by their turns, their question alone, their rendered ids and text.

    Args:
        problems: of the set.
        tokenizer: of the policy; None: ids and rendered text cannot be looked up.
    """

    def __init__(self, problems: Sequence[Problem], tokenizer: Tokenizer | None) -> None:
        self._by_turns: dict[str, Problem] = {}
        self._by_text: dict[str, Problem] = {}
        self._by_ids: dict[tuple[int, ...], Problem] = {}
        for problem in problems:
            turns = without_system(problem.messages)
            self._by_turns.setdefault(messages_to_json(turns), problem)
            if len(turns) == 1:
                self._by_text.setdefault(turns[0].content.strip(), problem)
            if tokenizer is not None:
                self._add_rendered(problem, tokenizer)

    def of_turns(self, messages: Sequence[Message]) -> Problem | None:
        """The problem of a chat, whatever its system turn says."""
        turns = without_system(messages)
        found = self._by_turns.get(messages_to_json(turns))
        return found or (self.of_text(turns[0].content) if len(turns) == 1 else None)

    def of_text(self, text: str) -> Problem | None:
        """The problem of a plain question, or of a prompt decoded with or without its marks."""
        return self._by_text.get(text.strip())

    def of_ids(self, ids: Sequence[int]) -> Problem | None:
        """The problem whose rendered prompt has these ids."""
        return self._by_ids.get(tuple(ids))

    def _add_rendered(self, problem: Problem, tokenizer: Tokenizer) -> None:
        try:
            ids = tuple(tokenizer.render(problem.messages))
        except HaraError:  # one that the chat template refuses was not trained on
            return
        self._by_ids.setdefault(ids, problem)
        for text in (tokenizer.decode_stripped(ids), tokenizer.decode(ids)):
            self._by_text.setdefault(text.strip(), problem)
