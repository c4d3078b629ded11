"""The heatmap evaluates signals in the browser, the tables in Python: they must be the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz import open_run
from hara_viz.analysis.signals import SIGNALS, signal_values
from hara_viz.backend.credit import credit_of
from hara_viz.components.token_heatmap import SIGNALS as SHOWN
from hara_viz.components.token_heatmap import frame_of
from hara_viz.components.token_heatmap import signal_values as values_shown
from hara_viz.credit import CreditConfig
from hara_viz.types import RolloutGroup


def test_names_labels_and_signs_are_one() -> None:
    told = [(s.name, s.label, s.meaning, s.signed) for s in SIGNALS.values()]
    assert [(s.name, s.label, s.meaning, s.signed) for s in SHOWN] == told


@pytest.mark.parametrize("name", SIGNALS)
def test_values_are_one(small_run: Path, name: str) -> None:
    run = open_run(small_run)
    key = run.keys()[0]
    group = run.load_group(key)
    recorded = [replace(r, recorded_advantage=0.1 * r.sample) for r in group.rollouts]
    found = credit_of(RolloutGroup(tuple(recorded)), run.load_states(key, 4), CreditConfig())
    expected = signal_values(name, found.group, found.credit)
    assert expected is not None
    shown = values_shown(frame_of(found.group, found.credit), name)
    np.testing.assert_allclose(shown, expected, atol=1e-6)
