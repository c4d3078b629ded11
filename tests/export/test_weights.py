"""Weights for a trainer: bit for bit what `hara_viz.credit` gives, beside the token ids."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from hara_viz import open_run
from hara_viz.backend.credit import credit_group, credit_run
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.export import export_weights, origin_of, rows_of, weights_bytes
from hara_viz.export.origin import METADATA_KEY
from hara_viz.export.weights import WEIGHTS
from hara_viz.store import RunWriter, describe_credit
from hara_viz.types import RolloutGroup
from tests.small_runs import APPLES, PENS, PENS_TEXTS, group_of, states_of

CONFIG = CreditConfig(alpha=0.3, strength=0.8)


def read(path: Path) -> list[dict]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().split("\n") if line]
    return pq.read_table(path).to_pylist()


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_rows_are_the_credit_bit_for_bit(small_run: Path, tmp_path: Path, suffix: str) -> None:
    run = open_run(small_run)
    out = tmp_path / f"weights{suffix}"
    assert export_weights(run, out, CONFIG) == 0
    rows = read(out)
    assert len(rows) == 13 and len({(r["problem_id"], r["sample"]) for r in rows}) == 13
    for key in run.keys():  # noqa: SIM118
        found = credit_group(run, key, CONFIG)
        own = [row for row in rows if row["problem_id"] == key.problem_id]
        for place, (row, rollout) in enumerate(zip(own, found.group.rollouts, strict=True)):
            assert row["completion_ids"] == list(rollout.completion_ids)
            assert row["sampled_mask"] == [True] * len(rollout.completion_ids)
            for name in ("weights", "advantages", "novelty"):
                expected = found.of_row(getattr(found.credit, name), place)
                assert torch.equal(torch.tensor(row[name], dtype=torch.float32), expected)
            assert np.float32(row["baseline"]) == np.float32(found.credit.baseline[place])
            assert row["reward"] == rollout.reward


def test_the_file_says_where_it_comes_from(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    for suffix in (".parquet", ".jsonl"):
        export_weights(run, tmp_path / f"w{suffix}", CONFIG)
    meta = json.loads(pq.read_schema(tmp_path / "w.parquet").metadata[METADATA_KEY.encode()])
    fingerprint = describe_credit(run, CONFIG, 4).fingerprint
    assert (meta["credit"], meta["layer"], meta["runs"]) == (fingerprint, 4, ["small"])
    assert CreditConfig.from_json(meta["config"]) == CONFIG
    assert all(fingerprint in row["made_by"] for row in read(tmp_path / "w.jsonl"))


def test_kept_credit_gives_the_same_file(tmp_path: Path) -> None:
    from tests.small_runs import write_run

    path = write_run(tmp_path / "small")
    export_weights(open_run(path), tmp_path / "computed.parquet", CONFIG)
    credit_run(open_run(path), CONFIG)
    export_weights(open_run(path), tmp_path / "kept.parquet", CONFIG)
    assert read(tmp_path / "computed.parquet") == read(tmp_path / "kept.parquet")


def test_a_download_is_the_file(small_run: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    found = credit_group(run, run.keys()[0], CONFIG)
    made = weights_bytes(rows_of(found), origin_of(run, CONFIG, 4), ".jsonl")
    export_weights(run, tmp_path / "w.jsonl", CONFIG, keys=run.keys()[:1])
    assert made == (tmp_path / "w.jsonl").read_bytes()
    (tmp_path / "d.parquet").write_bytes(
        weights_bytes(rows_of(found), origin_of(run, CONFIG, 4), ".parquet")
    )
    table = pq.read_table(tmp_path / "d.parquet")
    assert table.schema.equals(WEIGHTS) and table.num_rows == 6


def test_groups_without_states_have_no_weights_and_say_why(small_run: Path, tmp_path: Path) -> None:
    """As `sample --states mixed` leaves a run; a tool's tokens and an unscored rollout beside."""
    pens, apples = group_of(PENS, PENS_TEXTS), group_of(APPLES, [("Three.", 1.0), ("Two", None)])
    first = pens.rollouts[0]
    mask = tuple(t % 3 > 0 for t in range(len(first.completion_ids)))
    pens = RolloutGroup((replace(first, sampled_mask=mask), *pens.rollouts[1:]))
    empty = replace(states_of(apples, 4), states=torch.zeros(0, 24), offsets=torch.zeros(3).long())
    with RunWriter(tmp_path / "mixed", open_run(small_run).info) as writer:
        writer.write_part([pens], [states_of(pens, 4)])
        writer.write_part([apples], [empty])
        writer.finish()
    out = tmp_path / "w.parquet"
    assert export_weights(open_run(tmp_path / "mixed"), out, CreditConfig()) == 2
    rows = read(out)
    assert [bool(w) for w in rows[0]["weights"]] == list(mask) == rows[0]["sampled_mask"]
    assert rows[6]["weights"] is None and "hara-viz states" in rows[6]["note"]
    assert rows[7]["reward"] is None


def test_refusals_leave_nothing_behind(small_run: Path, small_runs: Path, tmp_path: Path) -> None:
    run = open_run(small_run)
    with pytest.raises(InvalidInputError, match=r"end it with \.parquet or \.jsonl"):
        export_weights(run, tmp_path / "w.csv", CONFIG)
    with pytest.raises(MissingInputError, match="layer 3"):
        export_weights(run, tmp_path / "w.parquet", CONFIG, layer=3)
    with pytest.raises(InvalidInputError, match="needs hidden states"):
        export_weights(open_run(small_runs / "no-states"), tmp_path / "w.jsonl", CONFIG)
    assert not list(tmp_path.iterdir())
    done = export_weights(
        open_run(small_runs / "no-states"), tmp_path / "w.jsonl", CreditConfig(signal="entropy")
    )
    assert done == 0
