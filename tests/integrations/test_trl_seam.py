"""The contract with TRL: these fail when a release moves what we override."""

from __future__ import annotations

import inspect
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from packaging.specifiers import SpecifierSet
from trl.trainer.grpo_trainer import GRPOTrainer

from hara_viz.errors import InvalidInputError
from hara_viz.integrations import trl_seam


def test_the_release_is_the_tested_one() -> None:
    assert version("trl") in SpecifierSet(trl_seam.TESTED.removeprefix("trl"))
    pinned = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"{trl_seam.TESTED}"' in pinned


def test_the_trainer_has_the_methods_we_override() -> None:
    trl_seam.check_class(GRPOTrainer)


def test_the_loss_takes_token_advantages_and_reads_the_old_policy_after_the_forward_pass() -> None:
    source = inspect.getsource(GRPOTrainer._compute_loss)
    forward = source.index("self._get_per_token_logps_and_entropies(")
    assert "if advantages.dim() == 1:" in source
    assert forward < source.index('inputs.get("old_per_token_logps")')
    assert forward < source.index("self.importance_sampling_level")
    assert 'inputs["advantages"]' in source


@pytest.mark.parametrize("name", trl_seam.METHODS)
def test_a_method_that_is_gone_is_named(name: str) -> None:
    methods: dict[str, Any] = {n: getattr(GRPOTrainer, n) for n in trl_seam.METHODS if n != name}
    moved = type("Moved", (), methods)
    with pytest.raises(InvalidInputError, match=f"no method {name}.*{trl_seam.TESTED}"):
        trl_seam.check_class(moved)


def test_other_parameters_are_named() -> None:
    methods: dict[str, Any] = {n: getattr(GRPOTrainer, n) for n in trl_seam.METHODS}

    def compute_loss(self: object, inputs: object, model: object) -> None: ...

    moved = type("Moved", (), {**methods, "_compute_loss": compute_loss})
    with pytest.raises(InvalidInputError, match=r"_compute_loss takes inputs, model; expected"):
        trl_seam.check_class(moved)


def test_attributes_that_are_gone_are_named() -> None:
    with pytest.raises(InvalidInputError, match="a trainer has no accelerator, args"):
        trl_seam.check_instance(object())


def test_a_batch_of_another_form_is_refused() -> None:
    batch = {name: torch.zeros(2, 3) for name in trl_seam.BATCH} | {"advantages": torch.zeros(2)}
    trl_seam.check_batch(batch, scored=True)
    with pytest.raises(InvalidInputError, match="scored without"):
        trl_seam.check_batch(batch, scored=False)
    with pytest.raises(InvalidInputError, match=r"shape \(2, 3\), expected \[B\]"):
        trl_seam.check_batch({**batch, "advantages": torch.zeros(2, 3)}, scored=True)
    del batch["prompt_ids"]
    with pytest.raises(InvalidInputError, match="no prompt_ids"):
        trl_seam.check_batch(batch, scored=True)
