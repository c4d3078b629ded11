"""Whose hidden states a run keeps: `all`, `mixed`, `sample:N` or `none`.

States are most of a run's size. Credit of a group needs the states of all its rollouts, so the
choice is between whole groups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from hara_viz.errors import InvalidInputError
from hara_viz.types import is_success

POLICIES = "all, mixed (groups with right and wrong rollouts), sample:N (N groups), none"


@dataclass(frozen=True, slots=True)
class StateChoice:
    """The parsed `--states` option."""

    kind: Literal["all", "mixed", "sample", "none"]
    n_groups: int = 0
    """Of "sample": how many."""

    @classmethod
    def parse(cls, text: str) -> StateChoice:
        """Read "all", "mixed", "sample:N" or "none".

        Raises:
            InvalidInputError: It is none of these.
        """
        kind, _, number = text.partition(":")
        if kind == "sample" and number.isascii() and number.isdigit() and int(number) > 0:
            return cls("sample", int(number))
        if text in ("all", "mixed", "none"):
            return cls(text)
        raise InvalidInputError(f"states is {text!r}; choose one of {POLICIES}")

    def drawn(self, problem_ids: Collection[str], seed: int) -> frozenset[str]:
        """The problems that "sample" keeps; a resumed run draws the same ones again."""
        ranked = sorted(
            problem_ids, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest()
        )
        return frozenset(ranked[: self.n_groups])

    def keeps(
        self,
        problem_id: str,
        rewards: Iterable[float | None],
        drawn: Collection[str],
        threshold: float,
    ) -> bool:
        """Whether the states of a group with these rewards are kept."""
        if self.kind == "sample":
            return problem_id in drawn
        if self.kind == "mixed":
            outcomes = {is_success(reward, threshold) for reward in rewards} - {None}
            return len(outcomes) == 2
        return self.kind == "all"
