"""The benchmarks run, on tiny sizes, and say what they claim to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ot import growth
from benchmarks.ot_parts.planted import objective, planted
from hara_viz.ot import fgw_barycenter

ROOT = Path(__file__).parents[2]


def run(module: str, *arguments: str) -> str:
    # In a process of their own: they bind threads and processors.
    found = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_table_and_its_json_agree(tmp_path: Path) -> None:
    out = tmp_path / "ot.json"
    sizes = ["--lengths", "24", "32", "--peer-lengths", "24", "--ott-lengths"]
    shown = run(
        "benchmarks.ot", *sizes, "--largest", "2", "40", "64", "--repeats", "1", "--threads", "1",
        "--json", str(out),
    )  # fmt: skip
    found = json.loads(out.read_text(encoding="utf-8"))
    assert "calibration" in shown and found["machine"]["gflops"] > 0
    assert [row["T"] for row in found["rows"]] == [24, 32]
    first, second = found["rows"]
    assert first["ratio_to_pot"] == pytest.approx(first["pot_s"] / first["ours_s"])
    assert f"| 24 | {first['ours_s']:.3f} |" in shown and "pot_s" not in second
    assert 0.8 < first["objective_over_pot"] < 1.2
    assert all(row["converged"] and row["over_bare_products"] > 0 for row in found["rows"])
    assert (found["largest"]["T"], found["largest"]["D"]) == (40, 64)


def test_groups_together_get_the_bits_of_groups_alone(tmp_path: Path) -> None:
    out = tmp_path / "groups.json"
    sizes = ["--groups", "2", "--dim", "24", "--repeats", "1", "--threads", "1"]
    run("benchmarks.training_group", *sizes, "--json", str(out))
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 8 and all(row["equal"] for row in rows)


def test_growth_is_the_exponent() -> None:
    rows = [{"T": n, "s": 3e-6 * n**1.3} for n in (256, 1024, 4096, 16384)]
    rows[0]["s"] = 5.0  # overhead below 1,024 does not count
    assert growth(rows, "s") == pytest.approx(1.3)
    assert growth(rows[:2], "s") is None


def test_the_objective_of_equal_points_is_their_spread_in_time() -> None:
    group = planted([12, 12], 8)
    flat = type(group)([h * 0 for h in group.features], group.locations)
    solution = fgw_barycenter(flat.features, flat.locations, n_support=12, alpha=0.5, epsilon=1e-3)
    assert objective(flat, solution, 0.5) == pytest.approx(0.0, abs=5e-3)
