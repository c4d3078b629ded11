"""Sizes of groups: what they say of how a dump was grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from hara_viz.importers.foreign import Grouping

Name = TypeVar("Name")

_SENTENCES = {
    Grouping.OWN_IDS: "by the group ids of the dump, and by equal prompts where it names none.",
    Grouping.RUNS: "rows of one prompt that follow each other in a file.",
    Grouping.PROMPTS: "the same prompt at the same step; the dump names no groups.",
}


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """How large groups are before any is split."""

    sizes: Counter[int]
    usual: int
    """The most frequent size; of equally frequent ones the smallest."""

    @classmethod
    def of(cls, sizes: Sequence[int]) -> GroupSizes:
        counted = Counter(sizes)
        usual = min(counted, key=lambda size: (-counted[size], size)) if counted else 1
        return cls(counted, usual)

    @property
    def n_multiple(self) -> int:
        """Groups of twice the usual size, or three times, and so on."""
        return sum(n for size, n in self.sizes.items() if self._is_multiple(size))

    @property
    def n_odd(self) -> int:
        """Groups of another size that is no multiple either."""
        odd = (s for s in self.sizes if s != self.usual and not self._is_multiple(s))
        return sum(self.sizes[size] for size in odd)

    def sentence(self, grouping: Grouping) -> str:
        """How groups were formed."""
        split = ""
        if grouping is Grouping.RUNS and self.n_multiple:
            split = f" {self.n_multiple} longer run(s) were cut into groups of {self.usual}."
        return _SENTENCES[grouping] + split

    def warnings(self, grouping: Grouping, groups: Sequence[object]) -> tuple[str, ...]:
        """What looks wrong, one sentence each."""
        said: list[str] = []
        if grouping is not Grouping.RUNS and self.n_multiple:
            said.append(
                f"{self.n_multiple} of {len(groups)} groups hold several groups' worth of rollouts "
                f"(the usual size is {self.usual}): their prompt was drawn more than once at that "
                "step, and the dump does not tell the draws apart"
            )
        if self.n_odd and len(self.sizes) > 1:
            said.append(
                f"{self.n_odd} of {len(groups)} groups are not of the usual size {self.usual}: the "
                "dump may hold parts of groups, so advantages computed here differ from the "
                "trainer's there"
            )
        if self.usual == 1:
            said.append("most groups hold one rollout alone, so there is nothing to compare it to")
        return tuple(said)

    def _is_multiple(self, size: int) -> bool:
        return self.usual > 1 and size > self.usual and size % self.usual == 0


def split_runs(
    groups: Sequence[tuple[Name, tuple[int, ...]]], usual: int
) -> list[tuple[Name, tuple[int, ...]]]:
    """Cut runs of k times the usual size into k groups: a prompt that came twice in a row."""
    found: list[tuple[Name, tuple[int, ...]]] = []
    for name, places in groups:
        size = usual if usual > 1 and len(places) % usual == 0 else len(places)
        found += [(name, places[at : at + size]) for at in range(0, len(places), size)]
    return found
