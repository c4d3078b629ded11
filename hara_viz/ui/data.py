"""Cached reads for the pages. Arguments are names, numbers and keys only: Streamlit hashes them.

What is read is shared between sessions and never written to. A `stamp` (when the run's files last
changed) is part of every key, so a growing run is read again and an unchanged one is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st

from hara_viz.analysis.figures import RunFigures, group_table, run_figures
from hara_viz.backend.credit import GroupCredit, kept_or_computed
from hara_viz.backend.runs import CreditInfo, Run, RunSummary, list_credit, list_runs, open_run
from hara_viz.credit import CreditConfig
from hara_viz.types import GroupKey, RolloutGroup
from hara_viz.ui.roots import DEMO_PREFIX, roots

# Files and folders whose change means that a run says something new.
_WATCHED = ("run.json", "groups.parquet", "rollouts", "states", "rewards", "annotations.jsonl")


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run's groups as lists show them, and the run's figures."""

    groups: pd.DataFrame
    """As `analysis.figures.group_table` gives them."""
    figures: RunFigures


def runs() -> tuple[RunSummary, ...]:
    """The runs below the runs folder, unreadable ones too, and those of the demo if it is shown."""
    places = roots()
    own, demo = _runs_below(places.runs), _runs_below(places.demo)
    return (*own, *(replace(shown, name=DEMO_PREFIX + shown.name) for shown in demo))


def run(name: str) -> Run:
    """An open run, by its name below the runs folder."""
    path = _path(name)
    return _run(str(path), run_stamp(name))


def run_table(name: str) -> RunTable:
    """The groups and figures of a run."""
    return _run_table(str(_path(name)), run_stamp(name))


def kept_credit(name: str) -> tuple[CreditInfo, ...]:
    """The credits that a run keeps on disk."""
    return _kept_credit(str(_path(name)), run_stamp(name))


def group(name: str, key: GroupKey) -> RolloutGroup:
    """One group of a run."""
    return _group(str(_path(name)), run_stamp(name), key)


def group_credit(name: str, key: GroupKey, config: CreditConfig, layer: int | None) -> GroupCredit:
    """The credit of one group under `config`; held in memory once it was computed or read."""
    return _credit(str(_path(name)), run_stamp(name), key, config.to_json(), layer)


def for_run(config: CreditConfig, run: Run) -> CreditConfig:
    """`config` with the run's own threshold of success, unless another one was chosen."""
    if config.success_threshold != CreditConfig().success_threshold:
        return config
    return replace(config, success_threshold=run.info.success_threshold)


def run_stamp(name: str) -> int:
    """When a run last changed: equal stamps, equal content."""
    return _stamp(_path(name))


def _path(name: str) -> Path:
    return roots().run_path(name)


def _runs_below(folder: Path | None) -> tuple[RunSummary, ...]:
    if folder is None or not folder.is_dir():
        return ()
    return _runs(str(folder), _stamp(folder))


def _stamp(folder: Path) -> int:
    read = (place for kind in ("states", "logprobs") for place in (folder / kind).glob("*"))
    places = (folder, *(folder / watched for watched in _WATCHED), *read)
    return max((p.stat().st_mtime_ns for p in places if p.exists()), default=0)


@st.cache_data(ttl=5, show_spinner=False)
def _runs(folder: str, stamp: int) -> tuple[RunSummary, ...]:
    return list_runs(Path(folder))


@st.cache_resource(max_entries=16, show_spinner=False)
def _run(path: str, stamp: int) -> Run:
    return open_run(Path(path))


@st.cache_resource(max_entries=64, show_spinner=False)
def _run_table(path: str, stamp: int) -> RunTable:
    opened = _run(path, stamp)
    groups = group_table(opened.summaries())
    return RunTable(groups, run_figures(groups))


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept_credit(path: str, stamp: int) -> tuple[CreditInfo, ...]:
    # Keeping credit changes the index of groups, and with it the stamp.
    return list_credit(_run(path, stamp))


@st.cache_resource(max_entries=64, show_spinner=False)
def _group(path: str, stamp: int, key: GroupKey) -> RolloutGroup:
    return _run(path, stamp).load_group(key)


@st.cache_resource(max_entries=48, show_spinner="Computing the credit of this group …")
def _credit(path: str, stamp: int, key: GroupKey, config: str, layer: int | None) -> GroupCredit:
    return kept_or_computed(_run(path, stamp), key, CreditConfig.from_json(config), layer)
