"""A barycenter as it comes about, round after round: what the Learn page draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from hara_viz.analysis.atoms import atom_centres
from hara_viz.analysis.projection import ProjectionConfig, project
from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.transport import row_values
from hara_viz.errors import InvalidInputError
from hara_viz.ot import BarycenterSolution, solve_barycenter
from hara_viz.store import Run

__all__ = ["BarycenterFilm", "barycenter_film", "states_in_the_plane"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarycenterFilm:
    """Rounds of the alternation on one outcome class, in a plane that all of them share."""

    rows: tuple[int, ...]
    """Rows of the group."""
    tokens: tuple[np.ndarray, ...]
    """[T_r, 2] per row: its own tokens in the plane of the two principal components."""
    atoms: np.ndarray
    """[rounds + 1, K, 2]; the first is the monotone start."""
    plans: tuple[tuple[np.ndarray, ...], ...]
    """Per round (the start left out) the plans [T_r, K]."""
    changes: tuple[float, ...]
    """Relative change of the barycenter per round."""
    converged: bool
    explained: float
    """Share of the states' variance that the plane shows."""

    @property
    def n_rounds(self) -> int:
        """Rounds until the solver stopped."""
        return len(self.plans)


def states_in_the_plane(run: Run, found: GroupCredit) -> tuple[dict[int, np.ndarray], float]:
    """Normalised states of a group in the plane of its two principal components.

    Returns:
        By row of the group [T, 2], and the share of the variance that the plane shows.

    Raises:
        InvalidInputError: the run does not keep the group's states.
    """
    values = {row: states for row, (states, _) in row_values(run, found).items() if len(states)}
    if not values:
        raise InvalidInputError("no rollout of this group is scored; choose another group")
    places, _, explained = _plane(list(values.values()), None)
    return dict(zip(values, places, strict=True)), explained


def barycenter_film(run: Run, found: GroupCredit, success: bool) -> BarycenterFilm:
    """Solve one outcome class again, stopped after 1, 2, … rounds.

    Args:
        run: an open run.
        found: the group's credit by "hara".
        success: which outcome.

    Raises:
        InvalidInputError: the class is empty or a lone rollout, or its states are not kept.
    """
    outcome = next((o for o in found.credit.outcomes if o.success is success), None)
    if outcome is None or outcome.barycenter is None:
        raise InvalidInputError(
            "an outcome with fewer than two rollouts has no barycenter; choose the other outcome "
            "or another group"
        )
    values = row_values(run, found)
    states = [values[row][0] for row in outcome.rows]
    locations = [values[row][1] for row in outcome.rows]
    whole = _stopped_after(found.config.max_iterations, states, locations, found)
    solved = [
        *(_stopped_after(n, states, locations, found) for n in range(1, whole.iterations)),
        whole,
    ]
    k = solved[-1].features.shape[0]
    start = [_monotone(len(of_row), k) for of_row in states]
    steps = [start, *([plan.double().numpy() for plan in one.plans] for one in solved)]
    atoms = np.stack([atom_centres(plans, states) for plans in steps])
    places, marks, explained = _plane(states, atoms.reshape(-1, atoms.shape[-1]))
    assert marks is not None
    return BarycenterFilm(
        rows=outcome.rows,
        tokens=tuple(places),
        atoms=marks.reshape(*atoms.shape[:2], 2),
        plans=tuple(tuple(plans) for plans in steps[1:]),
        changes=solved[-1].changes,
        converged=solved[-1].converged,
        explained=explained,
    )


def _stopped_after(
    n_rounds: int, states: list[np.ndarray], locations: list[np.ndarray], found: GroupCredit
) -> BarycenterSolution:
    config = replace(found.config, max_iterations=n_rounds, solver="anchored", refine=0)
    return solve_barycenter(
        [torch.from_numpy(of_row) for of_row in states],
        [torch.from_numpy(of_row) for of_row in locations],
        config.solver_config(),
    )


def _monotone(n_tokens: int, k: int) -> np.ndarray:
    """The start of method §4: [T, K] overlaps of [i/T, (i+1)/T] with [k/K, (k+1)/K]."""
    rows, columns = np.arange(n_tokens)[:, None] / n_tokens, np.arange(k)[None] / k
    ends = np.minimum(rows + 1 / n_tokens, columns + 1 / k)
    return np.clip(ends - np.maximum(rows, columns), 0, None)


def _plane(
    states: list[np.ndarray], landmarks: np.ndarray | None
) -> tuple[list[np.ndarray], np.ndarray | None, float]:
    config = ProjectionConfig(method="pca", metric="euclidean")
    found = project(np.concatenate(states), config, landmarks=landmarks)
    ends = np.cumsum([len(of_row) for of_row in states])[:-1]
    return np.split(found.coordinates, ends), found.landmarks, float(sum(found.explained))
