"""The padding check passes on sound models and catches one that is not."""

from __future__ import annotations

import dataclasses
from typing import Any

from hara_viz.models import Policy
from hara_viz.models.self_check import padding_self_check


def test_every_family_passes(policy: Policy) -> None:
    found = padding_self_check(policy)
    assert found.passed and found.left_padded < 1e-3 and found.right_padded < 1e-3


def test_a_model_that_ignores_positions_is_caught(policies: dict[str, Policy]) -> None:
    """GPT-2 without position ids: padding on the left shifts its learned positions."""
    gpt2 = dataclasses.replace(policies["gpt2"])
    gpt2.__dict__["forward_arguments"] = policies["gpt2"].forward_arguments - {"position_ids"}
    found: Any = padding_self_check(gpt2)
    assert not found.passed and found.left_padded > 0.05
