"""COMPLETE: written last, with counts and the checksums of all rollouts and states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hara_viz.errors import FormatError
from hara_viz.store import layout
from hara_viz.store.files import sha256, write_text
from hara_viz.store.index import read_index
from hara_viz.store.schema import SCHEMA_VERSION
from hara_viz.store.text_json import to_json


def write_complete(run: Path, known: Mapping[Path, str] | None = None) -> None:
    """Mark a run complete; checksums that are not known yet are computed."""
    known = known or {}
    index = read_index(run)
    lengths = index.column("lengths").to_pylist()
    document = {
        "schema_version": SCHEMA_VERSION,
        "n_groups": index.num_rows,
        "n_rollouts": sum(len(of_group) for of_group in lengths),
        "n_tokens": sum(sum(of_group) for of_group in lengths),
        "files": {
            str(path.relative_to(run)): {
                "bytes": path.stat().st_size,
                "sha256": known.get(path) or sha256(path),
            }
            for path in _part_files(run)
        },
    }
    write_text(run / layout.COMPLETE, to_json(document, indent=1) + "\n")


def read_complete(run: Path) -> dict[str, Any] | None:
    """The content of COMPLETE; None while the run grows or after it was broken off.

    Raises:
        FormatError: The file is damaged.
    """
    path = run / layout.COMPLETE
    try:
        document = json.loads(path.read_bytes())
        _ = [(int(f["bytes"]), str(f["sha256"])) for f in document["files"].values()]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); remove it and resume the run to write it again"
        ) from error
    return document


def find_damage(run: Path, *, checksums: bool) -> tuple[str, ...]:
    """One sentence per file of a complete run that is missing or not what was written.

    Args:
        run: The run's directory.
        checksums: Read every byte; else compare sizes, which takes milliseconds.
    """
    document = read_complete(run)
    if document is None:
        return ()
    found: list[str] = []
    for name, file in document["files"].items():
        path = run / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif path.stat().st_size != file["bytes"]:
            found.append(f"{name} has {path.stat().st_size} bytes, {file['bytes']} were written")
        elif checksums and sha256(path) != file["sha256"]:
            found.append(f"{name} does not have the bytes that were written")
    return tuple(found)


def _part_files(run: Path) -> list[Path]:
    rollouts = (run / layout.ROLLOUTS).glob("part-*.parquet")
    states = (run / layout.STATES).glob("*/part-*.safetensors")
    return sorted([*rollouts, *states])
