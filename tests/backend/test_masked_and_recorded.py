"""Figures of runs with unsampled tokens, unscored rollouts and a trainer's own advantages."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from hara_viz.backend.annotations import annotate_group
from hara_viz.backend.compare_credit import read_credit
from hara_viz.backend.compare_read import read_answers
from hara_viz.backend.credit import credit_group, credit_run, default_config, kept_credit
from hara_viz.backend.recorded import check_parity
from hara_viz.backend.show import show_run
from hara_viz.credit import CreditConfig, assign_credit_packed
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.export import export_table, rows_of, tokens_table
from hara_viz.export.weights import weight_rows
from hara_viz.store import Run, RunWriter, open_run
from hara_viz.store.annotations import Kind
from hara_viz.types import RolloutGroup, TrainingInfo
from tests.store.builders import make_info, make_rollout, make_states

NAN = math.nan
MASK = (True, True, False, False, False, True)
ADVANTAGES = (0.7, -0.3, -0.2, -0.2)


def run_of(path: Path, groups: list[RolloutGroup], *, states: bool = True) -> Run:
    with RunWriter(path, make_info()) as writer:
        writer.write_part(groups, [make_states(groups)] if states else [])
        writer.finish()
    return open_run(path)


def recorded(*, n_tokens: int = 4) -> RolloutGroup:
    return RolloutGroup(
        tuple(
            make_rollout(
                0, s, n_tokens=n_tokens, reward=float(s == 0), recorded_advantage=ADVANTAGES[s]
            )
            for s in range(4)
        )
    )


def test_one_unsampled_token_does_not_spoil_the_entropy_of_others(tmp_path: Path) -> None:
    groups = [
        RolloutGroup(
            (
                make_rollout(
                    problem, 0, n_tokens=4, entropy=(1.0, 3.0, NAN, NAN),
                    sampled_mask=(True, True, False, False),
                ),
                make_rollout(problem, 1, n_tokens=4, entropy=(float(problem),) * 4),
            )
        )
        for problem in range(3)
    ]  # fmt: skip
    found = read_answers(run_of(tmp_path / "run", groups))
    assert found["entropy"].tolist() == [(2.0 + problem) / 2 for problem in range(3)]


def test_tokens_that_were_not_sampled_are_in_no_mean_and_no_minimum(tmp_path: Path) -> None:
    group = RolloutGroup(
        tuple(
            make_rollout(
                0, s, n_tokens=6, reward=float(s > 1), sampled_mask=MASK if s == 1 else None
            )
            for s in range(4)
        )
    )
    run = run_of(tmp_path / "run", [group])
    found = credit_group(run, run.keys()[0])
    own = torch.tensor(MASK)
    novelty = float(found.of_row(found.credit.novelty, 1)[own].mean())
    weights = found.of_row(found.credit.weights, 1)[own]
    line = show_run(run).groups[0].rollouts[1]
    assert line.novelty == pytest.approx(novelty)
    assert line.weights == pytest.approx((float(weights.min()), float(weights.max())))
    export_table(run, "rollouts", tmp_path / "rows.parquet", CreditConfig())
    row = pd.read_parquet(tmp_path / "rows.parquet").iloc[1]
    assert row["mean_novelty"] == pytest.approx(novelty)
    assert row["min_weight"] == pytest.approx(float(weights.min()))


def test_a_rollout_with_nothing_to_compare_with_has_no_novelty(tmp_path: Path) -> None:
    rewards = (1.0, 0.0, 0.0, None)  # alone in its outcome; a pair; unscored
    group = RolloutGroup(
        tuple(make_rollout(0, s, n_tokens=5, reward=reward) for s, reward in enumerate(rewards))
    )
    run = run_of(tmp_path / "run", [group])
    lines = show_run(run).groups[0].rollouts
    assert [line.novelty is not None for line in lines] == [False, True, True, False]
    export_table(run, "rollouts", tmp_path / "rows.parquet", CreditConfig())
    table = pd.read_parquet(tmp_path / "rows.parquet")
    assert table["mean_novelty"].notna().tolist() == [False, True, True, False]
    # Token by token too, in tables and for the heatmap; its weights are 1 and not unknown.
    export_table(run, "tokens", tmp_path / "tokens.parquet", CreditConfig())
    tokens = pd.read_parquet(tmp_path / "tokens.parquet")
    assert tokens["novelty"].notna().groupby(tokens["sample"]).all().tolist() == [
        False, True, True, False,
    ]  # fmt: skip
    assert set(tokens["weight"][tokens["sample"].isin([0, 3])]) == {0.0}
    rows = weight_rows(run, run.keys()[0], CreditConfig(), None)
    assert [row["novelty"] is not None for row in rows] == [False, True, True, False]
    assert set(rows[0]["weights"]) == {1.0}
    assert rows[0]["advantages"].tolist() == [rows[0]["baseline"]] * 5
    # Against the other outcome a lone one has something to differ from.
    config = CreditConfig(reference="opposite_outcome")
    lines = show_run(run, config=config).groups[0].rollouts
    assert [line.novelty is not None for line in lines] == [True, True, True, False]
    # What is kept on disk says the same.
    credit_run(run)
    found = kept_credit(open_run(run.path), run.keys()[0], default_config(run))
    assert found is not None
    means = [found.mean_novelty(row) for row in range(4)]
    assert [mean is not None for mean in means] == [False, True, True, False]
    # The list of groups has the mean over what is known: no zeros of the lone one in it.
    listed = open_run(run.path).summaries()["mean_novelty"][0]
    assert listed == pytest.approx(found.credit.novelty[5:15].mean().item(), rel=1e-6)


def test_uniform_credit_has_no_novelty_of_tokens(tmp_path: Path) -> None:
    group = RolloutGroup(
        tuple(make_rollout(0, s, n_tokens=3, reward=float(s < 2)) for s in range(4))
    )
    run = run_of(tmp_path / "run", [group])
    found = credit_group(run, run.keys()[0], CreditConfig(signal="uniform"))
    table = tokens_table(found)
    assert table[["novelty", "feature", "structure"]].isna().all(axis=None)
    assert set(table["weight"]) == {0.0}
    assert [row["novelty"] for row in rows_of(found)] == [None] * 4


def test_a_rival_that_is_unknown_has_no_mean_either(tmp_path: Path) -> None:
    entropies = ((1.0, 2.0), (2.0, 4.0), (1.0, NAN))
    group = RolloutGroup(
        tuple(
            make_rollout(0, s, n_tokens=2, reward=float(s == 2), entropy=entropy)
            for s, entropy in enumerate(entropies)
        )
    )
    run = run_of(tmp_path / "run", [group])
    found = credit_group(run, run.keys()[0], CreditConfig(signal="entropy", granularity="token"))
    assert [found.mean_novelty(row) is not None for row in range(3)] == [True, True, False]
    uniform = credit_group(run, run.keys()[0], CreditConfig(signal="uniform"))
    assert [uniform.mean_novelty(row) for row in range(3)] == [None] * 3


def test_a_table_of_a_run_without_states_has_the_trainers_advantages(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", [recorded()], states=False)
    export_table(run, "rollouts", tmp_path / "rows.parquet", CreditConfig())
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    assert rows["advantage"].tolist() == pytest.approx(ADVANTAGES)


@pytest.mark.parametrize("rule", ["grpo", "dr_grpo"])
def test_parity_holds_whatever_rule_the_trainers_config_names(tmp_path: Path, rule: str) -> None:
    config = CreditConfig(baseline=rule)  # pyright: ignore[reportArgumentType]
    group = RolloutGroup(
        tuple(make_rollout(0, s, n_tokens=5, reward=float(s > 1)) for s in range(4))
    )
    states, given = make_states([group]), torch.tensor([-0.9, -0.8, 0.8, 0.9])
    credit = assign_credit_packed(
        states.states.bfloat16(), states.offsets, group.rewards,
        torch.zeros(4, dtype=torch.long), config, baseline_advantages=given,
    )  # fmt: skip
    rows = zip(group.rollouts, given.double().tolist(), credit.advantages.chunk(4), strict=True)
    group = RolloutGroup(
        tuple(
            replace(r, recorded_advantage=a, recorded_advantages=tuple(row.tolist()))
            for r, a, row in rows
        )
    )
    training = TrainingInfo(
        trainer="trl", credit=config.to_json(), method_version=METHOD_VERSION, layer=3,
        loss_type="dapo", importance_sampling_level="token", scale_rewards="group", beta=0.0,
    )  # fmt: skip
    with RunWriter(tmp_path / "run", make_info(training=training)) as writer:
        writer.write_part([group], [states])
        writer.finish()
    run = open_run(tmp_path / "run")
    found = check_parity(run, run.keys()[0])
    assert found.difference == 0.0 and found.holds


def test_unscored_rollouts_are_in_no_mean_novelty(tmp_path: Path) -> None:
    group = RolloutGroup(
        tuple(
            make_rollout(0, s, n_tokens=6, reward=None if s > 3 else float(s > 1)) for s in range(6)
        )
    )
    credit_run(run_of(tmp_path / "run", [group]))
    run = open_run(tmp_path / "run")
    (kept,) = run.summaries()["mean_novelty"].tolist()
    (read,) = read_credit(run).groups["novelty"].tolist()
    assert kept == pytest.approx(read) and kept > 0


def test_a_verdict_makes_the_trainers_advantages_void_also_in_kept_credit(tmp_path: Path) -> None:
    credit_run(run_of(tmp_path / "run", [recorded(n_tokens=8)]))
    run = open_run(tmp_path / "run")
    key = run.keys()[0]
    kept = kept_credit(run, key, default_config(run))
    assert kept is not None
    assert kept.credit.baseline.tolist() == pytest.approx(ADVANTAGES)
    annotate_group(run, Kind.VERDICT, key, sample=0, reward=1.0, text="checked")
    judged = open_run(tmp_path / "run")
    assert kept_credit(judged, key, default_config(judged)) is None
