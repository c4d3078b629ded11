"""Signals on demand: their values against a way of their own, and why one is locked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz import open_run
from hara_viz.backend.credit import credit_of
from hara_viz.backend.further_signals import (
    Asked,
    further_of,
    further_values,
    is_further,
    offers,
    own_channel,
)
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import Reading, ReadingWriter
from hara_viz.types import CheckpointInfo, RolloutGroup
from tests.small_runs import APPLES, PENS, write_run


def asked_of(path: Path, problem_id: str = PENS.problem_id, **changes: object) -> Asked:
    run = open_run(path)
    key = next(key for key in run.keys() if key.problem_id == problem_id)  # noqa: SIM118
    return replace(Asked(run, run.load_group(key), CreditConfig(), None), **changes)


def locks(asked: Asked) -> dict[str, str]:
    return {offer.signal.name: offer.locked for offer in offers(asked)}


@pytest.mark.parametrize(
    ("name", "changes"),
    [("opposite", {"reference": "opposite_outcome"}), ("shear", {"signal": "shear"})],
)
def test_another_solve_is_that_of_the_credit(
    small_run: Path, name: str, changes: dict[str, str]
) -> None:
    # Granularity belongs to the weights: it must not reach the values shown per token.
    asked = asked_of(small_run, config=CreditConfig(alpha=0.3, granularity="step"))
    states = asked.run.load_states(asked.group.key, 4)
    expected = credit_of(asked.group, states, CreditConfig(alpha=0.3, **changes)).credit.novelty
    np.testing.assert_allclose(further_values(asked, name), expected, rtol=1e-6)
    assert locks(asked)[name] == ""


def test_position_runs_from_0_to_1_in_every_rollout(small_run: Path) -> None:
    asked = asked_of(small_run)
    values = further_values(asked, "position")
    start = 0
    for rollout in asked.group.rollouts:
        own = values[start : start + len(rollout.completion_ids)]
        assert (own[0], own[-1]) == (0.0, 1.0) and (np.diff(own) > 0).all()
        start += len(own)
    assert start == len(values)


def test_what_a_trainer_recorded(small_run: Path) -> None:
    asked = asked_of(small_run)
    assert "recorder" in locks(asked)["recorded"]
    with pytest.raises(InvalidInputError, match="No trainer recorded"):
        further_values(asked, "recorded-gap")
    first, *others = asked.group.rollouts
    group = RolloutGroup((replace(first, recorded_advantage=0.25), *others))
    asked = replace(asked, group=group)
    values = further_values(asked, "recorded-gap")
    n_tokens = len(first.completion_ids)
    assert set(values[:n_tokens]) == {0.25} and np.isnan(values[n_tokens:]).all()
    further = further_of(asked.run, "recorded-gap")
    assert further is not None and own_channel(further.signal) == "recorded"


def test_one_outcome_has_no_other_to_compare_with(small_run: Path) -> None:
    reasons = locks(asked_of(small_run, APPLES.problem_id))
    assert "mixed problem" in reasons["opposite"] and "mixed problem" in reasons["shear"]
    assert reasons["position"] == ""


def test_without_states_the_command_is_named(small_runs: Path) -> None:
    asked = asked_of(small_runs / "no-states")
    assert "`hara-viz states no-states --model MODEL`" in locks(asked)["opposite"]
    with pytest.raises(InvalidInputError, match="keeps no hidden states"):
        further_values(asked, "shear")


def test_the_log_ratio_is_locked_until_a_reference_has_read_the_run(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    asked = asked_of(path)
    assert "`hara-viz states run --model REFERENCE --layers none`" in locks(asked)["log-ratio"]
    reader = CheckpointInfo(path="models/reference", fingerprint="abcdef0123456789")
    with ReadingWriter(path, reader) as writer:
        for part in writer.missing_parts:
            groups = open_run(path).load_part(part)
            writer.write_part(
                part,
                groups,
                [
                    Reading(tuple(p - 0.5 for p in r.logprobs or ()))
                    for group in groups
                    for r in group.rollouts
                ],
            )
        writer.finish()
    asked = asked_of(path)
    name = "log-ratio@abcdef01"
    assert locks(asked)[name] == "" and "log-ratio" not in locks(asked)
    np.testing.assert_allclose(further_values(asked, name), 0.5, atol=1e-6)
    processed = RolloutGroup(
        tuple(replace(r, logprobs_kind="processed") for r in asked.group.rollouts)
    )
    assert "kind processed" in locks(replace(asked, group=processed))[name]


def test_names_that_links_may_ask_for(small_run: Path) -> None:
    assert is_further("shear") and is_further("log-ratio@abcdef01") and is_further("recorded")
    assert not is_further("novelty") and not is_further("") and not is_further("shear2")
    with pytest.raises(InvalidInputError, match="no signal 'x' on demand"):
        further_values(asked_of(small_run), "x")
