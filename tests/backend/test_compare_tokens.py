"""Token level: common spaces, alignment, usage, drift, methods, a fixed text."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from hara_viz.analysis.usage import usage
from hara_viz.backend.compare import outline, run_groups
from hara_viz.backend.compare_drift import DriftSettings, Spot, drift, half_rows
from hara_viz.backend.compare_methods import (
    compare_methods,
    group_methods,
    methods_under,
    token_classes,
    winning_spans,
)
from hara_viz.backend.compare_readings import read_text, reader_command
from hara_viz.backend.compare_spaces import common_space
from hara_viz.backend.compare_tokens import Side, align_at, usage_at
from hara_viz.backend.credit import credit_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import Reading, ReadingWriter, open_run
from hara_viz.types import CheckpointInfo
from tests.compared_runs import rotation, write_compared
from tests.small_runs import APPLES, HOSTILE, PENS

CONFIG = CreditConfig().to_json()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compared(tmp_path_factory.mktemp("compared"))


def spot(folder: Path, name: str) -> Spot:
    return Spot(str(folder / name), 0, None)


def side(folder: Path, name: str, problem: str = PENS.problem_id) -> Side:
    keys = open_run(folder / name).keys()
    (key,) = (k for k in keys if k.problem_id == problem)
    return Side(spot(folder, name), key)


def test_a_change_of_basis_is_found_from_shared_beginnings(compared: Path) -> None:
    space = common_space(spot(compared, "early"), spot(compared, "late"))
    assert space.fit is not None and space.layer == 4
    assert space.fit.residual < 0.05
    assert space.fit.residual_unmapped > 0.5, "without the fit the bases do not agree"
    run = open_run(compared / "early")
    states = run.load_states(run.keys()[0], 4)
    assert states is not None
    own = states.states.float()
    back = space.fit.mapped((own @ rotation()).numpy())
    assert np.linalg.norm(back - own.numpy()) < 0.1 * float(own.norm())
    assert "residual of" in space.sentence and "same context" in space.sentence


def test_strangers_are_compared_by_structure_alone(compared: Path) -> None:
    space = common_space(spot(compared, "early"), spot(compared, "stranger"))
    assert space.fit is None
    assert "not of one series" in space.sentence
    found = align_at(side(compared, "early"), side(compared, "stranger"), 0, 0, CONFIG)
    assert found.feature.max() < 1e-6
    assert found.plan.sum() == pytest.approx(1, abs=1e-5)


def test_equal_rollouts_align_word_for_word(compared: Path) -> None:
    # Rollout 0 is the same text under both checkpoints.
    found = align_at(side(compared, "early"), side(compared, "late"), 0, 0, CONFIG)
    n_tokens = len(found.plan)
    assert found.plan.shape == (n_tokens, n_tokens)
    np.testing.assert_allclose(found.plan.sum(axis=1), 1 / n_tokens, rtol=1e-4)
    assert list(found.plan.argmax(axis=1)) == list(range(n_tokens))
    assert found.plan.max(axis=1).min() * n_tokens > 0.9


def test_other_rollouts_align_by_their_words(compared: Path) -> None:
    # Early 2 counts box by box, as late 2 does; early 0 ends alike in "12 pens."
    found = align_at(side(compared, "early"), side(compared, "late"), 2, 3, CONFIG)
    assert list(found.plan.argmax(axis=1)) == list(range(len(found.plan)))
    with pytest.raises(InvalidInputError, match="no rollout 77"):
        align_at(side(compared, "early"), side(compared, "late"), 77, 0, CONFIG)


def test_what_the_late_policy_repeats_became_usual(compared: Path) -> None:
    found, space = usage_at(side(compared, "early"), side(compared, "late"), True, CONFIG)
    assert space.fit is not None
    assert found.a.rows == (0, 1, 2) and found.b.rows == (0, 1, 2, 3, 4)
    counting = [np.mean(found.b.change[i]) for i in (2, 3, 4)]
    assert min(counting) > 0, "counting was one of three, is three of five"
    assert max(np.mean(found.b.change[i]) for i in (0, 1)) < min(counting)
    assert {s.row for s in found.became_usual(top=2)} <= {2, 3, 4}
    assert found.no_longer_novel(top=1)[0].row == 2
    with pytest.raises(InvalidInputError, match="B has 1 wrong"):
        usage_at(side(compared, "early"), side(compared, "late"), False, CONFIG)


def test_usage_is_a_difference_of_ranks() -> None:
    a, b = [np.array([0.0, 1.0])], [np.array([2.0, 3.0])]
    turned = [np.array([3.0, 2.0])], [np.array([1.0, 0.0])]
    found = usage([(a, turned[0]), (b, turned[1])], [(0,), (4,)])
    assert found.a.rank_a[0] == pytest.approx([0.125, 0.375])
    assert found.a.change[0] == pytest.approx([-0.75, -0.25])
    assert found.b.change[0] == pytest.approx([0.25, 0.75])
    assert found.b.rows == (4,)
    span = found.became_usual(window=1)[0]
    assert (span.row, span.start, span.mean) == (4, 1, 0.75)


def test_states_that_are_not_kept_name_the_command(small_runs: Path) -> None:
    run = open_run(small_runs / "no-states")
    empty = Side(Spot(str(run.path), 0, None), run.keys()[0])
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        align_at(empty, empty, 0, 0, CONFIG)
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        drift([empty.spot])


def test_equal_checkpoints_have_no_drift_above_the_null(compared: Path, tmp_path: Path) -> None:
    shutil.copytree(compared / "early", tmp_path / "twin")
    spots = [spot(compared, "early"), spot(tmp_path, "twin"), spot(compared, "late")]
    found = drift(spots)
    same = found.excess[0, 1].interval
    assert same.n == 2, "the apples have three rollouts: a half of one has no barycenter"
    assert same.value == pytest.approx(0, abs=1e-6)
    assert found.distance[0, 1] == pytest.approx(found.distance[0, 0], abs=1e-6)
    # The late run tells two problems alike: only the pens moved.
    assert found.distance.shape == (3, 3)
    np.testing.assert_allclose(found.distance, found.distance.T)


def test_halves_are_dealt_by_sample_and_disjoint(compared: Path) -> None:
    run = open_run(compared / "early")
    group = run.load_group(run.keys()[0])
    settings = DriftSettings()
    first, second = half_rows(group, 0, settings, run)
    assert sorted(first + second) == list(range(6)) and len(first) == 3
    right = half_rows(group, 0, DriftSettings(outcome="right"), run)
    assert sorted(right[0] + right[1]) == [0, 1, 2]
    assert set(right[0]) <= set(first)
    assert half_rows(group, 0, settings, run) == (first, second)
    with pytest.raises(InvalidInputError, match="all, right, wrong"):
        DriftSettings(outcome="most")  # pyright: ignore[reportArgumentType]


def test_methods_give_the_weights_of_the_credit(compared: Path) -> None:
    run = open_run(compared / "early")
    key = run.keys()[0]
    methods = methods_under(CreditConfig())
    found = group_methods(run, key, methods)
    assert found.refused == ("",) * len(methods)
    for method, weights in zip(methods, found.weights, strict=True):
        expected = credit_group(run, key, method.config).credit.weights.double().numpy()
        np.testing.assert_array_equal(weights, expected)
    names = [method.name for method in methods]
    uniform, hara = names.index("uniform"), names.index("hara")
    moved = found.agreement.moved[uniform, hara]
    classes = token_classes(run.load_group(key), 0.5)
    weights = found.weights[hara]
    assert weights is not None and (classes >= 0).all()
    assert moved == pytest.approx(0.5 * np.abs(weights - 1).mean())
    assert np.isnan(found.agreement.ranks[uniform, hara])
    spans = winning_spans(run.load_group(key), np.ones_like(weights), weights, top=1)
    assert spans[0].mean > 0
    over_all = compare_methods(run, CreditConfig())
    assert over_all.moved[uniform][hara].n == 3


def test_a_method_that_lacks_its_input_is_refused(small_runs: Path) -> None:
    run = open_run(small_runs / "no-states")
    found = group_methods(run, run.keys()[0], methods_under(CreditConfig()))
    named = zip(methods_under(CreditConfig()), found.refused, strict=True)
    refused = {method.name for method, why in named if why}
    assert refused == {"shear", "hara", "hara-states", "hara-places", "hara-steps", "hara-others"}
    assert np.isfinite(found.agreement.moved[0, 1])


def test_a_fixed_text_under_every_checkpoint_that_read_it(compared: Path, tmp_path: Path) -> None:
    shutil.copytree(compared / "early", tmp_path / "early")
    run = open_run(tmp_path / "early")
    reader = CheckpointInfo(path="models/late", fingerprint="bbbb" * 4, n_layers=4, hidden_size=24)
    with ReadingWriter(run.path, reader, (4,)) as writer:
        for part in writer.missing_parts:
            groups = run.load_part(part)
            rollouts = [r for g in groups for r in g.rollouts]
            said = [Reading(tuple(p - 0.25 for p in r.logprobs), r.entropy) for r in rollouts]
            own = run.load_states(groups[0].key, 4)
            writer.write_part(part, groups, said, [replace(own, states=own.states.clone())])
        writer.finish()
    run = open_run(run.path)
    others = [open_run(compared / name) for name in ("early", "late", "stranger")]
    checkpoints = outline([run_groups(other) for other in others])
    found = read_text(run, run.keys()[0], checkpoints, CreditConfig())
    writer_, late, stranger = found
    assert writer_.is_own and writer_.mean_log_ratio == 0.0 and writer_.novelty is not None
    assert late.mean_log_ratio == pytest.approx(-0.25, abs=1e-6)
    assert late.agreement == pytest.approx(1.0), "its states are the same"
    assert stranger.logprobs is None and stranger.novelty is None and stranger.log_ratio is None
    command = reader_command("early", stranger.checkpoint)
    assert command == "hara-viz states early --model models/stranger"


def test_every_problem_can_be_aligned(compared: Path) -> None:
    for problem in (HOSTILE, APPLES):
        found = align_at(
            side(compared, "early", problem.problem_id),
            side(compared, "late", problem.problem_id), 0, 0, CONFIG,
        )  # fmt: skip
        assert torch.isfinite(torch.from_numpy(found.plan)).all()
