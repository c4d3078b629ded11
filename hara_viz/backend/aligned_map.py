"""The same text as several checkpoints read it: one map each, kept in line point by point.

The text is a group's rollouts. Each checkpoint has read it by teacher forcing (the verb `states`;
the one that wrote it has its states from sampling), so token i is token i under all of them, and
only the policy differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from hara_viz.analysis.aligned_umap import MIN_ALIGNED_POINTS, fit_aligned
from hara_viz.analysis.map_quality import MapQuality, map_quality
from hara_viz.analysis.projection import (
    ProjectionConfig,
    fair_choice,
    in_metric,
    principal_axes,
)
from hara_viz.backend.map_cache import keep_map, kept_map, map_name
from hara_viz.backend.project import points_of
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = ["AlignedMap", "AlignedRequest", "SliceFigures", "map_aligned", "text_readers"]

_SAME = ["sample", "token", "n_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedRequest:
    """Which maps: everything that their picture depends on. Hashable, so that it names a cache."""

    run: str
    """Path of the run whose rollouts are the text."""
    stamp: int
    """When it last changed."""
    key: tuple[int | None, str, int]
    layer: int
    sources: tuple[str | None, ...]
    """Fingerprints of the checkpoints, in the order of the maps; None: the run's own states."""
    projection: ProjectionConfig
    granularity: str = "token"
    max_points: int = 3000
    """On all maps together: AlignedUMAP takes about ten seconds per thousand."""


class SliceFigures(NamedTuple):
    """What one of the maps is worth, and how far it is from the one before."""

    quality: MapQuality
    """Its map against the states that it shows."""
    states_kept: float | None
    """Mean share of a point's k nearest states under the checkpoint before that are among its k
    nearest here; None: the first."""
    map_kept: float | None
    """The same between the two maps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedMap:
    """The same points on S maps."""

    points: pd.DataFrame
    """N rows: sample, token (the first of a step), n_tokens, success."""
    maps: tuple[np.ndarray, ...]
    """S × [N, 2 or 3] float32."""
    figures: tuple[SliceFigures, ...]
    method: str
    """"umap": AlignedUMAP; "pca": one set of axes for all."""
    n_states: int
    """Tokens or steps there were; `points` may hold fewer."""
    notes: tuple[str, ...]
    """What was left out or done otherwise, in sentences."""


def text_readers(
    run: Run, key: GroupKey, layer: int, fingerprints: Sequence[str]
) -> tuple[str, ...]:
    """Those of the checkpoints, in their order, under which the states of a group are kept."""
    return tuple(
        fingerprint
        for fingerprint in dict.fromkeys(fingerprints)
        if run.load_states(key, layer, source=fingerprint) is not None
    )


def map_aligned(request: AlignedRequest, report: Report = ignore_progress) -> AlignedMap:
    """The maps that a request names; a UMAP is kept with the run and read the next time.

    Raises:
        InvalidInputError: fewer than two checkpoints have states of this group, or they share too
            few points.
    """
    run = open_run(request.run)
    slices, table, notes = _common(run, request, report)
    strata = table.groupby("sample").ngroup()
    most = max(1, request.max_points // len(slices))
    chosen = fair_choice(strata, most, seed=request.projection.seed)
    if len(chosen) < len(table):
        notes.append(
            f"{len(chosen):,} of {len(table):,} points are shown on each map, evenly over rollouts "
            "and the same on all"
        )
    slices = [in_metric(points[chosen], request.projection.metric) for points in slices]
    report(Progress(stage="aligning the maps", done=0, total=1, unit="fits"))
    method = request.projection.method
    if method == "umap" and len(chosen) < MIN_ALIGNED_POINTS:
        method = "pca"
        notes.append(f"AlignedUMAP needs {MIN_ALIGNED_POINTS} points; these are shown by PCA")
    by_method = _kept_umap if method == "umap" else _by_axes
    maps = by_method(run, slices, request.projection)
    report(Progress(stage="aligning the maps", done=1, total=1, unit="fits"))
    return AlignedMap(
        points=table.iloc[chosen].reset_index(drop=True),
        maps=maps,
        figures=tuple(_figures(slices, maps)),
        method=method,
        n_states=len(table),
        notes=tuple(notes),
    )


def _common(
    run: Run, request: AlignedRequest, report: Report
) -> tuple[list[np.ndarray], pd.DataFrame, list[str]]:
    """The points [N, D] that all checkpoints have, under each, and what they are."""
    key, threshold = GroupKey(*request.key), run.info.success_threshold
    group = run.load_group(key)
    found: list[tuple[np.ndarray, pd.DataFrame]] = []
    for number, source in enumerate(request.sources):
        total = len(request.sources)
        report(Progress(stage="reading", done=number, total=total, unit="checkpoints"))
        states = run.load_states(key, request.layer, source=source)
        if states is None:
            raise InvalidInputError(
                f"checkpoint {(source or 'of its own')[:8]} has not read {run.name}, layer "
                f"{request.layer}; let it: `hara-viz states {run.name} --model …`"
            )
        found.append(points_of(group, states, request.granularity, threshold))
    if len(found) < 2:
        raise InvalidInputError(
            f"{len(found)} checkpoint has read {run.name}; maps are aligned between at least 2"
        )
    rows = [pd.MultiIndex.from_arrays([table[name] for name in _SAME]) for _, table in found]
    common = reduce(lambda a, b: a.intersection(b, sort=False), rows)
    if not len(common):
        raise InvalidInputError(
            f"no rollout of this group of {run.name} has states under all "
            f"{len(found)} checkpoints; read it with --states all"
        )
    slices = [points[own.get_indexer(common)] for (points, _), own in zip(found, rows, strict=True)]
    table = found[0][1].iloc[rows[0].get_indexer(common)].reset_index(drop=True)
    lost = max(map(len, rows)) - len(common)
    notes = [f"{lost:,} points lack states under some checkpoint"] if lost else []
    return slices, table[[*_SAME, "success"]], notes


def _kept_umap(
    run: Run, slices: Sequence[np.ndarray], config: ProjectionConfig
) -> tuple[np.ndarray, ...]:
    names = [f"map{number:04}" for number in range(len(slices))]
    name = map_name(dict(zip(names, slices, strict=True)), {"aligned": 1, **asdict(config)})
    held = kept_map(run.path, name)
    if held is not None and set(names) <= set(held[0]):
        return tuple(held[0][part] for part in names)
    maps = fit_aligned(slices, config)
    keep_map(run.path, name, dict(zip(names, maps, strict=True)), {"method": "aligned umap"})
    return maps


def _by_axes(
    run: Run, slices: Sequence[np.ndarray], config: ProjectionConfig
) -> tuple[np.ndarray, ...]:
    if len({points.shape[1] for points in slices}) > 1:
        raise InvalidInputError(
            f"checkpoints that read {run.name} have states of different dimensions, which no "
            "axes are common to; choose UMAP"
        )
    axes = principal_axes(np.concatenate(slices), config.n_components)
    return tuple(axes.scores(points) for points in slices)


def _figures(slices: Sequence[np.ndarray], maps: Sequence[np.ndarray]) -> Iterator[SliceFigures]:
    if len(maps[0]) < 4:
        return
    kept: list[tuple[float | None, float | None]] = [(None, None)]
    for states, shown in zip(pairwise(slices), pairwise(maps), strict=True):
        kept.append((map_quality(*states).overlap, map_quality(*shown).overlap))
    for points, shown, (in_states, on_map) in zip(slices, maps, kept, strict=True):
        yield SliceFigures(map_quality(points, shown), in_states, on_map)
