"""A reward function of the user's own, written for TRL, for verl, or plainly.

Which of the three it is shows in its parameters:

    def f(completions, **columns) -> list[float | None]       TRL: batched, by keyword
    def f(data_source, solution_str, ground_truth) -> float   verl; or a dict with "score"
    def f(text, gold) -> float | None                         plain

Nothing is clamped. None and NaN mean unscored. The whole completion is given, thinking included,
as in training. The file runs in the worker process only.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from hara_viz.errors import ConfigError, MissingInputError
from hara_viz.rewards.verdict import Reward, RewardItem, Verdict

TRL_GOLD_COLUMNS = ("solution", "answer", "ground_truth", "gold", "target", "label")


def load(path: str, function: str) -> Reward:
    """Run the file and adapt its function.

    Raises:
        MissingInputError: there is no such file.
        ConfigError: the file fails, or its function is missing or of no known kind.
    """
    own = _load_function(Path(path), function)
    parameters = _parameters(own)
    if "completions" in parameters:
        call = _trl_call(own, parameters)
    elif "solution_str" in parameters:
        call = _verl_call(own, parameters)
    elif len(parameters) == 2:
        call = lambda item: own(item.text, item.gold)  # noqa: E731
    else:
        raise ConfigError(
            f"{function} of {path} takes {', '.join(parameters) or 'nothing'}; a reward takes "
            "completions (TRL), solution_str and ground_truth (verl), or text and gold"
        )
    return Reward(judge=lambda item: _verdict(_awaited(call(item))), read_gold=lambda gold: gold)


def _load_function(path: Path, function: str) -> Callable[..., Any]:
    if not path.is_file():
        raise MissingInputError(f"there is no file {path} with the reward {function}")
    spec = importlib.util.spec_from_file_location(f"own_reward_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is no Python file; name one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.resolve()))  # it may import its neighbours, as a script may
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(
            f"{path} fails when it is run: {type(error).__name__}: {error}; correct it"
        ) from error
    own = getattr(module, function, None)
    if not callable(own):
        raise ConfigError(f"{path} defines no function {function}; name one that it defines")
    return own


def _parameters(own: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Named parameters; `**kwargs` stands under its own name."""
    return dict(inspect.signature(own).parameters)


def _takes(parameters: Mapping[str, inspect.Parameter], fields: dict[str, Any]) -> dict[str, Any]:
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return fields
    return {name: value for name, value in fields.items() if name in parameters}


def _trl_call(
    own: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]
) -> Callable[[RewardItem], Any]:
    def call(item: RewardItem) -> Any:
        columns = {name: [item.gold] for name in TRL_GOLD_COLUMNS}
        extras: dict[str, Any] = {
            "completion_ids": [[]],
            "trainer_state": None,
            "log_extra": lambda *_: None,
            "log_metric": lambda *_: None,
        }
        as_text = {"prompts": [item.prompt], "completions": [item.text]}
        as_chat = {
            "prompts": [[{"role": "user", "content": item.prompt}]],
            "completions": [[{"role": "assistant", "content": item.text}]],
        }
        try:
            values = _awaited(own(**_takes(parameters, {**columns, **extras, **as_text})))
        except TypeError:
            # Written for chats: `completion[0]["content"]` on a string is a TypeError.
            values = _awaited(own(**_takes(parameters, {**columns, **extras, **as_chat})))
        if len(values) != 1:
            raise ValueError(f"returned {len(values)} rewards for 1 completion")
        return values[0]

    return call


def _verl_call(
    own: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]
) -> Callable[[RewardItem], Any]:
    def call(item: RewardItem) -> Any:
        fields = {
            "data_source": "hara-viz",
            "solution_str": item.text,
            "ground_truth": item.gold,
            "extra_info": {},
        }
        return own(**_takes(parameters, fields))

    return call


def _awaited(value: Any) -> Any:
    return asyncio.run(_await(value)) if inspect.isawaitable(value) else value


async def _await(value: Any) -> Any:
    return await value


def _verdict(value: Any) -> Verdict:
    if not isinstance(value, Mapping):
        number = _number(value)
        return Verdict(value=number, reason="unscored by the function" if number is None else "")
    score = _number(value.get("score"))
    answer = value.get("pred", value.get("extracted_answer"))
    parts = {
        str(name): _number(extra)
        for name, extra in value.items()
        if name != "score" and isinstance(extra, Real)
    }
    return Verdict(
        value=score,
        answer=None if answer is None else str(answer),
        reason=str(value.get("reason", "unscored by the function" if score is None else "")),
        parts=parts,
    )


def _number(value: Any) -> float | None:
    """Any scalar, numpy's and torch's too; NaN is unscored, infinite is as bad."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
