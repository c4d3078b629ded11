r"""What a reward is called: one name, or a weighted sum of names.

    math                             one reward
    math + 0.2*format                a weighted sum; a weight that is not written is 1
    number + -0.5*regex:\bsorry\b    regex: takes all that follows it, so it stands last
    rewards.py:my_reward             own code: a function of a Python file

The string is what `--reward` takes and what a run records.
"""

from __future__ import annotations

import math
import re
from pathlib import PurePath
from typing import NamedTuple

from hara_viz.errors import ConfigError

REWARD_NAMES = ("math", "number", "exact", "choice", "format")
"""The built-in rewards that need nothing but their name; `regex:PATTERN` needs its pattern."""

_WEIGHT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*\*\s*")
_REGEX = re.compile(r"(?:^|(?<=[+*\s]))regex:")
_CODE = re.compile(r"(?P<path>.+\.py):(?P<function>[A-Za-z_]\w*)")


class RewardTerm(NamedTuple):
    """One reward of a weighted sum."""

    weight: float
    name: str
    """A built-in name, `regex:PATTERN`, or `path.py:function`."""

    @property
    def is_code(self) -> bool:
        """Whether it runs a file of the user's."""
        return not self.name.startswith("regex:") and _CODE.fullmatch(self.name) is not None

    @property
    def label(self) -> str:
        """Its key in a judgement's parts."""
        if self.name.startswith("regex:"):
            return "regex"
        match = _CODE.fullmatch(self.name)
        return match["function"] if match else self.name


def parse_reward(spec: str) -> tuple[RewardTerm, ...]:
    """The terms of a reward's name.

    Raises:
        ConfigError: a name is unknown, a weight is no finite number, or a term stands twice.
    """
    at = _REGEX.search(spec)
    before, pattern = (spec, None) if at is None else (spec[: at.start()], spec[at.start() :])
    pieces = _split(before)
    if pattern is not None:
        pieces[-1] += pattern  # its weight may stand before it
    terms = tuple(_term(piece, spec) for piece in pieces)
    labels = [term.label for term in terms]
    if len(set(labels)) < len(labels):
        raise ConfigError(f"the reward {spec!r} names a term twice; name each once")
    if all(term.weight == 0 for term in terms):
        raise ConfigError(f"the reward {spec!r} weighs nothing; give a weight other than 0")
    return terms


def names_code(spec: str) -> bool:
    """Whether the reward runs a file of the user's, which only a command line may ask for."""
    return any(term.is_code for term in parse_reward(spec))


def _split(spec: str) -> list[str]:
    """At plus signs, but not inside a number such as 1e+3."""
    return re.split(r"(?<!\d[eE])\+", spec)


def _term(piece: str, spec: str) -> RewardTerm:
    match = _WEIGHT.match(piece)
    weight, name = (1.0, piece) if match is None else (float(match[1]), piece[match.end() :])
    name = name.lstrip() if name.lstrip().startswith("regex:") else name.strip()
    if not math.isfinite(weight):
        raise ConfigError(f"the weight of {name!r} in the reward {spec!r} is not finite")
    term = RewardTerm(weight, name)
    if name not in REWARD_NAMES and not term.is_code and not name.startswith("regex:"):
        raise ConfigError(_unknown(name, spec))
    return term


def _unknown(name: str, spec: str) -> str:
    if name == "regex":
        return "the reward 'regex' has no pattern; write regex:PATTERN"
    if PurePath(name).suffix == ".py":
        return f"the reward {name!r} names a file but no function; write {name}:FUNCTION"
    known = ", ".join((*REWARD_NAMES, "regex:PATTERN"))
    inside = "" if name == spec.strip() else f" in {spec!r}"
    return (
        f"unknown reward {name!r}{inside}; known are {known}, or a function of your own as "
        "path/to/file.py:function"
    )
