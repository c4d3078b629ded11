"""What the heatmap shows is what the optimizer got: recorded by a trainer, computed again here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hara_viz.analysis.coefficients import recomputed_coefficients, recorded_coefficients
from hara_viz.analysis.signals import recorded_advantages
from hara_viz.backend.credit import credit_group
from hara_viz.backend.further_signals import Asked, further_values, offers
from hara_viz.backend.recorded import TOLERANCE, check_parity, check_step, trainer_config
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.integrations.trl import Recording
from hara_viz.store import Annotation, Kind, RewardsWriter, Run, RunWriter, annotate, open_run
from hara_viz.types import Judgement, TrainingInfo
from tests.integrations.demo_training import demo_trainer, right_answer, shortness
from tests.store.builders import make_group, make_info, make_states

STEPS = 3


def recorded_run(path: Path, **options: Any) -> Run:
    settings = {"max_steps": STEPS, "learning_rate": 1e-3, **options.pop("settings", {})}
    recording = Recording(path=path / "run", states=options.pop("states", "all"))
    demo_trainer(path / "out", record=recording, settings=settings, **options).train()
    return open_run(path / "run")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return recorded_run(tmp_path_factory.mktemp("parity"))


def assert_parity(run: Run) -> None:
    for step in range(STEPS):
        found = check_step(run, step)
        assert len(found) == 2 and all(p.holds for p in found), found
        assert all(p.difference is not None and p.difference <= TOLERANCE for p in found)
        assert all(p.n_tokens > 50 for p in found)


@pytest.mark.slow
def test_a_real_training_computed_again_from_disk(run: Run) -> None:
    assert_parity(run)
    spread = [len(set(r.recorded_weights or ())) for r in run.load_group(run.keys()[0]).rollouts]
    assert max(spread) > 10  # parity of equal weights would prove little


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"credit": CreditConfig(granularity={"token": 0.5, "step": 0.3, "rollout": 0.2})},
        {"credit": CreditConfig(signal="shear", incorrect="shield")},
        {"credit": CreditConfig(signal="entropy"), "states": "none"},
        {"credit": CreditConfig(reference="leave_one_out"), "layers": (2, -1)},
        {"states_dtype": "float32"},
        {
            "reward_funcs": [right_answer, shortness],
            "outcome_reward": "right_answer",
            "settings": {"scale_rewards": "batch"},
        },
        {"settings": {"mask_truncated_completions": True, "max_completion_length": 48}},
        {"settings": {"importance_sampling_level": "sequence", "loss_type": "grpo"}},
    ],
    ids=lambda o: "-".join(o),
)
def test_parity_holds_under_other_choices(tmp_path: Path, options: dict[str, Any]) -> None:
    assert_parity(recorded_run(tmp_path, **options))


@pytest.mark.slow
def test_other_settings_give_other_numbers(run: Run) -> None:
    key = next(k for k in run.keys() if len(set(run.load_group(k).rewards.tolist())) == 2)  # noqa: SIM118
    config = trainer_config(run)
    assert config is not None
    other = credit_group(run, key, replace(config, strength=0.2), 5)
    recorded = recorded_advantages(other.group)
    assert recorded is not None
    assert float(np.abs(recorded - other.credit.advantages.numpy()).max()) > 0.01


@pytest.mark.slow
def test_the_coefficients_are_three_signals(run: Run) -> None:
    key = next(k for k in run.keys() if len(set(run.load_group(k).rewards.tolist())) == 2)  # noqa: SIM118
    config = trainer_config(run)
    assert config is not None
    asked = Asked(run, run.load_group(key), config, 5)
    names = ("coefficient", "coefficient-recomputed", "coefficient-gap")
    locked = {offer.signal.name: offer.locked for offer in offers(asked)}
    assert [locked[name] for name in names] == ["", "", ""]
    recorded, again, gap = (further_values(asked, name) for name in names)
    assert np.isfinite(recorded).all() and np.abs(recorded).max() > 0
    np.testing.assert_allclose(recorded, again, rtol=1e-5)
    np.testing.assert_allclose(gap, 0, atol=1e-8)
    # Twice the strength moves what is computed here, not what was recorded.
    stronger = replace(asked, config=replace(config, strength=1.0))
    assert np.abs(further_values(stronger, names[2])).max() > 1e-4
    np.testing.assert_array_equal(further_values(stronger, names[0]), recorded)


@pytest.mark.slow
def test_without_states_the_sentence_says_so(tmp_path: Path) -> None:
    bare = recorded_run(tmp_path, states="none", settings={"max_steps": 1})
    for key in bare.keys():  # noqa: SIM118
        parity = check_parity(bare, key)
        assert parity.holds is None and parity.difference is None
        assert "keeps no hidden states of layer 5" in parity.reason
        assert 'Recording(states="all")' in parity.reason


@pytest.mark.slow
def test_mixed_keeps_the_states_of_groups_with_both_outcomes(tmp_path: Path) -> None:
    mixed = recorded_run(tmp_path, states="mixed")
    for key in mixed.keys():  # noqa: SIM118
        two = len(set(mixed.load_group(key).rewards.tolist())) == 2
        assert (check_parity(mixed, key).holds is True) == two


def written_run(path: Path, *, version: int = METHOD_VERSION, **changes: Any) -> Run:
    """A recorded run without a training: parity is refused before anything is computed."""
    training = TrainingInfo(
        trainer="trl 1.16.0", credit=CreditConfig().to_json(), method_version=version, layer=3
    )
    info = make_info(training=training, versions={"hara-viz": "0.0.9"})
    group = make_group()
    rollouts = tuple(
        replace(r, recorded_advantage=0.5, recorded_advantages=(0.5,) * len(r.completion_ids))
        for r in group.rollouts
    )
    with RunWriter(path, replace(info, **changes)) as writer:
        writer.write_part([replace(group, rollouts=rollouts)], [make_states([group])])
        writer.finish()
    return open_run(path)


def test_what_was_changed_since_cannot_be_checked(tmp_path: Path) -> None:
    run = written_run(tmp_path / "a")
    key = run.keys()[0]
    assert check_parity(run, key).difference is not None
    annotate(run.path, Annotation(kind=Kind.VERDICT, key=key, sample=0, reward=1.0))
    assert "rewards of this group were changed" in check_parity(open_run(run.path), key).reason
    again = written_run(tmp_path / "b")
    with RewardsWriter(again.path, "other") as writer:
        for part in writer.missing_parts:
            rollouts = [r for group in again.load_part(part) for r in group.rollouts]
            writer.write_part(part, rollouts, [Judgement(reward=1.0)] * len(rollouts))
        writer.finish()
    assert "rewards of this group were changed" in check_parity(open_run(again.path), key).reason


def test_another_version_of_the_method_is_named(tmp_path: Path) -> None:
    run = written_run(tmp_path / "a", version=99)
    reason = check_parity(run, run.keys()[0]).reason
    assert "version 99 of the method" in reason and "hara-viz 0.0.9" in reason


def test_a_sampled_run_has_nothing_to_compare(tmp_path: Path) -> None:
    run = written_run(tmp_path / "a", training=None)
    assert "no trainer recorded token advantages" in check_parity(run, run.keys()[0]).reason


def test_the_trainers_baseline_is_taken_while_it_holds(tmp_path: Path) -> None:
    run = written_run(tmp_path / "a")
    key = run.keys()[0]
    assert credit_group(run, key).credit.baseline.tolist() == [0.5] * 3
    by_rule = credit_group(run, key, CreditConfig(baseline="dr_grpo")).credit.baseline
    assert by_rule.tolist() == pytest.approx([-1 / 3, 2 / 3, -1 / 3])


def test_a_coefficient_whose_advantage_was_0_has_no_factor(tmp_path: Path) -> None:
    group = make_group(size=2)
    advantages, coefficients = ((0.0, 2.0, 1.0), (0.0, 0.0, 1.0, 1.0)), ((0.0, 0.2, 0.1), None)
    rollouts = tuple(
        replace(r, recorded_advantages=a, recorded_coefficients=c)
        for r, a, c in zip(group.rollouts, advantages, coefficients, strict=True)
    )
    recorded = replace(group, rollouts=rollouts)
    run = written_run(tmp_path / "a")
    credit = credit_group(run, run.keys()[0]).credit
    moved = replace(credit, advantages=torch.tensor([0.0, 1.0, 2.0, 0.0, 3.0, 1.0, 1.0]))
    found = recomputed_coefficients(recorded, moved)
    np.testing.assert_allclose(found[:3], [0.0, 0.1, 0.2])
    assert found[3] == 0.0 and np.isnan(found[4:]).all()
    assert np.isnan(recorded_coefficients(recorded)[3:]).all()
