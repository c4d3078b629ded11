"""From a term's name to a loaded reward function. Runs in the worker."""

from __future__ import annotations

import importlib
from dataclasses import replace

from hara_viz.errors import ConfigError, FormatError
from hara_viz.rewards.final_answer import without_thinking
from hara_viz.rewards.spec import RewardTerm
from hara_viz.rewards.verdict import Reward, RewardItem, Verdict

_MODULES = {
    "number": "hara_viz.rewards.number",
    "exact": "hara_viz.rewards.exact",
    "choice": "hara_viz.rewards.choice",
    "format": "hara_viz.rewards.format_check",
}


def load_reward(term: RewardTerm) -> Reward:
    """Import what the term needs, and no more.

    Raises:
        ConfigError: a package is missing, or the user's own function cannot be used.
        MissingInputError: the user's own file does not exist.
    """
    if term.is_code:
        from hara_viz.rewards import own_function

        return own_function.load(*term.name.rsplit(":", 1))
    if term.name.startswith("regex:"):
        from hara_viz.rewards import pattern

        return pattern.load(term.name.removeprefix("regex:"))
    if term.name == "math":
        return _outside_thinking(_load_math())
    module = importlib.import_module(_MODULES[term.name])
    return _outside_thinking(Reward(judge=module.judge, read_gold=module.read_gold))


def _load_math() -> Reward:
    from hara_viz.rewards import math_verify_reward

    try:
        return math_verify_reward.load()
    except ImportError as error:
        raise ConfigError(
            f"the reward 'math' needs the package math-verify ({error}); install hara-viz[run]"
        ) from error


def _outside_thinking(reward: Reward) -> Reward:
    """Judge what is outside `<think>…</think>`, and give spans of the whole text."""

    def judge(item: RewardItem) -> Verdict:
        cut = without_thinking(item.text)
        verdict = reward.judge(item._replace(text=cut.text))
        if verdict.span is not None:
            return replace(verdict, span=cut.to_original(*verdict.span))
        if item.text.strip() and not cut.text.strip() and verdict.reason.startswith("no answer"):
            return replace(verdict, reason="no answer: nothing stands outside the thinking")
        return verdict

    def read_gold(gold: str) -> str:
        if not gold.strip():
            raise FormatError("the gold answer is empty; give the problem an answer")
        return reward.read_gold(gold)

    return Reward(judge=judge, read_gold=read_gold)
