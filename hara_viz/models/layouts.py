"""What kind of checkpoint a path is, told by its files alone; nothing is loaded here."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from zipfile import is_zipfile

from hara_viz.errors import FormatError, MissingInputError, ModelError, UnsafeError
from hara_viz.models.foreign import foreign_layout

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"
ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


class Kind(StrEnum):
    """How a checkpoint is loaded."""

    DIRECTORY = "directory"
    """A Hugging Face directory with safetensors."""
    ADAPTER = "adapter"
    """A PEFT adapter, to be put on its base."""
    GGUF = "gguf"
    """One GGUF file, dequantised while loading."""
    HUB = "hub"
    """The id of a repository on the Hugging Face hub."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A checkpoint as found."""

    kind: Kind
    path: Path | None
    """The directory, or the GGUF file; None for a hub id."""
    weights: tuple[Path, ...] = ()
    """Every file that holds weights, in name order."""

    @property
    def pickled(self) -> bool:
        """Whether the weights are pickles (read as tensors alone, and only when allowed)."""
        return any(file.suffix == ".bin" for file in self.weights)


def detect_layout(source: str | Path, *, allow_pickle: bool = False) -> Layout:
    """Kind and files of a checkpoint.

    Args:
        source: A path or hub id.
        allow_pickle: Take pytorch_model.bin or adapter_model.bin where there is no safetensors
            file. They are unpickled with `weights_only`, which loads tensors and runs no code.

    Raises:
        MissingInputError: Nothing there, and it cannot be a hub id.
        FormatError: A directory or file that is no checkpoint, or an unfinished one.
        UnsafeError: Weights exist only in pickled form.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        return _directory(path, allow_pickle)
    if path.is_file():
        return _file(path)
    text = str(source)
    if HUB_ID.fullmatch(text) and not text.endswith((".gguf", ".safetensors", ".bin", ".pt")):
        return Layout(Kind.HUB, None)
    raise MissingInputError(
        f"{source} does not exist; give a checkpoint directory, a .gguf file or a hub id such as "
        "owner/name"
    )


def _file(path: Path) -> Layout:
    if path.suffix == ".gguf":
        with path.open("rb") as file:
            magic = file.read(4)
        if magic != b"GGUF":
            raise FormatError(
                f"{path} is not a GGUF file (it starts with {magic!r}, not b'GGUF'); the download "
                "may be incomplete or a Git LFS pointer: fetch it again"
            )
        return Layout(Kind.GGUF, path, (path,))
    raise FormatError(
        f"{path} is a file, but a checkpoint is a directory (config.json + safetensors) or a .gguf "
        "file; give the directory that holds it"
    )


def _directory(path: Path, allow_pickle: bool) -> Layout:
    if (path / ADAPTER_CONFIG).exists():
        return _adapter(path, allow_pickle)
    shards = _shards(path, WEIGHTS)
    if not shards and allow_pickle:
        shards = _shards(path, PICKLED_WEIGHTS)
    has_config = (path / "config.json").exists()
    if shards and has_config:
        return Layout(Kind.DIRECTORY, path, shards)
    if shards:
        raise FormatError(
            f"{path} has weights but no config.json; copy the config.json of the model they belong "
            "to into it"
        )
    foreign = foreign_layout(path)
    if foreign is not None:
        raise FormatError(foreign)
    ggufs = sorted(path.glob("*.gguf"))
    if len(ggufs) == 1:
        return _file(ggufs[0])
    if ggufs:
        names = ", ".join(file.name for file in ggufs[:5])
        raise FormatError(f"{path} holds {len(ggufs)} GGUF files ({names}); name one of them")
    _refuse_pickles(path)
    if has_config:
        raise FormatError(
            f"{path} has a config.json but no {WEIGHTS}: it is unfinished, or holds config and "
            "tokenizer only (as verl's actor/huggingface does); give a directory with weights"
        )
    raise FormatError(_nothing(path))


def _adapter(path: Path, allow_pickle: bool) -> Layout:
    weights, pickled = path / ADAPTER_WEIGHTS, path / "adapter_model.bin"
    if not weights.exists() and pickled.exists():
        if allow_pickle:
            return Layout(Kind.ADAPTER, path, (pickled,))
        raise UnsafeError(
            f"{path} holds its adapter only as adapter_model.bin, a pickle, which can run code; "
            "save it again with safe_serialization=True, or read its tensors alone with "
            "--allow-pickle"
        )
    if not weights.exists():
        raise FormatError(
            f"{path} has an {ADAPTER_CONFIG} but no {ADAPTER_WEIGHTS}: it is unfinished; wait for "
            "the training to save it, or take an earlier checkpoint"
        )
    check_safetensors(weights)
    return Layout(Kind.ADAPTER, path, (weights,))


def _shards(path: Path, whole: str) -> tuple[Path, ...]:
    """The weight files of a directory, `whole` or those of its index, each checked; maybe none."""
    if (path / whole).exists():
        _check_file(path / whole)
        return (path / whole,)
    index = path / f"{whole}.index.json"
    if not index.exists():
        return ()
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise FormatError(
            f"{index} cannot be read ({error}); the checkpoint is unfinished or damaged"
        ) from error
    outside = [name for name in names if Path(name).name != name]
    if outside:
        raise UnsafeError(f"{index} names a file outside its directory: {outside[0]!r}")
    missing = [name for name in names if not (path / name).exists()]
    if missing:
        raise FormatError(
            f"{path} lacks {len(missing)} of {len(names)} weight files (first: {missing[0]}); "
            "it is unfinished: wait for it to be saved, or copy the missing files"
        )
    for name in names:
        _check_file(path / name)
    return tuple(path / name for name in names)


def _check_file(path: Path) -> None:
    """Refuse a weights file that is cut off, as far as that can be told without unpickling."""
    if path.suffix == ".safetensors":
        check_safetensors(path)
    elif not is_zipfile(path):
        raise FormatError(
            f"{path} is no whole torch file (since torch 1.6 they are zip archives); it is "
            "unfinished, damaged, or very old: save it again as safetensors"
        )


def read_header(path: Path) -> tuple[dict[str, dict[str, object]], int]:
    """Tensor records of a safetensors file, and the byte at which the data begins.

    Raises:
        FormatError: The file is cut off, or is not safetensors.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        start = 8 + length
        if size < 8 or start > size or length > 100_000_000:
            raise FormatError(_damaged(path, "its header does not fit its size"))
        try:
            header = json.loads(file.read(length))
        except ValueError as error:
            raise FormatError(_damaged(path, "its header is not JSON")) from error
    header.pop("__metadata__", None)
    return header, start


