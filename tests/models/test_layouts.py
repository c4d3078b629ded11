"""What a path is, told by its files; anything else is refused in one clear sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from hara_viz.errors import FormatError, HaraError, MissingInputError, UnsafeError
from hara_viz.models import load_policy
from hara_viz.models.layouts import Kind, detect_layout


@pytest.fixture
def checkpoint(tiny_policy_dir: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(tiny_policy_dir, tmp_path / "model"))


def shard(path: Path, n_shards: int) -> list[Path]:
    """Split model.safetensors as `save_pretrained` does for big models."""
    tensors = load_file(path / "model.safetensors")
    names = [f"model-{i + 1:05}-of-{n_shards:05}.safetensors" for i in range(n_shards)]
    where = {key: names[i % n_shards] for i, key in enumerate(tensors)}
    for name in names:
        save_file({k: v for k, v in tensors.items() if where[k] == name}, path / name)
    index = {"metadata": {}, "weight_map": where}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    (path / "model.safetensors").unlink()
    return [path / name for name in names]


def test_kinds(checkpoint: Path, tmp_path: Path) -> None:
    assert detect_layout(checkpoint).kind is Kind.DIRECTORY
    gguf = tmp_path / "x.gguf"
    gguf.write_bytes(b"GGUF" + bytes(20))
    assert detect_layout(gguf).kind is Kind.GGUF
    assert detect_layout("owner/name").kind is Kind.HUB
    (tmp_path / "lone").mkdir()
    shutil.copy(gguf, tmp_path / "lone" / "only.gguf")
    assert detect_layout(tmp_path / "lone").path == tmp_path / "lone" / "only.gguf"


def test_a_training_checkpoint_is_a_directory_like_any_other(checkpoint: Path) -> None:
    for name in ("trainer_state.json", "training_args.bin", "optimizer.pt", "rng_state.pth"):
        (checkpoint / name).write_bytes(b"{}")
    (checkpoint / "global_step10").mkdir()
    assert detect_layout(checkpoint).kind is Kind.DIRECTORY


def test_shards_load_like_the_whole(checkpoint: Path) -> None:
    whole = load_policy(checkpoint, device="cpu")
    shards = shard(checkpoint, 3)
    assert detect_layout(checkpoint).weights == tuple(shards)
    split = load_policy(checkpoint, device="cpu")
    assert split.info.fingerprint == whole.info.fingerprint
    ids = torch.tensor([[5, 6, 7]])
    assert torch.equal(split.model(ids).logits, whole.model(ids).logits)


def test_a_missing_shard_is_named(checkpoint: Path) -> None:
    shards = shard(checkpoint, 3)
    shards[1].unlink()
    with pytest.raises(FormatError, match=rf"lacks 1 of 3 .*{shards[1].name}"):
        detect_layout(checkpoint)


def test_a_shard_index_may_not_leave_its_directory(checkpoint: Path) -> None:
    shard(checkpoint, 2)
    index = {"weight_map": {"x": "../../secret.safetensors"}}
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(UnsafeError, match="outside"):
        detect_layout(checkpoint)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_file_cut_off_is_refused(checkpoint: Path, keep: int) -> None:
    weights = checkpoint / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    with pytest.raises(FormatError, match="not a whole safetensors file"):
        detect_layout(checkpoint)


def test_placeholders_of_zero3_are_refused(checkpoint: Path) -> None:
    blank = {f"layer{i}.weight": torch.zeros(0) for i in range(4)}
    save_file(blank, checkpoint / "model.safetensors")
    with pytest.raises(FormatError, match=r"placeholders.*zero_to_fp32\.py"):
        detect_layout(checkpoint)


def test_pickles_are_refused_with_the_way_out(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(UnsafeError, match=r"pickle.*save_pretrained"):
        detect_layout(checkpoint)


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")


FOREIGN = {
    "verl FSDP": (
        ["actor/model_world_size_2_rank_0.pt", "actor/fsdp_config.json"],
        "python -m verl.model_merger merge --backend fsdp --local_dir {root}/actor",
    ),
    "verl Megatron": (["actor/ckpt_contents.json"], "--backend megatron"),
    "DeepSpeed": (["zero_to_fp32.py", "latest"], "python {root}/zero_to_fp32.py {root}"),
    "FSDP (accelerate)": (
        ["pytorch_model_fsdp_0/__0_0.distcp", "pytorch_model_fsdp_0/.metadata"],
        "accelerate merge-weights {root}/pytorch_model_fsdp_0",
    ),
    "NeMo-RL": (["policy/weights/x"], "convert_dcp_to_hf.py"),
    "prime-rl trainer": (["trainer/__0_0.distcp", "trainer/.metadata"], "app.model."),
    "Megatron": (["iter_0000100/a.distcp"], "convert_torch_dist_to_hf.py"),
    "torch distributed (DCP)": ([".metadata", "__0_0.distcp"], "dcp_to_torch {root}"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_trainers_layouts_get_their_command(tmp_path: Path, name: str) -> None:
    files, command = FOREIGN[name]
    touch(tmp_path, *files)
    with pytest.raises(FormatError) as caught:
        detect_layout(tmp_path)
    assert f"is a {name} checkpoint" in str(caught.value)
    assert command.format(root=tmp_path) in str(caught.value)


def test_deepspeed_states_without_the_script_are_recognised(tmp_path: Path) -> None:
    touch(tmp_path, "global_step5/mp_rank_00_model_states.pt", "global_step5/a_optim_states.pt")
    with pytest.raises(FormatError, match="DeepSpeed"):
        detect_layout(tmp_path)


def test_verls_huggingface_folder_has_no_weights(tmp_path: Path) -> None:
    touch(tmp_path, "actor/model_world_size_1_rank_0.pt", "actor/huggingface/config.json")
    with pytest.raises(FormatError, match=r"tokenizer only.*model_merger"):
        detect_layout(tmp_path / "actor" / "huggingface")


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        ([], FormatError, "no config.json"),
        (["notes.txt"], FormatError, "is not a checkpoint"),
        (["config.json"], FormatError, "no model.safetensors"),
        (["adapter_config.json"], FormatError, "no adapter_model.safetensors"),
        (["adapter_config.json", "adapter_model.bin"], UnsafeError, "pickle"),
        (["step-1/config.json", "step-2/config.json"], FormatError, "holds 2: step-1, step-2"),
        (["a.gguf", "b.gguf"], FormatError, "2 GGUF files"),
    ],
)  # fmt: skip
def test_directories_that_are_no_checkpoint(
    tmp_path: Path, files: list[str], error: type[HaraError], message: str
) -> None:
    touch(tmp_path, *files)
    with pytest.raises(error, match=message):
        detect_layout(tmp_path)


def test_files_that_are_no_checkpoint(tmp_path: Path) -> None:
    touch(tmp_path, "x.gguf", "model.safetensors")
    with pytest.raises(FormatError, match="not a GGUF file"):
        detect_layout(tmp_path / "x.gguf")
    with pytest.raises(FormatError, match="give the directory"):
        detect_layout(tmp_path / "model.safetensors")
    for name in ("no/such/dir", "missing.gguf", "./gone", "/gone"):
        with pytest.raises(MissingInputError, match="does not exist"):
            detect_layout(name)
