"""Model, tokenizer and weights' fingerprint of each kind of checkpoint, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from hara_viz.errors import HaraError, ModelError, UnsafeError
from hara_viz.models.fingerprint import combine, weights_fingerprint
from hara_viz.models.gguf_file import dequantised, parsed_once
from hara_viz.models.layouts import Kind, Layout, adapter_base, detect_layout, n_values


def load_whole(
    path: str | Path,
    layout: Layout,
    revision: str | None,
    dtype: torch.dtype | str,
    settings: dict[str, Any],
) -> tuple[Any, Any, str]:
    """Model, tokenizer and weights' fingerprint of a directory, GGUF file or hub id."""
    from transformers import AutoModelForCausalLM

    if layout.kind is Kind.GGUF:
        return _load_gguf(layout, dtype)
    where: dict[str, Any] = {**settings}
    name = str(path)
    if layout.path is not None:
        name = str(layout.path)
        where |= {"local_files_only": True, "use_safetensors": not layout.pickled}
    else:
        where |= {"revision": revision, "use_safetensors": True}
    if layout.path is not None and not (settings["trust_remote_code"] or layout.pickled):
        _check_size(layout)
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        name, dtype=dtype, output_loading_info=True, **where
    )
    model, report = loaded
    _check_complete(path, report)
    tokenizer = load_tokenizer(path, layout, revision, settings)
    files = layout.weights or _downloaded(model)
    return model, tokenizer, weights_fingerprint(files)


def load_tokenizer(
    path: str | Path, layout: Layout, revision: str | None, settings: dict[str, Any]
) -> Any:
    """The tokenizer of a checkpoint; of an adapter, the one that lies with it.

    A tokenizer.json beside a GGUF file is preferred to the one inside, whose conversion is known to
    differ for some families.
    """
    from transformers import AutoTokenizer

    if layout.path is None:
        return AutoTokenizer.from_pretrained(str(path), revision=revision, **settings)
    folder, inside = layout.path, {}
    if layout.kind is Kind.GGUF:
        folder = layout.path.parent
        inside = {} if (folder / "tokenizer.json").exists() else {"gguf_file": layout.path.name}
    return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, **inside, **settings)


def has_tokenizer(layout: Layout) -> bool:
    """Whether an adapter brings a tokenizer of its own; else its base's is meant."""
    assert layout.path is not None
    return (layout.path / "tokenizer_config.json").exists()


def _check_size(layout: Layout) -> None:
    """Refuse a config of a much larger model, before memory is filled with what is not there."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(str(layout.path), local_files_only=True)
    if getattr(config, "quantization_config", None) is not None:
        return  # packed weights count otherwise
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    described = sum(p.numel() for p in model.parameters())
    held = sum(n_values(path) for path in layout.weights)
    if described > 2 * held:  # ties may halve what is stored, never more
        raise ModelError(
            f"{layout.path} does not fit its config: config.json describes {described:,} "
            f"parameters, and the weights hold {held:,}; they must belong together"
        )


def _check_complete(path: str | Path, report: dict[str, Any]) -> None:
    lost = [*report.get("missing_keys", ()), *report.get("mismatched_keys", ())]
    if lost:
        raise ModelError(
            f"{path} does not fit its config: {len(lost)} weights are missing or of another shape "
            f"(first: {lost[0]}); config.json and weights must belong together"
        )


def _load_gguf(layout: Layout, dtype: torch.dtype | str) -> tuple[Any, Any, str]:
    """Model, tokenizer and fingerprint of a GGUF file."""
    from transformers import AutoModelForCausalLM

    assert layout.path is not None
    folder, name = str(layout.path.parent), layout.path.name
    inside = {"gguf_file": name, "local_files_only": True}
    precision = torch.bfloat16 if dtype == "auto" else dtype
    with parsed_once():
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=precision, output_loading_info=True, **dequantised(), **inside
        )
        model, report = loaded
        _check_complete(layout.path, report)
        tokenizer = load_tokenizer(layout.path, layout, None, {})
    return model, tokenizer, weights_fingerprint(layout.weights)


def _downloaded(model: Any) -> tuple[Path, ...]:
    """Weight files of a hub id, in the local cache."""
    from huggingface_hub import snapshot_download

    commit = getattr(model.config, "_commit_hash", None)
    folder = Path(
        snapshot_download(
            model.config.name_or_path,
            revision=commit,
            local_files_only=True,
            allow_patterns=["*.safetensors"],
        )
    )
    return tuple(sorted(folder.glob("model*.safetensors")))


def named_base(layout: Layout, roots: Sequence[Path] | None) -> tuple[str, str | None]:
    """The base and revision that an adapter names, if it may be used."""
    assert layout.path is not None
    named, revision = adapter_base(layout.path)
    if not named:
        raise ModelError(f"the adapter {layout.path} names no base model; give one with --base")
    place = Path(named).expanduser()
    if roots is not None and place.exists():
        inside = (place.resolve().is_relative_to(Path(root).resolve()) for root in roots)
        if not any(inside):
            raise UnsafeError(
                f"the adapter {layout.path} names the base {named}, which lies outside the allowed "
                "directories; give it with --base if it is meant"
            )
    return named, revision


def load_adapter(
    layout: Layout,
    base: tuple[str, str | None],
    dtype: torch.dtype | str,
    settings: dict[str, Any],
) -> tuple[Any, Any, str]:
    """An adapter merged into its base, so that it runs as fast as a whole checkpoint."""
    from peft import PeftModel

    assert layout.path is not None
    source, revision = base
    try:
        base_layout = detect_layout(source, allow_pickle=layout.pickled)
    except HaraError as error:
        raise ModelError(
            f"the base of the adapter {layout.path} cannot be used: {error} (give another with "
            "--base)"
        ) from error
    if base_layout.kind is Kind.ADAPTER:
        raise ModelError(f"the base {source} is an adapter itself; give a whole model with --base")
    model, tokenizer, below = load_whole(source, base_layout, revision, dtype, settings)
    if has_tokenizer(layout):
        tokenizer = load_tokenizer(layout.path, layout, None, settings)
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(len(tokenizer))
    model = PeftModel.from_pretrained(model, str(layout.path), is_trainable=False)
    return model.merge_and_unload(), tokenizer, combine(below, weights_fingerprint(layout.weights))
