"""What a real TRL training wrote, imported, read and credited."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from hara_viz.backend.credit import credit_group
from hara_viz.backend.import_run import ImportJob, import_run
from hara_viz.backend.states import fill_states
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run

pytest.importorskip("trl")
PROBLEMS = Path(__file__).parents[2] / "assets" / "demo" / "problems.jsonl"


@pytest.mark.slow
def test_two_real_steps(tmp_path: Path) -> None:
    from trl import GRPOTrainer

    from tests.integrations.demo_training import CHECKPOINT, demo_trainer, right_answer, shortness

    trainer = demo_trainer(
        tmp_path / "training",
        trainer=GRPOTrainer,
        reward_funcs=[right_answer, shortness],
        settings={"max_steps": 2, "log_completions": True, "scale_rewards": "none"},
    )
    trainer.train()
    out = tmp_path / "run"
    job = ImportJob(source=tmp_path / "training", out=out, model=str(CHECKPOINT), problems=PROBLEMS)
    report = import_run(job)
    assert (report.format, report.steps) == ("trl", (1, 2))
    assert (report.n_rows, report.n_rollouts, report.group_sizes) == (16, 16, {4: 4})
    assert not report.skipped

    run = open_run(out)
    for key in run.keys():  # noqa: SIM118
        group = run.load_group(key)
        assert all(rollout.gold is not None for rollout in group.rollouts)
        parts = [rollout.reward_parts or {} for rollout in group.rollouts]
        assert all(part.keys() == {"right_answer", "shortness"} for part in parts)
        # Rewards without scaling: rebuilding the group right gives the trainer's own advantages.
        mean = group.rewards.mean()
        own = torch.tensor([r.recorded_advantage for r in group.rollouts], dtype=torch.float64)
        torch.testing.assert_close(own, group.rewards - mean, atol=1e-5, rtol=0)
        # `shortness` counted the ids that were sampled; text encoded again lacks the end mark.
        for rollout, part in zip(group.rollouts, parts, strict=True):
            sampled = round(-100 * (part["shortness"] or 0.0))
            assert len(rollout.completion_ids) in (sampled, sampled - 1)

    fill_states(run, str(CHECKPOINT), device="cpu")
    run = open_run(out)
    assert len(run.layers) == 1, "the only reader's states are the run's"
    credited = credit_group(run, run.keys()[0], CreditConfig(), run.layers[0])
    assert torch.isfinite(credited.credit.advantages).all()
