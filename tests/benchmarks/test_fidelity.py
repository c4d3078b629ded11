"""The figures of `benchmarks.fidelity`: the same numbers by hand, and a quick run."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import torch

from benchmarks.fidelity import main, spread, verdicts
from benchmarks.fidelity_parts.agreement import Agreement, agreement, bootstrap, ranks, solve
from benchmarks.fidelity_parts.classes import planted_classes
from benchmarks.fidelity_parts.curves import CURVES, EXACT, curve
from hara_viz.ot import SolverConfig


def test_quick_run_prints_what_it_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    threads = torch.get_num_threads()
    main(["--quick", "--json", str(tmp_path / "found.json")])
    torch.set_num_threads(threads)
    shown, found = capsys.readouterr().out, json.loads((tmp_path / "found.json").read_text())
    assert [a["source"] for a in found["agreement"]] == ["planted"] * 3
    assert all(0 < a["ceiling"] <= 1 and 0 < a["same_start"] <= 1 for a in found["agreement"])
    assert [p["options"] for p in found["curves"]] == CURVES["refine"]
    for row in found["verdicts"]:
        assert f"{row['mean']:+.3f}" in shown and row["low"] <= row["mean"] <= row["high"]


def test_one_class_by_hand() -> None:
    (tested,) = planted_classes(1)
    found = agreement(tested)
    ours = [solve(tested, seed=seed) for seed in (0, 1, 2)]
    exact = [solve(tested, seed=seed, solver="exact") for seed in (0, 1, 2)]
    assert found.same_start == pytest.approx(ranks(ours[0], exact[0]))
    crossed = [ranks(ours[i], exact[j]) for i in range(3) for j in range(3) if i != j]
    assert found.other_start == pytest.approx(sum(crossed) / 6)
    among = [ranks(exact[0], exact[1]), ranks(exact[0], exact[2]), ranks(exact[1], exact[2])]
    assert found.ceiling == pytest.approx(sum(among) / 3)
    # The cost of exact plans is the objective (1) itself, averaged over rollouts.
    value = sum(float(cost.mean()) for cost in exact[0].costs) / len(exact[0].costs)
    restarted = sum(float(c.mean()) for s in exact[1:] for c in s.costs) / 2 / len(exact[0].costs)
    assert found.restarted == pytest.approx(restarted / value, rel=1e-3)


def test_bootstrap_counts_clusters_not_classes() -> None:
    values = [0.1, 0.2, 0.3, 0.4]
    apart = bootstrap(values, ["a", "b", "c", "d"])
    together = bootstrap(values * 25, ["a", "b", "c", "d"] * 25)
    assert (apart[0], together[0]) == pytest.approx((0.25, 0.25))
    assert together[1:] == pytest.approx(apart[1:])  # copies of a class tell nothing new
    assert bootstrap([0.5] * 4, ["a", "b", "c", "d"]) == pytest.approx((0.5, 0.5, 0.5))
    # Two clusters: half of the draws hold both, a quarter one of them alone.
    assert bootstrap([0.0, 1.0], ["a", "b"])[1:] == (0.0, 1.0)


def test_a_verdict_asks_the_lower_bound() -> None:
    def of(ours: float, number: int) -> Agreement:
        return Agreement(
            "run", f"c{number}", 1, 2, 9, ours, ours, 0.8, 0.9, 1.0, 1.0, 0.1, 0.1, True
        )

    good = verdicts([of(0.79 + 0.001 * n, n) for n in range(9)])
    bad = verdicts([of(0.6 + 0.05 * n, n) for n in range(9)])  # the same mean, widely spread
    assert all(row["met"] for row in good) and not any(row["met"] for row in bad)


def test_curves_are_settings_and_the_oracle_follows_the_problem() -> None:
    for options in itertools.chain.from_iterable(CURVES.values()):
        SolverConfig(**options)  # each is one
    tested = list(planted_classes(2))
    points = list(curve("n_support", tested))
    ceilings = [point.ceiling for point in points]
    assert len(set(ceilings)) == len(ceilings)  # K is the problem's, so exact moves with it
    assert "n_support" in EXACT and "epsilon" not in EXACT
    assert len({point.ceiling for point in curve("tolerance", tested)}) == 1
    assert spread(list(range(10)), 3) == [0, 3, 6]
