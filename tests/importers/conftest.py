from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hara_viz.backend.import_run import ImportJob, import_run, tokenizer_of
from hara_viz.importers import ImportReport, Tokenizer
from hara_viz.models import load_reader
from hara_viz.store import open_run
from hara_viz.types import RolloutGroup

Imported = Callable[..., tuple[ImportReport, tuple[RolloutGroup, ...]]]


@pytest.fixture(scope="session")
def tokenizer(tiny_policy_dir: Path) -> Tokenizer:
    return tokenizer_of(load_reader(tiny_policy_dir), "tiny")


@pytest.fixture
def imported(tiny_policy_dir: Path, tmp_path: Path) -> Imported:
    """Import a source with the tiny policy's tokenizer; its report and groups."""

    def run(source: Path, **changes: Any) -> tuple[ImportReport, tuple[RolloutGroup, ...]]:
        out = tmp_path / "runs" / "imported"
        fields: dict[str, Any] = {"model": str(tiny_policy_dir), **changes}
        report = import_run(ImportJob(source=source, out=out, **fields))
        opened = open_run(out)
        assert opened.complete and not opened.verify()
        return report, tuple(opened.load_group(key) for key in opened.keys())  # noqa: SIM118

    return run


def rewards(groups: Sequence[RolloutGroup]) -> list[list[float | None]]:
    return [[rollout.reward for rollout in group.rollouts] for group in groups]
