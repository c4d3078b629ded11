from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.fidelity_parts.kept_runs import ROOT
from benchmarks.fidelity_parts.tokens import KINDS, kinds, results
from benchmarks.rivals import correlations, table
from benchmarks.token_weights import SETTINGS, eta_squared, measure
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run


def demo():
    return open_run(ROOT / "assets" / "demo" / "runs" / "hara-000")


def test_kinds_of_tokens() -> None:
    rollout = demo().load_group(demo().keys()[3]).rollouts[0]
    pieces = ["So", " the", " 3", " *", " 4", " =", " 14", ".", "\n", "\\boxed", "{", "14", "}"]
    pieces.append("<|end|>")
    starts = np.cumsum([0, *map(len, pieces)])[:-1].tolist()
    said = replace(
        rollout,
        completion_text="".join(pieces),
        completion_ids=tuple(range(len(pieces))),
        cell_start=tuple(starts),
        sampled_mask=None,
        reasoning_step=None,
        logprobs=None,
        entropy=None,
        answer_start=None,
        answer_end=None,
    )
    assert kinds(said) == [
        *("function word", "function word", "number", "operator", "number", "operator"),
        *("wrong result", "punctuation", "line break", "box", "box", "number", "box"),
        "end of text",
    ]
    assert len(kinds(rollout)) == len(rollout.completion_ids)
    assert set(kinds(rollout)) <= set(KINDS)


def test_results_of_equations_hold_or_do_not() -> None:
    text = "3 * 4 = 14, 14 + 24 = 38, 7 / 2 = 3, 8/2=4, 1 / 0 = 0, 9 - 12 = 3"
    found = [(text[begin:end], holds) for begin, end, holds in results(text)]
    expected = [("14", False), ("38", True), ("3", False), ("4", True), ("0", False), ("3", False)]
    assert found == expected


def test_eta_squared_by_hand() -> None:
    ids = np.array([0, 0, 1, 1])
    assert eta_squared(np.array([1.0, 1.0, 5.0, 5.0]), ids) == pytest.approx(1.0)
    assert eta_squared(np.array([1.0, 5.0, 1.0, 5.0]), ids) == pytest.approx(0.0)
    assert eta_squared(np.array([0.0, 2.0, 2.0, 4.0]), ids) == pytest.approx(0.5)
    assert math.isnan(eta_squared(np.ones(4), ids))


@pytest.mark.parametrize("setting", ["default", "step", "entropy"])
def test_weights_of_kinds_average_to_one(setting: str) -> None:
    found = measure("demo", demo(), 5, setting, 2)
    total = sum(found.weights[kind] * found.counts[kind] for kind in found.weights)
    assert total / found.n_tokens == pytest.approx(1.0, abs=1e-4)
    assert sum(found.counts.values()) == found.n_tokens
    assert 0 <= found.by_id <= 1 and found.spread > 0


def test_every_setting_is_a_config() -> None:
    fingerprints = {CreditConfig(**options).fingerprint for options in SETTINGS.values()}
    assert len(fingerprints) == len(SETTINGS)


def test_signals_are_correlated_pair_by_pair() -> None:
    found, n_classes = correlations(demo(), 4)
    assert n_classes >= 2 and len(found) == 10
    assert all(-1 <= rho <= 1 for rho in found.values())
    assert found["entropy, surprisal"] > 0.5  # both say how sure the model was
    assert f"{found['hara, position']:+.2f}" in table(found)
