"""The points of a joint map's fit under other seeds."""

from __future__ import annotations

from dataclasses import replace

from hara_viz.analysis.map_quality import map_quality
from hara_viz.analysis.projection import fit_map
from hara_viz.backend.joint_map import (
    JointRequest,
    compared,
    fit_rows,
    joint_points,
    map_jointly,
)
from hara_viz.types import Progress, Report, ignore_progress

__all__ = ["joint_seed_overlaps"]


def joint_seed_overlaps(
    request: JointRequest, seeds: tuple[int, ...], report: Report = ignore_progress
) -> tuple[float, ...]:
    """How far other seeds draw the points of the fit alike: neighbour overlap with the map.

    Returns:
        For each seed the mean share of a point's k nearest neighbours on the one map that are among
        its k nearest on the other, compared among the points that the map's own quality is.

    Raises:
        InvalidInputError: as `map_jointly`, or fewer than 4 points.
    """
    found = joint_points(request, report)  # the choice of points follows the seed, so it is kept
    points, some = fit_rows(request, found, report), compared(request, found)
    base = map_jointly(request, report).projection.coordinates[some]
    overlaps: list[float] = []
    for number, seed in enumerate(seeds):
        report(Progress(stage="drawing it again", done=number, total=len(seeds), unit="maps"))
        other = fit_map(points, replace(request.projection, seed=seed))
        overlaps.append(map_quality(base, other.projection.coordinates[some]).overlap)
    return tuple(overlaps)
