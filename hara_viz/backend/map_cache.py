"""Finished maps beside their run: `maps/<name>.npz`, numbers and JSON alone, one file a map.

The name is a digest of the very points and of all settings, so that a kept map is never stale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hara_viz.analysis.projection import Projection, ProjectionConfig, project
from hara_viz.errors import StoreError
from hara_viz.store.files import replacing

FOLDER = "maps"
VERSION = 1
"""Of what a map looks like for equal points and settings."""
_KEPT = 60


def kept_projection(
    run: Path,
    points: np.ndarray,
    config: ProjectionConfig,
    labels: np.ndarray | None,
    landmarks: np.ndarray | None,
) -> Projection:
    """`project`, but a UMAP is kept with the run and read the next time."""
    if config.method != "umap":
        return project(points, config, labels=labels, landmarks=landmarks)
    arrays = {"points": points, "labels": labels, "landmarks": landmarks}
    name = map_name(arrays, asdict(config))
    if (held := kept_map(run, name)) is not None and "coordinates" in held[0]:
        stored, about = held
        return Projection(
            coordinates=stored["coordinates"],
            method=str(about["method"]),
            explained=tuple(about["explained"]),
            notes=tuple(about["notes"]),
            landmarks=stored.get("landmarks"),
        )
    found = project(points, config, labels=labels, landmarks=landmarks)
    kept = {"coordinates": found.coordinates}
    if found.landmarks is not None:
        kept["landmarks"] = found.landmarks
    about = {"method": found.method, "explained": found.explained, "notes": found.notes}
    keep_map(run, name, kept, about)  # a folder that cannot be written costs time, nothing else
    return found


def map_name(arrays: Mapping[str, np.ndarray | None], settings: Mapping[str, Any]) -> str:
    """The name of a map: 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps({"version": VERSION, **settings}, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"/{name}".encode())
        if array is not None:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def kept_map(run: Path, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """The arrays and the figures of a kept map; None if there is none that can be read."""
    try:
        with np.load(run / FOLDER / f"{name}.npz", allow_pickle=False) as held:
            arrays = {key: held[key] for key in held.files}
        return arrays, json.loads(arrays.pop("about").tobytes())
    except Exception:  # noqa: BLE001 - damage has a dozen classes; the map is computed anew
        return None


def keep_map(
    run: Path, name: str, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]
) -> str | None:
    """Keep a map; the oldest make room. Returns why it could not be kept, None if it was."""
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    path = run / FOLDER / f"{name}.npz"
    try:
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, about=text, **arrays)  # pyright: ignore[reportArgumentType]
        held = sorted(path.parent.glob("*.npz"), key=lambda found: found.stat().st_mtime)
        for old in held[:-_KEPT]:
            old.unlink(missing_ok=True)
    except (StoreError, OSError) as error:
        return str(error)
    return None
