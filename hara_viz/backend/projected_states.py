"""States of a layer kept small: the models room's random projection, and what it costs in truth."""

from __future__ import annotations

from dataclasses import replace

from hara_viz.errors import InvalidInputError
from hara_viz.models import distance_error, project_states, projection_matrix
from hara_viz.types import HiddenStates, Projection


def project_layer(states: HiddenStates, size: int, *, seed: int = 0) -> HiddenStates:
    """States [N, D] -> [N, size], with the error of distances as measured on these very states.

    The matrix depends on (seed, D, size) alone, so all parts of a run share a space.

    Raises:
        InvalidInputError: the size is out of range, or the states are projected already.
    """
    if states.projection is not None:
        raise InvalidInputError("these states are projected already; take the originals")
    width = states.states.shape[1]
    full = states.states.float()
    small = project_states(full, projection_matrix(width, size, seed))
    return replace(
        states,
        states=small,
        projection=Projection(
            source_size=width, seed=seed, error=distance_error(full, small, seed)
        ),
    )


def check_size(size: int, width: int) -> None:
    """Refuse a projection that does not make states of `width` dimensions smaller."""
    if not 1 <= size < width:
        raise InvalidInputError(
            f"the projection has size {size}; it must be from 1 to {width - 1}, below the states' "
            f"own {width}"
        )
