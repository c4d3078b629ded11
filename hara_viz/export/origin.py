"""Where an exported file comes from: versions, run, credit, and how to cite the method.

A file that is passed on says this itself, for nobody finds the command again: Parquet in its
metadata, CSV and JSONL in a last column, pages and pictures in a line below.
"""

from __future__ import annotations

from dataclasses import dataclass

import hara_viz
from hara_viz.backend.credit import NEEDS_STATES, default_layer
from hara_viz.credit.config import METHOD_VERSION, CreditConfig
from hara_viz.store import Run, describe_credit
from hara_viz.store.text_json import storable, to_json
from hara_viz.text import plain

CITATION = """@misc{hara2026,
  title         = {Hierarchical Credit Assignment for RLVR on Fused Gromov-Wasserstein Geometry},
  year          = {2026},
  eprint        = {2610.04344},
  archivePrefix = {arXiv}
}"""
"""BibTeX of the method."""

METADATA_KEY = "hara_viz"
"""Where Parquet files keep `Origin.as_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What made the numbers of a file."""

    runs: tuple[str, ...]
    """Names of the runs."""
    credit: str | None = None
    """Fingerprint of the credit: config, layer, states, rewards and method; None: no credit."""
    config: str | None = None
    """The `CreditConfig` as canonical JSON."""
    layer: int | None = None
    checkpoint: str | None = None
    """Path or id of the checkpoint that sampled the rollouts."""

    @property
    def line(self) -> str:
        """One line for people; model text has no part in it, and a run's name is made inert."""
        runs = ", ".join(self.runs[:3]) + (", …" if len(self.runs) > 3 else "")
        credit = "" if self.credit is None else f" · credit {self.credit}"
        return plain(
            f"HarA-Viz {hara_viz.__version__} · method {METHOD_VERSION}{credit} · run {runs} · "
            "cite arXiv:2610.04344"
        )

    @property
    def as_json(self) -> str:
        """All of it, for programs."""
        return to_json(
            {
                "hara_viz": hara_viz.__version__,
                "method_version": METHOD_VERSION,
                "runs": [storable(name) for name in self.runs],
                "credit": self.credit,
                "config": self.config,
                "layer": self.layer,
                "checkpoint": None if self.checkpoint is None else storable(self.checkpoint),
                "cite": CITATION,
            }
        )


def layer_of(run: Run, config: CreditConfig, layer: int | None) -> int | None:
    """The layer that a config reads: the one asked for, else the highest kept; None: it needs
    none, or the run holds none.
    """
    if config.signal not in NEEDS_STATES:
        return None
    return default_layer(run) if layer is None else layer


def origin_of(run: Run, config: CreditConfig | None = None, layer: int | None = None) -> Origin:
    """The origin of a file about one run.

    Args:
        run: an open run.
        config: of the credit that the file holds; None: it holds none.
        layer: whose states the credit was computed from; None: it reads none.
    """
    return Origin(
        runs=(run.name,),
        credit=None if config is None else describe_credit(run, config, layer).fingerprint,
        config=None if config is None else config.to_json(),
        layer=layer,
        checkpoint=run.info.checkpoint.path if run.info.checkpoint else None,
    )
