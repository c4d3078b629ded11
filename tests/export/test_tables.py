"""Tables of a run: their numbers are those of the credit and of the run's figures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.export import export_table
from hara_viz.export.sheets import cell_text
from hara_viz.export.tables import TABLES
from hara_viz.store import RunWriter
from tests.small_runs import HOSTILE, HOSTILE_TEXTS
from tests.store.builders import make_info

CONFIG = CreditConfig()


def test_tokens_carry_text_and_every_signal(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    n_rows = export_table(run, "tokens", tmp_path / "t.parquet", CONFIG)
    table = pd.read_parquet(tmp_path / "t.parquet")
    groups = [run.load_group(key) for key in run.keys()]  # noqa: SIM118
    assert n_rows == len(table) == sum(len(r.completion_ids) for g in groups for r in g.rollouts)
    of_rollouts = table.groupby(["problem_id", "sample"], sort=False)
    for group in groups:
        found = credit_group(run, group.key, CONFIG)
        own = table[table["problem_id"] == group.key.problem_id]
        np.testing.assert_allclose(own["novelty"], found.credit.novelty, rtol=1e-6)
        np.testing.assert_allclose(own["advantage"], found.credit.advantages, rtol=1e-5)
        for rollout in group.rollouts:
            rows = of_rollouts.get_group((group.key.problem_id, rollout.sample))
            assert "".join(rows["text"]) == rollout.completion_text
            assert rows["token_id"].tolist() == list(rollout.completion_ids)
            assert rows["token"].tolist() == list(range(len(rows)))


def test_hostile_text_survives_csv(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    keys = [key for key in run.keys() if key.problem_id == HOSTILE.problem_id]  # noqa: SIM118
    out = tmp_path / "r.csv"
    assert export_table(run, "rollouts", out, CONFIG, keys=keys) == 4
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [cell_text(row["completion_text"]) for row in rows]
    assert [t.removesuffix("<|im_end|>") for t in texts] == [text for text, _ in HOSTILE_TEXTS]
    assert [row["outcome"] for row in rows] == ["right", "right", "wrong", "wrong"]
    baseline = credit_group(run, keys[0], CONFIG).credit.baseline
    np.testing.assert_allclose([float(row["advantage"]) for row in rows], baseline, rtol=1e-6)


def test_groups_need_no_states(small_runs: Path, tmp_path: Path) -> None:
    run = open_run(small_runs / "no-states")
    assert export_table(run, "groups", tmp_path / "g.csv", CONFIG) == 3
    table = pd.read_csv(tmp_path / "g.csv")
    assert table["n_success"].tolist() == run.summaries()["n_success"].tolist()
    assert "part" not in table and "made_by" in table


def test_rollouts_without_states_have_no_novelty(small_runs: Path, tmp_path: Path) -> None:
    run = open_run(small_runs / "no-states")
    export_table(run, "rollouts", tmp_path / "r.parquet", CreditConfig(signal="entropy"))
    table = pd.read_parquet(tmp_path / "r.parquet")
    assert table["mean_novelty"].isna().all() and table["reward"].notna().all()


def test_refusals(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    with pytest.raises(InvalidInputError, match=r"end it with \.csv or \.parquet"):
        export_table(run, "groups", tmp_path / "g.xlsx", CONFIG)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", TABLES)
def test_a_run_without_groups_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    with RunWriter(tmp_path / "empty", make_info()) as writer:
        writer.finish()
    run = open_run(tmp_path / "empty")
    with pytest.raises(InvalidInputError, match="empty holds no finished group yet"):
        export_table(run, name, tmp_path / "t.csv", CONFIG)
    assert not (tmp_path / "t.csv").exists()
