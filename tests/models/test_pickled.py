"""Pickled weights: refused, unless asked for; then tensors alone are read and no code is run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hara_viz.errors import FormatError, HaraError, UnsafeError
from hara_viz.models import load_policy
from tests.tiny_models import write_tiny_checkpoint


@pytest.fixture
def pickled(tiny_policy_dir: Path, tmp_path: Path) -> Path:
    """The tiny checkpoint with its weights in two pickled shards."""
    path = Path(shutil.copytree(tiny_policy_dir, tmp_path / "pickled"))
    weights = load_file(path / "model.safetensors")
    (path / "model.safetensors").unlink()
    names = sorted(weights)
    shards = {"a.bin": names[::2], "b.bin": names[1::2]}
    for file, held in shards.items():
        torch.save({name: weights[name] for name in held}, path / f"pytorch_model-{file}")
    where = {name: f"pytorch_model-{file}" for file, held in shards.items() for name in held}
    index = {"metadata": {"total_size": 0}, "weight_map": where}
    (path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    return path


def test_pickled_weights_are_read_when_allowed(pickled: Path, tiny_policy_dir: Path) -> None:
    with pytest.raises(UnsafeError, match="--allow-pickle"):
        load_policy(pickled)
    found = load_policy(pickled, allow_pickle=True).model.state_dict()
    expected = load_policy(tiny_policy_dir).model.state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


class Attack:
    """Unpickling this would write a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> object:
        return Path.write_text, (self.target, "owned")


def test_a_pickle_runs_no_code_even_when_allowed(tmp_path: Path) -> None:
    path = write_tiny_checkpoint(tmp_path / "hostile")
    (path / "model.safetensors").unlink()
    torch.save({"model.norm.weight": Attack(tmp_path / "owned")}, path / "pytorch_model.bin")
    with pytest.raises(HaraError):
        load_policy(path, allow_pickle=True)
    assert not (tmp_path / "owned").exists()
    torch.load(path / "pytorch_model.bin", weights_only=False)
    assert (tmp_path / "owned").exists(), "the attack works where tensors are not asked for alone"


def test_a_torn_pickle_is_refused_before_it_is_read(pickled: Path) -> None:
    shard = pickled / "pytorch_model-b.bin"
    shard.write_bytes(shard.read_bytes()[:200])
    with pytest.raises(FormatError, match="no whole torch file"):
        load_policy(pickled, allow_pickle=True)
