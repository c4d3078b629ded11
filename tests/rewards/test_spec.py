"""How rewards are named."""

from __future__ import annotations

import pytest

from hara_viz.errors import ConfigError, UnsafeError
from hara_viz.rewards import REWARD_NAMES, RewardPool, names_code, parse_reward


@pytest.mark.parametrize(
    ("spec", "terms"),
    [
        ("math", [(1.0, "math")]),
        (" 0.8*math+0.2 * format ", [(0.8, "math"), (0.2, "format")]),
        ("choice+format", [(1.0, "choice"), (1.0, "format")]),
        ("number + -1e-1*format", [(1.0, "number"), (-0.1, "format")]),
        ("1e+1*number+format", [(10.0, "number"), (1.0, "format")]),
        (r"regex:a+b*c", [(1.0, "regex:a+b*c")]),
        (r"math + 0.5*regex:^x + y: (\d+)$", [(1.0, "math"), (0.5, r"regex:^x + y: (\d+)$")]),
        ("0.5*my/rewards.py:score + math", [(0.5, "my/rewards.py:score"), (1.0, "math")]),
    ],
)
def test_terms(spec: str, terms: list[tuple[float, str]]) -> None:
    assert [tuple(term) for term in parse_reward(spec)] == terms


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "unknown reward ''; known are math"),
        ("maths", "unknown reward 'maths'"),
        ("math + maths", "unknown reward 'maths' in"),
        ("math +", "unknown reward ''"),
        ("regex", "no pattern"),
        ("math:1+format:0.2", "unknown reward 'math:1'"),
        ("math + math", "twice"),
        ("0*math", "weighs nothing"),
        ("1e999*math", "not finite"),
        ("rewards.py", "names a file but no function"),
    ],
)
def test_names_that_are_none(spec: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says.replace("+", r"\+")):
        parse_reward(spec)


def test_every_built_in_name_is_known() -> None:
    for name in REWARD_NAMES:
        (term,) = parse_reward(name)
        assert term.label == name
    assert parse_reward("regex:x")[0].label == "regex"


def test_code_is_recognised_and_refused_unless_allowed() -> None:
    assert names_code("0.5*math + own.py:f")
    assert not names_code("regex:own.py:f")
    with pytest.raises(UnsafeError, match="command line"):
        RewardPool("own.py:f")


@pytest.mark.parametrize(
    "limits", [{"workers": 0}, {"timeout": 0}, {"timeout": float("nan")}, {"memory_mb": 1}]
)
def test_limits_are_checked(limits: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(limits))} is"):
        RewardPool("number", **limits)  # pyright: ignore[reportArgumentType]
