"""All fields of `SamplingConfig` as a form: four in front, the rest behind one click."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from hara_viz.errors import InvalidInputError
from hara_viz.types import Message, SamplingConfig

_DEFAULT = SamplingConfig()


def sampling_form() -> SamplingConfig:
    """The sampling that the form describes.

    Raises:
        InvalidInputError: a field cannot be used; the sentence names it.
    """
    size, length, temperature, seed = st.columns(4)
    values: dict[str, Any] = {
        "group_size": size.number_input(
            "Group size G", 1, value=_DEFAULT.group_size, help="Rollouts of one problem"
        ),
        "max_new_tokens": length.number_input("Max. new tokens", 1, value=_DEFAULT.max_new_tokens),
        "temperature": temperature.number_input(
            "Temperature", 0.0, value=_DEFAULT.temperature, step=0.1, help="0 = greedy"
        ),
        "seed": seed.number_input("Seed", 0, value=_DEFAULT.seed),
    }
    with st.expander("All sampling fields"):
        values |= _numbers() | _texts()
    return SamplingConfig(**values)


def _numbers() -> dict[str, Any]:
    top_p, top_k, min_p, penalty = st.columns(4)
    return {
        "top_p": top_p.number_input("top-p", 0.01, 1.0, _DEFAULT.top_p, 0.05),
        "top_k": top_k.number_input("top-k", 0, value=_DEFAULT.top_k, help="0 = off"),
        "min_p": min_p.number_input("min-p", 0.0, 1.0, _DEFAULT.min_p, 0.01),
        "repetition_penalty": penalty.number_input(
            "Repetition penalty", 0.1, value=_DEFAULT.repetition_penalty, step=0.05
        ),
        "deterministic": st.checkbox(
            "Deterministic", help="One batch shape for all: slower, but equal seeds draw bit-equal"
        ),
    }


def _texts() -> dict[str, Any]:
    left, right = st.columns(2)
    system = left.text_area("System prompt", height=80, placeholder="none")
    stops = right.text_area("Stop strings", height=80, placeholder="one per line")
    few_shot = left.text_area(
        "Few-shot turns", height=80, placeholder='[{"role": "user", "content": "…"}, …]'
    )
    template = right.text_area(
        "Chat template options", height=80, placeholder='{"enable_thinking": false}'
    )
    return {
        "system": system or None,
        "stop": tuple(line for line in stops.splitlines() if line),
        "few_shot": few_shot_of(few_shot),
        "template_kwargs": template_options_of(template),
    }


def few_shot_of(text: str) -> tuple[Message, ...]:
    """Turns from a JSON list of {"role", "content"}. Pure.

    Raises:
        InvalidInputError: it is something else.
    """
    turns = _json("few-shot turns", text, [])
    if not isinstance(turns, list) or not all(
        isinstance(turn, dict) and {"role", "content"} <= turn.keys() for turn in turns
    ):
        raise InvalidInputError(
            'few-shot turns must be a JSON list such as [{"role": "user", "content": "…"}]'
        )
    return tuple(Message(str(turn["role"]), str(turn["content"])) for turn in turns)


def template_options_of(text: str) -> Mapping[str, Any]:
    """Options from a JSON object. Pure.

    Raises:
        InvalidInputError: it is something else.
    """
    options = _json("chat template options", text, {})
    if not isinstance(options, dict):
        raise InvalidInputError(
            'chat template options must be a JSON object such as {"enable_thinking": false}'
        )
    return options


def _json(name: str, text: str, empty: Any) -> Any:
    if not text.strip():
        return empty
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{name} are not JSON: {error}; check quotes and commas") from error
