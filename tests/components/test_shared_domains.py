"""Two frames in one colour domain: as if they were one group."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.backend.credit import credit_group
from hara_viz.components.token_heatmap import Frame, decode, encode, frame_of, shared_domains
from hara_viz.components.token_heatmap.domains import LEVELS, level_values
from hara_viz.store import open_run

FOLDER = Path(__file__).parents[2] / "hara_viz" / "components"


@pytest.fixture(scope="module")
def frames(small_run: Path) -> list[Frame]:
    run = open_run(small_run)
    found = [credit_group(run, key) for key in run.keys()[:2]]
    return [frame_of(f.group, f.credit) for f in found]


def test_it_is_the_quantiles_of_all_values_together(frames: list[Frame]) -> None:
    domains = shared_domains(frames)
    values = np.concatenate([level_values(f, "novelty", "token") for f in frames])
    assert domains["token"]["novelty"] == pytest.approx(np.quantile(values, [0.02, 0.98]))
    low, high = domains["token"]["shift"]
    assert low == -high, "signed signals keep zero in the middle"
    narrow = domains["rollout"]["novelty"]
    assert narrow[1] - narrow[0] < np.ptp(domains["token"]["novelty"])


def test_it_rides_in_the_frame_and_back(frames: list[Frame]) -> None:
    whole = replace(frames[0], domains=shared_domains(frames))
    assert decode(encode(whole)).domains == whole.domains
    assert decode(encode(frames[0])).domains == {}
    assert encode(whole) != encode(frames[0])


def test_the_browser_takes_it(frames: list[Frame], tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    domains = shared_domains(frames)
    asked = [(level, name) for level in LEVELS for name in ("novelty", "shift")]
    for number, frame in enumerate(frames):
        (tmp_path / f"{number}.bin").write_bytes(encode(replace(frame, domains=domains)))
        script = f"""
            import {{ readFileSync }} from "node:fs";
            import {{ parseFrame }} from "{FOLDER}/token_heatmap/frame.js";
            import {{ autoDomain }} from "{FOLDER}/token_heatmap/values.js";
            const frame = parseFrame(new Uint8Array(readFileSync("{tmp_path}/{number}.bin")));
            const asked = {json.dumps(asked)};
            const found = asked.map(([level, name]) => autoDomain(frame, name, level));
            console.log(JSON.stringify(found));
        """
        (tmp_path / "ask.mjs").write_text(script)
        shown = subprocess.run(
            [node, str(tmp_path / "ask.mjs")],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        expected = [domains[level][name] for level, name in asked]
        np.testing.assert_allclose(json.loads(shown.stdout), expected)