def check_safetensors(path: Path) -> None:
    """Refuse a file that is shorter than its header says, or whose weights were left out.

    Raises:
        FormatError: The file is cut off, not safetensors, or holds placeholders.
    """
    header, start = read_header(path)
    ends = [int(record["data_offsets"][1]) for record in header.values()]  # pyright: ignore
    if start + max(ends, default=0) != path.stat().st_size:
        raise FormatError(_damaged(path, "its size is not what its header says"))
    blank = [name for name, r in header.items() if r["shape"] in ([0], [1]) and "weight" in name]
    if len(blank) > len(header) // 2:
        raise FormatError(
            f"{path} holds placeholders instead of weights ({blank[0]} is empty), as DeepSpeed "
            "ZeRO-3 saves without gathering; run zero_to_fp32.py, which lies beside the checkpoint"
        )


def n_values(path: Path) -> int:
    """Numbers that a safetensors file holds."""
    header, _ = read_header(path)
    return sum(math.prod(record["shape"]) for record in header.values())  # pyright: ignore


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is not a whole safetensors file ({why}); it is unfinished or damaged: wait for it "
        "to be saved, or fetch it again"
    )


def _refuse_pickles(path: Path) -> None:
    pickles = sorted([*path.glob("pytorch_model*.bin"), *path.glob("*.pt"), *path.glob("*.pth")])
    if not pickles:
        return
    raise UnsafeError(
        f"{path} holds its weights only as {pickles[0].name}, a pickle, which can run code; write "
        'them as safetensors: python -c "from transformers import AutoModelForCausalLM as M, '
        f"AutoTokenizer as T; d = {str(path)!r}; o = d + '-safetensors'; "
        'M.from_pretrained(d).save_pretrained(o); T.from_pretrained(d).save_pretrained(o)", '
        "or read its tensors alone with --allow-pickle"
    )


def _nothing(path: Path) -> str:
    """What a directory without a checkpoint holds, and what might be meant."""
    inner = [p for p in sorted(path.iterdir()) if p.is_dir() and (p / "config.json").exists()]
    inner += [p for p in sorted(path.iterdir()) if p.is_dir() and (p / ADAPTER_CONFIG).exists()]
    if inner:
        names = ", ".join(p.name for p in inner[:4])
        return f"{path} is not a checkpoint but holds {len(inner)}: {names}; name one of them"
    return (
        f"{path} is not a checkpoint: it has no config.json, {ADAPTER_CONFIG} or .gguf file; give "
        "the directory that your trainer saved, or a hub id"
    )


def adapter_base(path: Path) -> tuple[str | None, str | None]:
    """Base model and revision that an adapter names.

    Raises:
        FormatError: The adapter's config is not JSON.
    """
    file = path / ADAPTER_CONFIG
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"{file} is not JSON ({error}); the adapter is damaged") from error
    if not isinstance(config, dict):
        raise ModelError(f"{file} holds no settings; the adapter is damaged")
    return config.get("base_model_name_or_path"), config.get("revision")
