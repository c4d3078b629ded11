"""Hidden states on disk: `states/<layer>/part-*.safetensors`, rows as in the rollouts part.

Only the rows that are asked for are read from the disk: the file is mapped into memory, and the
tensor handed out is a view of that mapping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from hara_viz.errors import FormatError, InvalidInputError, ShapeError
from hara_viz.store.files import replacing
from hara_viz.store.layout import STATES, source_name
from hara_viz.types import HiddenStates, Projection, RolloutGroup

STORED_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def states_folder(run: Path, layer: int, source: str | None = None) -> Path:
    """Where the states of a layer lie.

    Args:
        run: The run's directory.
        layer: Non-negative layer.
        source: Fingerprint of the checkpoint that read the completions; None: the run's own.
    """
    if layer < 0:
        raise InvalidInputError(f"layer is {layer}; stored layers are counted from 0 (embeddings)")
    return run / STATES / (str(layer) if source is None else f"{layer}@{source_name(source)}")


def stored_layers(run: Path, source: str | None = None) -> tuple[int, ...]:
    """The layers of which a run holds states."""
    folder = run / STATES
    if not folder.is_dir():
        return ()
    wanted = "" if source is None else source_name(source)
    # A reading that failed at its first part leaves an empty folder.
    filled = (path for path in folder.iterdir() if next(path.glob("part-*.safetensors"), None))
    split = (path.name.partition("@") for path in filled)
    return tuple(sorted(int(name) for name, _, of in split if of == wanted and name.isdecimal()))


def write_states(path: Path, states: HiddenStates, dtype: torch.dtype) -> None:
    """Write one layer's states of one part."""
    tensors = {
        "states": states.states.detach().to("cpu", dtype).contiguous(),
        "offsets": states.offsets.detach().to("cpu", torch.int64).contiguous(),
    }
    metadata = {
        "layer": str(states.layer),
        "norm": "after" if states.after_norm else "before",
        "dtype": str(dtype).removeprefix("torch."),
        "projection": "" if states.projection is None else json.dumps(asdict(states.projection)),
    }
    write_tensors(path, tensors, metadata)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file in one piece.

    Raises:
        StoreError: The disk failed.
    """
    with replacing(path) as temporary:
        try:
            save_file(dict(tensors), temporary, metadata=dict(metadata))
        except SafetensorError as error:  # that is how the library tells of a failing disk
            raise OSError(str(error)) from error


def read_states(path: Path, first: int, count: int) -> HiddenStates:
    """States of rollouts `first` … `first + count − 1` of a part, memory-mapped, as stored.

    Raises:
        FormatError: The file is damaged or is not a states part.
    """
    try:
        with safe_open(path, framework="pt") as file:
            offsets = file.get_tensor("offsets")[first : first + count + 1]
            if len(offsets) != count + 1:
                raise FormatError(
                    f"{path} does not hold rollouts {first} to {first + count - 1}; it does not "
                    "belong to the rollouts part of the same name"
                )
            rows = file.get_slice("states")[int(offsets[0]) : int(offsets[-1])]
            metadata = file.metadata() or {}
        projection = metadata.get("projection")
        return HiddenStates(
            states=rows,
            offsets=offsets - offsets[0],
            layer=int(metadata["layer"]),
            after_norm=metadata["norm"] == "after",
            projection=Projection(**json.loads(projection)) if projection else None,
        )
    except (SafetensorError, OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); remove it and run `hara-viz states` again"
        ) from error


def describe_states(path: Path) -> str:
    """How a part's states came about and are stored, as canonical JSON."""
    try:
        with safe_open(path, framework="pt") as file:
            return json.dumps(file.metadata(), sort_keys=True)
    except (SafetensorError, OSError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); remove it and run `hara-viz states` again"
        ) from error


def merge_states(
    old: HiddenStates | None, fresh: HiddenStates, kept: Sequence[bool]
) -> HiddenStates:
    """The rows of `old`, and where a rollout has none there, those of `fresh` if they are kept.

    Args:
        old: What is stored, [N, D]; None: nothing.
        fresh: The same rollouts, read anew.
        kept: [B]: whether the fresh rows of a rollout are to be stored.
    """
    rows = [
        old.rows(b)
        if old is not None and len(old.rows(b))
        else fresh.rows(b)[: None if keep else 0]
        for b, keep in enumerate(kept)
    ]
    lengths = torch.tensor([0, *(len(of_rollout) for of_rollout in rows)])
    dtype = fresh.states.dtype
    return replace(
        fresh,
        states=torch.cat([of_rollout.to(dtype) for of_rollout in rows]),
        offsets=lengths.cumsum(0),
    )


def check_fits(groups: Sequence[RolloutGroup], states: HiddenStates) -> None:
    """Refuse states that do not belong to the rollouts they are stored with.

    A rollout has one row per token, or none at all (states are kept for some rollouts only).

    Raises:
        ShapeError: Some rollout has another number of rows.
    """
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    counts = states.offsets.diff().tolist()
    if len(counts) != len(rollouts):
        raise ShapeError(
            f"layer {states.layer}: states of {len(counts)} rollouts were given for a part of "
            f"{len(rollouts)}; rows must be as in the rollouts part"
        )
    for rollout, count in zip(rollouts, counts, strict=True):
        n_tokens = len(rollout.completion_ids)
        if count not in (0, n_tokens):
            name = f"{rollout.problem_id}/{rollout.group}/{rollout.sample}"
            raise ShapeError(
                f"layer {states.layer}, rollout {name}: {count} states for {n_tokens} tokens; pass "
                "one per token, or none"
            )
