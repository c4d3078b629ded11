from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError


def test_defaults_and_names_are_those_of_the_method() -> None:
    names = (
        "baseline signal alpha epsilon n_support n_anchors anchors refine normalize structure "
        "location solver granularity reference strength weight_range conserve cost_scale "
        "incorrect success_threshold tolerance max_iterations seed"
    )
    assert sorted(f.name for f in fields(CreditConfig)) == sorted(names.split())
    config = CreditConfig()
    assert (config.alpha, config.epsilon, config.strength) == (0.5, 0.02, 0.5)
    assert config.weight_range == (0.2, 3.0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"alpha": 7}, "alpha is 7"),
        ({"alpha": -0.1}, "alpha is -0.1"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"strength": -1}, "strength is -1"),
        ({"weight_range": (1.2, 3)}, "w_min is 1.2"),
        ({"weight_range": (0.2, 0.9)}, "w_max is 0.9"),
        ({"weight_range": (0.2,)}, "two numbers"),
        ({"signal": "magic"}, "signal is 'magic'"),
        ({"baseline": "ppo"}, "baseline is 'ppo'"),
        ({"granularity": "word"}, "granularity is 'word'"),
        ({"granularity": {"token": 0.0}}, "at least one share"),
        ({"granularity": {"word": 1.0}}, "granularity is 'word'"),
        ({"granularity": {"token": -1.0}}, "share of 'token'"),
        ({"n_support": 0}, "n_support is 0"),
        ({"n_support": "many"}, "n_support is 'many'"),
        ({"anchors": "prompt"}, "prompt"),
        ({"success_threshold": float("nan")}, "success_threshold is nan"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        CreditConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"granularity": {"token": 0.5, "rollout": 0.5}, "weight_range": (0.0, 2.0)},
        {"structure": "state", "anchors": "prompt", "n_support": 12, "signal": "shear"},
    ],
)
def test_json_round_trip(options: dict[str, Any]) -> None:
    config = CreditConfig(**options)
    again = CreditConfig.from_json(config.to_json())
    assert again == config and again.fingerprint == config.fingerprint
    assert config.fingerprint != CreditConfig(alpha=0.25).fingerprint


def test_a_field_of_a_newer_version_is_refused() -> None:
    with pytest.raises(ConfigError, match="tempo"):
        CreditConfig.from_json('{"tempo": 3}')


def test_shares_and_conserve() -> None:
    mix = CreditConfig(granularity={"token": 1.0, "step": 0.0, "rollout": 3.0})
    assert mix.shares() == {"token": 0.25, "rollout": 0.75}
    assert mix.conserved() == "outcome"
    assert CreditConfig(granularity="step").conserved() == "rollout"
    assert CreditConfig(granularity="rollout", conserve="none").conserved() == "none"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 10**30),
        ("epsilon", 1e-300),
        ("tolerance", 1e-300),
        ("n_support", 1_000_000),
        ("n_anchors", 1_000_000),
        ("refine", 100_000),
        ("max_iterations", 10**7),
    ],
)
def test_what_a_link_may_not_ask_for(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} is .*; it must be"):
        CreditConfig(**{name: value})
