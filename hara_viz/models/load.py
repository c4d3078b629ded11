"""From a path or hub id to a `Policy`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from hara_viz.errors import HaraError, InvalidInputError, ModelError, UnsafeError
from hara_viz.models.fingerprint import tokenizer_fingerprint
from hara_viz.models.layouts import Kind, Layout, detect_layout
from hara_viz.models.loaders import load_adapter, load_whole, named_base
from hara_viz.models.policy import Policy, end_ids, marker_ids
from hara_viz.models.quiet import quiet_transformers
from hara_viz.types import CheckpointInfo

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load_policy(
    path: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    base: str | None = None,
    roots: Sequence[Path] | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
) -> Policy:
    """Load a checkpoint for sampling and teacher forcing.

    Args:
        path: A Hugging Face directory with safetensors, a PEFT adapter's directory, a GGUF file
            (dequantised), or a hub id. A path that exists never touches the network.
        device: "auto" (cuda, else mps, else cpu) or a torch device.
        dtype: "auto" = the checkpoint's own (bfloat16 for GGUF), but float32 on a CPU; or float32,
            bfloat16, float16.
        revision: Branch, tag or commit of a hub id.
        base: Path or hub id of an adapter's base, if not the one that the adapter names.
        roots: Directories in which a base that an adapter names must lie (a hub id passes); None =
            anywhere. An adapter from elsewhere may name any path.
        trust_remote_code: Run Python code that comes with the checkpoint. Never on by itself.
        allow_pickle: Read pytorch_model.bin or adapter_model.bin where there is no safetensors
            file, as tensors alone (`weights_only`). Never on by itself.

    Raises:
        MissingInputError, FormatError: Not a checkpoint, or an unfinished one.
        UnsafeError: It needs code of its own, or is pickled.
        ModelError: transformers could not load it.
    """
    layout = detect_layout(path, allow_pickle=allow_pickle)
    if base is not None and layout.kind is not Kind.ADAPTER:
        raise InvalidInputError(
            f"a base ({base}) was given, but {path} is not an adapter; leave the base out"
        )
    target = resolve_device(device)
    want, settings = resolve_dtype(dtype, target), {"trust_remote_code": trust_remote_code}
    with quiet_transformers():
        try:
            if layout.kind is Kind.ADAPTER:
                source = (base, None) if base else named_base(layout, roots)
                model, tokenizer, fingerprint = load_adapter(layout, source, want, settings)
            else:
                model, tokenizer, fingerprint = load_whole(path, layout, revision, want, settings)
            model = model.to(target).eval().requires_grad_(False)
        except HaraError:
            raise
        except Exception as error:  # the libraries raise of every kind on a broken file
            raise explained(path, layout, error) from error
    _check_vocabulary(path, model, tokenizer)
    return _policy(str(path), revision, fingerprint, model, tokenizer, target)


def resolve_device(name: str) -> torch.device:
    """The device to use; "auto" takes cuda, then mps, then cpu.

    Raises:
        InvalidInputError: torch has no such device here.
    """
    available = [
        *(["cuda"] if torch.cuda.is_available() else []),
        *(["mps"] if torch.backends.mps.is_available() else []),
        "cpu",
    ]
    if name == "auto":
        return torch.device(available[0])
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in available:
        raise InvalidInputError(
            f"device {name!r} is not available here; use auto or one of: {', '.join(available)}"
        )
    return device


def resolve_dtype(name: str, device: torch.device) -> torch.dtype | str:
    """The dtype to load in; "auto" stays "auto" but on a CPU, where float32 is exact and safe.

    Raises:
        InvalidInputError: An unknown name.
    """
    if name == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    if name not in DTYPES:
        raise InvalidInputError(f"dtype {name!r} is unknown; use auto, {', '.join(DTYPES)}")
    return DTYPES[name]


def explained(path: str | Path, layout: Layout, error: Exception) -> HaraError:
    """Transformers' error as one sentence with a remedy."""
    text = " ".join(str(error).split())
    if "trust_remote_code" in text:
        return UnsafeError(
            f"{path} brings Python code of its own, which is not run unless asked for; read it, "
            "then pass trust_remote_code=True (--trust-remote-code)"
        )
    if layout.kind is Kind.HUB:
        return ModelError(
            f"{path} is no directory or file here, and could not be loaded from the hub either: "
            f"{text[:300]}"
        )
    return ModelError(f"{path} could not be loaded as a causal language model: {text[:300]}")


def _check_vocabulary(path: str | Path, model: Any, tokenizer: Any) -> None:
    rows = model.get_input_embeddings().weight.shape[0]
    highest = max(tokenizer.get_vocab().values(), default=0)
    if highest >= rows:
        raise ModelError(
            f"the tokenizer of {path} has ids up to {highest}, but the model has embeddings for "
            f"{rows} only; tokenizer and model do not belong together"
        )


def _policy(
    path: str,
    revision: str | None,
    fingerprint: str,
    model: Any,
    tokenizer: Any,
    device: torch.device,
) -> Policy:
    eos = end_ids(tokenizer, model)
    config = model.config.get_text_config(decoder=True)
    info = CheckpointInfo(
        path=path,
        revision=revision or getattr(model.config, "_commit_hash", None),
        fingerprint=fingerprint,
        tokenizer_fingerprint=tokenizer_fingerprint(tokenizer),
        n_layers=int(config.num_hidden_layers),
        hidden_size=int(config.hidden_size),
        dtype=str(model.dtype).removeprefix("torch."),
        special_ids=tuple(sorted(marker_ids(tokenizer) | eos)),
    )
    return Policy(model=model, tokenizer=tokenizer, info=info, device=device, eos_ids=eos)
