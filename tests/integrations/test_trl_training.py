"""Real steps of TRL on the demo's checkpoint: what the loss gets, and what its gradient carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from trl.trainer.grpo_trainer import GRPOTrainer

from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.integrations.trl import Recording
from hara_viz.store import Run, open_run
from hara_viz.types import Rollout, RolloutGroup
from tests.integrations.demo_training import demo_trainer, problems, right_answer, shortness

pytestmark = pytest.mark.slow

LOSSES = ("grpo", "dr_grpo", "dapo", "bnpo", "cispo", "sapo", "luspo", "vespo")


def train(path: Path, **options: Any) -> tuple[Any, Run]:
    """Train and open the record."""
    recording = Recording(path=path / "run", states=options.pop("states", "none"))
    trainer = demo_trainer(path / "out", record=recording, **options)
    trainer.train()
    return trainer, open_run(path / "run")


def groups_of(run: Run) -> list[RolloutGroup]:
    return [run.load_group(key) for key in run.keys()]  # noqa: SIM118


def rollouts_of(run: Run) -> list[Rollout]:
    return [rollout for group in groups_of(run) for rollout in group.rollouts]


def factors(rollout: Rollout) -> list[float]:
    """Coefficient over advantage of each token that has one."""
    assert rollout.recorded_coefficients and rollout.recorded_advantages
    pairs = zip(rollout.recorded_coefficients, rollout.recorded_advantages, strict=True)
    return [c / a for c, a in pairs if a]


def normaliser(loss_type: str, lengths: list[int], row: int, limit: int, epsilon: float) -> float:
    """The factor of a token's advantage in one batch of all rows, while the policy has not moved.

    By hand from each loss: the mean over rows of means (grpo, sapo), the mean over tokens (bnpo,
    dapo, cispo, vespo), over the longest possible rows (dr_grpo), or sums averaged over rows
    (luspo). CISPO's ratio is bounded from above, also where it is 1.
    """
    n_rows = len(lengths)
    return {
        "grpo": 1 / (n_rows * lengths[row]),
        "sapo": 1 / (n_rows * lengths[row]),
        "bnpo": 1 / sum(lengths),
        "dapo": 1 / sum(lengths),
        "vespo": 1 / sum(lengths),
        "cispo": min(1.0, epsilon) / sum(lengths),
        "dr_grpo": 1 / (n_rows * limit),
        "luspo": 1 / n_rows,
    }[loss_type]


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type", LOSSES)
def test_every_loss_trains_and_its_gradient_carries_each_tokens_advantage(
    tmp_path: Path, loss_type: str, level: str
) -> None:
    settings = {"loss_type": loss_type, "importance_sampling_level": level}
    trainer, run = train(tmp_path, settings=settings)
    before = demo_trainer(tmp_path / "before").model.state_dict()
    assert any(not torch.equal(v, before[k]) for k, v in trainer.model.state_dict().items())
    rollouts = rollouts_of(run)
    lengths = [len(rollout.completion_ids) for rollout in rollouts]
    assert any(len(set(r.recorded_advantages or ())) > 3 for r in rollouts)
    for row, rollout in enumerate(rollouts):
        expected = normaliser(loss_type, lengths, row, 70, trainer.epsilon_high)
        for factor in factors(rollout):
            assert factor == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_strength_0_is_plain_trl(tmp_path: Path, level: str) -> None:
    """Also in a second pass, where ratios are not 1 and some are clipped."""
    settings = {
        "importance_sampling_level": level, "loss_type": "grpo", "num_iterations": 2,
        "max_steps": 4, "epsilon": 0.01, "learning_rate": 0.3,
        "optim": "sgd",  # Adam's first steps turn rounding of small gradients into full steps
    }  # fmt: skip
    plain = demo_trainer(tmp_path / "a", trainer=GRPOTrainer, settings=settings)
    plain.train()
    ours = demo_trainer(tmp_path / "b", settings=settings, credit=CreditConfig(strength=0.0))
    ours.train()
    seen = [h.get("clip_ratio/region_mean", 0) for h in plain.state.log_history]
    assert max(seen) > 0  # else nothing was clipped, and the test would say less than it claims
    for name, value in plain.model.state_dict().items():
        assert torch.allclose(value, ours.model.state_dict()[name], atol=1e-5), name


@pytest.mark.parametrize(
    "settings",
    [
        {"scale_rewards": "group"},
        {"scale_rewards": "batch"},
        {"scale_rewards": "none"},
        {"multi_objective_aggregation": "normalize_then_sum"},
    ],
    ids=lambda s: "-".join(s.values()),
)
def test_the_trainers_own_scaling_stays(tmp_path: Path, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {
        "reward_funcs": [right_answer, shortness],
        "settings": {"reward_weights": [1.0, 0.5], **settings},
    }
    trainer, run = train(tmp_path, outcome_reward="right_answer", **options)
    recorded = [rollout.recorded_advantage for rollout in rollouts_of(run)]
    assert recorded == pytest.approx(list(trainer._logs["advantages"])[: len(recorded)])
    for rollout in rollouts_of(run):
        assert rollout.reward == (rollout.reward_parts or {})["right_answer"]
        weights, advantages = rollout.recorded_weights, rollout.recorded_advantages
        assert weights and advantages and rollout.recorded_advantage is not None
        assert sum(weights) / len(weights) == pytest.approx(1.0, abs=1e-5)
        scaled = [rollout.recorded_advantage * weight for weight in weights]
        assert advantages == pytest.approx(scaled, abs=1e-6)


def test_what_no_function_scored_is_unknown_and_moves_nothing(tmp_path: Path) -> None:
    def some(completions: Any, gold: Any, **rest: Any) -> list[float | None]:
        known = right_answer(completions, gold, **rest)
        return [None if i % 4 == 1 else value for i, value in enumerate(known)]

    _, run = train(tmp_path, reward_funcs=some)
    for group in groups_of(run):
        assert [rollout.reward is None for rollout in group.rollouts] == [False, True, False, False]
        unscored = group.rollouts[1]
        assert unscored.reward_reason == "no reward function scored it"
        assert set(unscored.recorded_advantages or ()) == {0.0}


def test_truncated_completions_that_the_loss_leaves_out_carry_nothing(tmp_path: Path) -> None:
    settings = {"mask_truncated_completions": True, "max_completion_length": 46}
    _, run = train(tmp_path, settings=settings)
    cut = [r for r in rollouts_of(run) if r.finish == "length"]
    whole = [r for r in rollouts_of(run) if r.finish == "stop"]
    assert cut and whole
    for rollout in cut:
        assert rollout.sampled_mask == (False,) * len(rollout.completion_ids)
        assert set(rollout.recorded_advantages or ()) == {0.0}
        assert rollout.recorded_coefficients is None
    assert all(rollout.sampled_mask is None for rollout in whole)


@pytest.mark.parametrize(
    "credit",
    [
        CreditConfig(signal="entropy"),
        CreditConfig(signal="surprisal"),
        CreditConfig(signal="position"),
        CreditConfig(granularity="step"),
        CreditConfig(granularity={"token": 0.5, "rollout": 0.5}),
    ],
    ids=lambda c: f"{c.signal}-{'-'.join(c.shares())}",
)
def test_rival_signals_and_other_granularities_train(tmp_path: Path, credit: CreditConfig) -> None:
    _, run = train(tmp_path, credit=credit)
    assert any(len(set(rollout.recorded_weights or ())) > 2 for rollout in rollouts_of(run))
    training = run.info.training
    assert training is not None and CreditConfig.from_json(training.credit) == credit
    assert training.layer == (5 if credit.signal == "hara" else None)


def test_a_batch_of_several_steps_is_recorded_whole_and_once(tmp_path: Path) -> None:
    settings = {
        "per_device_train_batch_size": 4, "steps_per_generation": 4, "max_steps": 6,
        "gradient_accumulation_steps": 1, "num_iterations": 1,
    }  # fmt: skip
    _, run = train(tmp_path, settings=settings)
    # 4 groups of 4 are drawn at steps 0 and 4; of the second batch two steps are never taken.
    assert [key.global_step for key in run.keys()] == [0] * 4 + [4] * 4  # noqa: SIM118
    first, second = groups_of(run)[:4], groups_of(run)[4:]
    assert all(r.recorded_coefficients for group in first for r in group.rollouts)
    known = [r.recorded_coefficients is not None for group in second for r in group.rollouts]
    assert known.count(True) == 8
    # The policy moves between the losses, so the logged values are those of the draw.
    logprobs = [v for group in first for r in group.rollouts for v in r.logprobs or ()]
    assert len(logprobs) == sum(len(r.completion_ids) for group in first for r in group.rollouts)


def test_evaluation_goes_on_as_in_trl(tmp_path: Path) -> None:
    settings = {"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 4}
    trainer, run = train(tmp_path, settings=settings, eval_dataset=problems(2))
    logged = {name for entry in trainer.state.log_history for name in entry}
    assert "eval_reward" in logged and not any(n.startswith("eval_hara") for n in logged)
    assert len(run.keys()) == 2  # of the training alone


def test_figures_are_logged(tmp_path: Path) -> None:
    trainer, run = train(tmp_path, settings={"max_steps": 2})
    entry = trainer.state.log_history[0]
    weights = torch.tensor([w for r in rollouts_of(run)[:8] for w in r.recorded_weights or ()])
    assert entry["hara/weight_std"] == pytest.approx(float(weights.std(correction=0)), abs=1e-4)
    alone = [
        sum(1 for other in group.rollouts if other.reward == rollout.reward) == 1
        for group in groups_of(run)[:2]
        for rollout in group.rollouts
    ]
    assert entry["hara/lone_rollouts"] == pytest.approx(sum(alone) / 8)
    assert 0 < entry["hara/solver_share"] < entry["hara/credit_share"] < 1
    assert entry["hara/solver_seconds"] > 0 and entry["hara/novelty"] > 0
    assert 0.1 < entry["hara/peak_memory_gib"] < 100
    assert entry["hara/not_converged"] == 0


def test_the_record_costs_less_than_three_per_cent_of_a_step(tmp_path: Path) -> None:
    settings = {"max_steps": 6, "per_device_train_batch_size": 16, "max_completion_length": 80}
    trainer, _ = train(tmp_path, states="all", settings=settings)
    shares = [h["hara/record_share"] for h in trainer.state.log_history if "hara/novelty" in h]
    assert len(shares) == 6 and sorted(shares)[3] < 0.03


def test_a_resumed_training_goes_on_with_its_record_and_a_new_one_refuses_it(
    tmp_path: Path,
) -> None:
    settings = {"save_strategy": "steps", "save_steps": 1}
    train(tmp_path, settings=settings)
    recording = Recording(path=tmp_path / "run")
    with pytest.raises(InvalidInputError, match="is a run already"):
        demo_trainer(tmp_path / "out", record=recording).train()
    again = demo_trainer(tmp_path / "out", record=recording, settings={"max_steps": 2})
    again.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-1"))
    run = open_run(tmp_path / "run")
    assert [key.global_step for key in run.keys()] == [0, 0, 1, 1]  # noqa: SIM118
    assert run.complete and not run.verify()


def test_an_adapter_is_trained_like_a_whole_model(tmp_path: Path) -> None:
    from peft import LoraConfig

    config = LoraConfig(r=4, lora_dropout=0.5, target_modules="all-linear")
    trainer, run = train(tmp_path, states="all", peft_config=config, settings={"max_steps": 2})
    assert run.layers == (5,)
    assert trainer.model.training  # the pass for the states gave it back as it was
    assert any(len(set(r.recorded_weights or ())) > 3 for r in rollouts_of(run))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"states_dtype": "float16"}, "states_dtype is 'float16'; choose one of bfloat16, float32"),
        ({"outcome_reward": "beauty"}, "the trainer has the reward functions right_answer"),
        ({"layers": (6,)}, "the model has hidden states 0 .* to 5"),
        ({"layers": ()}, "no layer was chosen"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        demo_trainer(tmp_path, **options)


def test_unknown_states_to_keep_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="choose one of all, mixed"):
        Recording(path="x", states="some")  # pyright: ignore[reportArgumentType]
