"""`run.json`: the header of a run, to and from `RunInfo`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from hara_viz.errors import FormatError, InvalidInputError, MissingInputError, SchemaError
from hara_viz.store.files import write_text
from hara_viz.store.schema import SCHEMA_VERSION
from hara_viz.store.text_json import to_json
from hara_viz.types import (
    CheckpointInfo,
    Message,
    RunInfo,
    SamplingConfig,
    Series,
    TrainingInfo,
)

FILE_NAME = "run.json"

_Record = TypeVar("_Record")


def write_header(run: Path, info: RunInfo) -> None:
    """Write `run.json`.

    Raises:
        InvalidInputError: A field holds what JSON cannot (an object in `template_kwargs`).
        StoreError: The disk failed.
    """
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **asdict(info)}
    if info.sampling is not None:
        document["sampling"]["few_shot"] = [turn._asdict() for turn in info.sampling.few_shot]
    try:
        text = to_json(document, indent=2)
    except TypeError as error:
        raise InvalidInputError(f"the run's settings cannot be written as JSON: {error}") from error
    write_text(run / FILE_NAME, text + "\n")


def read_header(run: Path) -> RunInfo:
    """Read `run.json`; fields that this version does not know are left out.

    Raises:
        MissingInputError: There is no such run.
        FormatError: The file is not a run's header.
        SchemaError: A newer version wrote it.
    """
    document = _read_document(run)
    version = document.get("schema_version")
    if not isinstance(version, int):
        raise FormatError(f"{run / FILE_NAME} names no schema_version; it is not a run's header")
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"{run} was written by a newer HarA-Viz (schema {version}, this version reads up to "
            f"{SCHEMA_VERSION}); upgrade it with `pip install -U hara-viz`"
        )
    try:
        return _info_from(document)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise FormatError(f"{run / FILE_NAME} is not a run's header: {error}") from error


def checkpoint_from(document: Mapping[str, Any]) -> CheckpointInfo:
    """A checkpoint's record from JSON; raises TypeError where it is none."""
    return _record(CheckpointInfo, document)


def _read_document(run: Path) -> dict[str, Any]:
    try:
        document = json.loads((run / FILE_NAME).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        what = "holds no run.json" if run.is_dir() else "does not exist"
        raise MissingInputError(
            f"{run} {what}; give the directory of a run, as `hara-viz sample --out` makes it"
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{run / FILE_NAME} is not JSON ({error}); restore the file") from error
    if not isinstance(document, dict):
        raise FormatError(f"{run / FILE_NAME} holds no JSON object; it is not a run's header")
    return document


def _info_from(document: Mapping[str, Any]) -> RunInfo:
    values = dict(document)
    if values.get("checkpoint") is not None:
        values["checkpoint"] = checkpoint_from(values["checkpoint"])
    if values.get("series") is not None:
        values["series"] = _record(Series, values["series"])
    if values.get("training") is not None:
        values["training"] = _record(TrainingInfo, values["training"])
    if values.get("sampling") is not None:
        sampling = dict(values["sampling"])
        turns = sampling.get("few_shot", [])
        sampling["few_shot"] = tuple(Message(turn["role"], turn["content"]) for turn in turns)
        values["sampling"] = _record(SamplingConfig, sampling)
    threshold = values.get("success_threshold", 0.5)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise ValueError(f"success_threshold is {threshold!r}, not a number")
    return _record(RunInfo, values)


def _record(kind: type[_Record], values: Mapping[str, Any]) -> _Record:
    """A frozen record from JSON: known fields only, lists as tuples."""
    known = {field.name for field in fields(kind)}  # pyright: ignore[reportArgumentType]
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
            if name in known
        }
    )
