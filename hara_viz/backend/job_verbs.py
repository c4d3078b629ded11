"""The verbs that can run as jobs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """A use-case that a job can run."""

    target: str
    """"module:function"; the function takes plain data (JSON) as keyword arguments, and `report`.
    It must skip what is done already, since a resumed job calls it again with the same arguments.
    """
    uses_device: bool = False
    """It loads a model: one such job at a time on the device named by its argument `device`."""


VERBS: dict[str, Verb] = {
    "sample": Verb("hara_viz.backend.job_calls:sample", uses_device=True),
    "states": Verb("hara_viz.backend.job_calls:states", uses_device=True),
    "import": Verb("hara_viz.backend.job_calls:import_dumps"),
    "score": Verb("hara_viz.backend.job_calls:score"),
    "credit": Verb("hara_viz.backend.job_calls:credit"),
    "exact": Verb("hara_viz.backend.job_calls:exact"),
}
"""By name, as on the command line."""
