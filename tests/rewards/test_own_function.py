"""Functions written for TRL, for verl, or plainly, from a user's file."""

from __future__ import annotations

import pytest

from hara_viz.errors import ConfigError, MissingInputError
from hara_viz.rewards import own_function
from hara_viz.rewards.verdict import RewardItem, Verdict

FILE = """
import asyncio
import math

def trl_text(completions, solution, **kwargs):
    return [float(s in c) for c, s in zip(completions, solution)]

def trl_chat(prompts, completions, answer, **kwargs):
    assert prompts[0][0]["role"] == "user"
    return [float(c[0]["content"].endswith(a)) for c, a in zip(completions, answer)]

def trl_none(completions, **kwargs):
    return [None] * len(completions)

def trl_two(completions, **kwargs):
    return [1.0, 1.0]

async def trl_async(completions, **kwargs):
    await asyncio.sleep(0)
    return [0.5 for _ in completions]

def verl_number(data_source, solution_str, ground_truth, extra_info=None):
    return ground_truth in solution_str

def verl_record(solution_str, ground_truth, **kwargs):
    return {"score": -1.0, "acc": False, "pred": "41", "note": "text"}

def plain(text, gold):
    return math.nan

def infinite(text, gold):
    return math.inf

def odd(a, b, c):
    return 1.0

NOT_CALLABLE = 5
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("own") / "functions.py"
    file.write_text(FILE, encoding="utf-8")
    return str(file)


def judge(path: str, function: str) -> Verdict:
    return own_function.load(path, function).judge(RewardItem("it is 42", "42", "7*6?"))


@pytest.mark.parametrize(
    ("function", "value"),
    [
        ("trl_text", 1.0),
        ("trl_chat", 1.0),
        ("trl_async", 0.5),
        ("trl_none", None),
        ("verl_number", 1.0),
        ("verl_record", -1.0),
        ("plain", None),
        ("infinite", None),
    ],
)
def test_values(path: str, function: str, value: float | None) -> None:
    assert judge(path, function).value == value


def test_verl_extras_are_kept(path: str) -> None:
    verdict = judge(path, "verl_record")
    assert verdict.answer == "41"
    assert dict(verdict.parts) == {"acc": 0.0}


def test_a_wrong_number_of_rewards_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="2 rewards for 1 completion"):
        judge(path, "trl_two")


def test_what_cannot_be_used(path: str) -> None:
    with pytest.raises(ConfigError, match="takes a, b, c"):
        own_function.load(path, "odd")
    with pytest.raises(ConfigError, match="defines no function nothing"):
        own_function.load(path, "nothing")
    with pytest.raises(ConfigError, match="defines no function NOT_CALLABLE"):
        own_function.load(path, "NOT_CALLABLE")
    with pytest.raises(MissingInputError, match="no file"):
        own_function.load("/nowhere/x.py", "f")
