"""Rewards versions: `rewards/<version>/part-*.parquet`, from scoring a run again.

A version counts once its COMPLETE file is there, so a killed scoring changes nothing; the latest
complete version overrides the reward columns of the rollouts. Parts that a run grew afterwards
keep the rewards they were sampled with until the version is brought up to date.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hara_viz.errors import FormatError
from hara_viz.store import layout
from hara_viz.store.parquet import read_table

_VERSION = re.compile(r"v(\d{4,})")
HEADER = "reward.json"


def list_versions(run: Path) -> tuple[str, ...]:
    """Names of the complete rewards versions, oldest first."""
    return tuple(
        v for v in all_versions(run) if (version_folder(run, v) / layout.COMPLETE).exists()
    )


def latest_version(run: Path) -> str | None:
    """The version that overrides the rollouts' own rewards; None if the run has none."""
    versions = list_versions(run)
    return versions[-1] if versions else None


def version_parts(run: Path, version: str) -> tuple[str, ...]:
    """The parts of the run that a version has scored."""
    return layout.list_parts(version_folder(run, version), ".parquet")


def reward_of_version(run: Path, version: str) -> str:
    """The name of the reward that a version was scored with."""
    path = version_folder(run, version) / HEADER
    try:
        return str(json.loads(path.read_bytes())["reward"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path} is damaged ({error}); score the run again") from error


def read_rewards(run: Path, version: str, part: str) -> list[dict[str, Any]]:
    """Rows of `REWARDS`, as in the rollouts part; empty if the version does not have the part."""
    path = version_folder(run, version) / f"{part}.parquet"
    return read_table(path).to_pylist() if path.exists() else []


def all_versions(run: Path) -> tuple[str, ...]:
    """Names of all versions, unfinished ones too, oldest first."""
    folder = run / layout.REWARDS
    names = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    return tuple(sorted((n for n in names if _VERSION.fullmatch(n)), key=version_number))


def version_number(version: str) -> int:
    """Inverse of the name `v0001`."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise FormatError(f"{version!r} is not a rewards version (expected v0001 and so on)")
    return int(match[1])


def version_folder(run: Path, version: str) -> Path:
    """Where a version lies."""
    version_number(version)
    return run / layout.REWARDS / version
