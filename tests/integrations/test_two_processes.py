"""Two processes (gloo) give the advantages that one gives, groups across the border included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hara_viz.backend.recorded import check_parity
from hara_viz.credit import CreditConfig
from hara_viz.store import Run, open_run

ROOT = Path(__file__).parents[2]


def train(out: Path, n_processes: int, group_size: int, config: CreditConfig) -> Run:
    script = ["-m", "tests.integrations.two_processes", str(out), str(group_size), config.to_json()]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*launcher, f"--nproc-per-node={n_processes}", *script]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return open_run(out / "run")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group_size", "config"),
    [
        # 6 rows a process: groups of 4 straddle in the middle, one of 12 fills both, 3 do not.
        (4, CreditConfig()),
        (4, CreditConfig(granularity={"token": 0.5, "step": 0.5}, signal="entropy")),
        (12, CreditConfig(normalize="center_l2")),
        (3, CreditConfig()),
    ],
    ids=["straddling", "straddling-steps-entropy", "one-group-on-both", "not-straddling"],
)
def test_two_processes_give_what_one_gives(
    tmp_path: Path, group_size: int, config: CreditConfig
) -> None:
    one = train(tmp_path / "one", 1, group_size, config)
    two = train(tmp_path / "two", 2, group_size, config)
    assert one.keys() == two.keys() and len(one.keys()) == 2 * 12 // group_size
    moved = 0.0
    for key in one.keys():  # noqa: SIM118
        for a, b in zip(one.load_group(key).rollouts, two.load_group(key).rollouts, strict=True):
            assert a.completion_ids == b.completion_ids and a.reward == b.reward
            assert a.recorded_advantage == pytest.approx(b.recorded_advantage, abs=1e-6)
            assert a.recorded_advantages and b.recorded_advantages
            np.testing.assert_allclose(a.recorded_advantages, b.recorded_advantages, atol=1e-6)
            np.testing.assert_allclose(
                np.asarray(a.recorded_coefficients), np.asarray(b.recorded_coefficients), atol=1e-6
            )
            moved = max(moved, np.ptp(np.asarray(a.recorded_weights)))
        for run in (one, two):
            assert check_parity(run, key).holds
    assert moved > 0.1
