from __future__ import annotations

from benchmarks.doubt import of_run, power
from benchmarks.fidelity_parts.kept_runs import ROOT
from hara_viz.store import open_run


def test_figures_of_a_run_are_shares() -> None:
    run = open_run(ROOT / "assets" / "demo" / "runs" / "hara-000")
    found = of_run("demo", run, 1, 9)
    assert 0 <= found["spread_median"] <= found["spread_90"] <= 1
    assert 0 < found["agreement"] <= 1 and 0 <= found["top_tenth_stays_in_top_fifth"] <= 1
    # Nine shuffles cannot show a p below 0.1, so no step out of many is found.
    assert found["steps_found_outcomes"] == 0 == found["steps_found_time"]


def test_power_counts_the_planted_stretch_alone() -> None:
    nothing = power(0.0, 2, 39)
    assert nothing["power"] in (0.0, 0.5, 1.0) and 0 <= nothing["others"] <= 39
    assert power(0.0, 2, 39) == nothing
