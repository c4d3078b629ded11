"""What a dump tells and what it does not, counted over its rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b

from hara_viz.importers.foreign import ForeignRollout, plain_text
from hara_viz.types import Finish

_KNOWN: dict[str, Callable[[ForeignRollout], bool]] = {
    "token ids of the completions (a checkpoint's tokenizer splits the text again: approximate)":
        lambda r: r.completion_ids is not None,
    "rewards": lambda r: r.reward is not None,
    "gold answers (a problem set joins them by prompt)": lambda r: r.gold is not None,
    "training steps": lambda r: r.global_step is not None,
    "log-probabilities (`hara-viz states` computes them)": lambda r: r.logprobs is not None,
    "the trainer's advantages": lambda r: r.advantage is not None or r.advantages is not None,
    "why completions ended": lambda r: r.finish is not Finish.UNKNOWN,
}  # fmt: skip
_MAX_MEMBERS = 2_000_000
"""Rows whose texts are compared; beyond that, copies are no longer looked for."""


class Knowledge:
    """Counts what rollouts tell, and looks for what contradicts itself."""

    def __init__(self) -> None:
        self.needs_tokenizer = False
        self._n = 0
        self._known: Counter[str] = Counter()
        self._n_copies = self._n_half_characters = self._n_empty = 0
        self._seen: set[bytes] = set()
        self._steps: dict[int, tuple[int, int]] = {}  # step -> count and sum of its texts' digests
        self._low, self._high = float("inf"), float("-inf")

    def add(self, rollout: ForeignRollout, group: bytes) -> None:
        """Count one rollout of a group."""
        self._n += 1
        self._known.update(name for name, known in _KNOWN.items() if known(rollout))
        # Ids alone are no text, and text alone has no ids.
        self.needs_tokenizer |= (
            rollout.completion_ids is None or plain_text(rollout.completion) is None
        )
        said = rollout.completion if rollout.completion is not None else rollout.completion_ids
        self._n_empty += not said
        self._n_half_characters += isinstance(said, str) and "\ufffd" in said
        if rollout.reward is not None:
            self._low, self._high = min(self._low, rollout.reward), max(self._high, rollout.reward)
        text = blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if len(self._seen) < _MAX_MEMBERS:
            member = blake2b(group + text, digest_size=8).digest()
            self._n_copies += rollout.own_id is None and member in self._seen
            self._seen.add(member)
        if rollout.global_step is not None:
            prompt = blake2b(repr(rollout.prompt).encode("utf-8", "surrogatepass"), digest_size=8)
            count, total = self._steps.get(rollout.global_step, (0, 0))
            both = int.from_bytes(text, "big") ^ int.from_bytes(prompt.digest(), "big")
            self._steps[rollout.global_step] = (count + 1, (total + both) % 2**64)

    @property
    def rewards(self) -> tuple[float, float] | None:
        """The lowest and the highest reward; None: there is none."""
        return (self._low, self._high) if self._low <= self._high else None

    def missing(self) -> tuple[str, ...]:
        """What no rollout tells, and what some do not."""
        said: list[str] = []
        for name in _KNOWN:
            count = self._known[name]
            if count == 0:
                said.append(name)
            elif count < self._n:
                said.append(f"{name} of {self._n - count:,} rollouts")
        return tuple(said)

    def warnings(self) -> tuple[str, ...]:
        """What looks wrong, one sentence each."""
        said: list[str] = []
        if self._n_copies:
            said.append(
                f"{self._n_copies:,} rollouts say the same as another one of their group; they are "
                "kept, since a policy may say the same thing twice"
            )
        if self._n_half_characters:
            said.append(
                f"{self._n_half_characters:,} completions hold U+FFFD: half characters that were "
                "lost when the dump was written"
            )
        if self._n_empty:
            said.append(f"{self._n_empty:,} completions are empty")
        twins = self._twins()
        if twins:
            said.append(
                f"{len(twins)} steps hold the very rollouts of an earlier step (first: "
                f"{twins[0][1]} repeats {twins[0][0]}): a trainer that uses a batch several times "
                "logs it again"
            )
        return tuple(said)

    def _twins(self) -> list[tuple[int, int]]:
        first: dict[tuple[int, int], int] = {}
        return [
            (first[content], step)
            for step, content in sorted(self._steps.items())
            if first.setdefault(content, step) != step
        ]
