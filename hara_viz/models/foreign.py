"""Trainers' own checkpoint layouts, told by their files, and the command that converts each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class ForeignLayout(NamedTuple):
    """A layout that transformers cannot load."""

    name: str
    find: Callable[[Path], Path | None]
    """The directory to convert, if `path` is in (or just above) this layout."""
    command: str
    """With {found} and {out} to fill in."""


def foreign_layout(path: Path) -> str | None:
    """One sentence on what `path` is and how to convert it; None if it is none of these."""
    for layout in LAYOUTS:
        found = layout.find(path)
        if found is not None:
            command = layout.command.format(found=found, out=f"{path}-hf")
            return f"{path} is a {layout.name} checkpoint, not a loadable model; {command}"
    return None


def _holding(*patterns: str, below: tuple[str, ...] = ("",)) -> Callable[[Path], Path | None]:
    """Finds the first of `below` in which some file matches one of `patterns`."""

    def find(path: Path) -> Path | None:
        for name in below:
            place = path / name
            if place.is_dir() and any(next(place.glob(p), None) for p in patterns):
                return place
        return None

    return find


def _verl_tokenizer_only(path: Path) -> Path | None:
    """Verl's actor/huggingface: a config and a tokenizer beside the sharded weights."""
    shards = next(path.parent.glob("model_world_size_*_rank_*.pt"), None)
    return path.parent if path.name == "huggingface" and shards else None


LAYOUTS = (
    ForeignLayout(
        "verl FSDP",
        _holding("model_world_size_*_rank_*.pt", "fsdp_config.json", below=("", "actor")),
        "merge it: python -m verl.model_merger merge --backend fsdp --local_dir {found} "
        "--target_dir {out}",
    ),
    ForeignLayout(
        "verl (config and tokenizer only)",
        _verl_tokenizer_only,
        "merge its weights: python -m verl.model_merger merge --backend fsdp --local_dir {found} "
        "--target_dir {out}",
    ),
    ForeignLayout(
        "verl Megatron",
        _holding("ckpt_contents.json", below=("", "actor")),
        "merge it: python -m verl.model_merger merge --backend megatron --local_dir {found} "
        "--target_dir {out}",
    ),
    ForeignLayout(
        "DeepSpeed",
        _holding("zero_to_fp32.py", "global_step*/*_optim_states.pt", "mp_rank_*_model_states.pt"),
        "convert it: python {found}/zero_to_fp32.py {found} {out} --safe_serialization, and copy "
        "config and tokenizer there",
    ),
    ForeignLayout(
        "FSDP (accelerate)",
        _holding("*.distcp", below=("pytorch_model_fsdp_0",)),
        "merge it: accelerate merge-weights {found} {out}, and copy config and tokenizer there",
    ),
    ForeignLayout(
        "NeMo-RL",
        _holding("weights/*", below=("policy",)),
        "convert it: python examples/converters/convert_dcp_to_hf.py "
        "--dcp-ckpt-path {found}/weights --hf-ckpt-path {out} (in the NeMo-RL repository), and "
        "copy the tokenizer there",
    ),
    ForeignLayout(
        "prime-rl trainer",
        _holding("*.distcp", ".metadata", below=("trainer",)),
        "take the weights that the same run wrote under weights/step_N or broadcasts/step_N, or "
        "convert it: python -m torch.distributed.checkpoint.format_utils dcp_to_torch {found} "
        "{out}.pt, then strip the key prefix app.model.",
    ),
    ForeignLayout(
        "Megatron",
        _holding(
            "iter_*/*.distcp", "latest_checkpointed_iteration.txt", "mp_rank_*/model_optim_rng.pt"
        ),
        "convert it with your trainer's tool, for slime: python tools/convert_torch_dist_to_hf.py "
        "--input-dir {found} --output-dir {out}",
    ),
    ForeignLayout(
        "torch distributed (DCP)",
        _holding("*.distcp", ".metadata"),
        "convert it: python -m torch.distributed.checkpoint.format_utils dcp_to_torch {found} "
        "{out}.pt, then strip key prefixes such as model. and save as safetensors",
    ),
)
