"""A run as a 🤗 data set: read back by pandas, and by `datasets` with the features of its card."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from hara_viz import open_run
from hara_viz.backend.annotations import Kind, annotate_group
from hara_viz.backend.credit import credit_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.export import export_dataset
from hara_viz.export.dataset import COLUMNS, DATA
from tests.small_runs import write_run

CONFIG = CreditConfig()


def test_pandas_reads_it_back(small_run: Path, tmp_path: Path) -> None:
    run, out = open_run(small_run), tmp_path / "set"
    assert export_dataset(run, out, CONFIG) == 0
    table = pd.read_parquet(out / DATA)
    assert list(table.columns) == COLUMNS.names
    rollouts = [r for key in run.keys() for r in run.load_group(key).rollouts]  # noqa: SIM118
    assert table["completion_text"].tolist() == [r.completion_text for r in rollouts]
    assert [tuple(ids) for ids in table["completion_ids"]] == [r.completion_ids for r in rollouts]
    weights = [
        found.of_row(found.credit.weights, row).tolist()
        for key in run.keys()  # noqa: SIM118
        for found in [credit_group(run, key, CONFIG)]
        for row in range(len(found.group))
    ]
    assert [list(row) for row in table["weights"]] == weights
    assert table["success"].tolist() == [r.reward == 1.0 for r in rollouts]


def test_its_card_is_what_datasets_loads(small_run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    out = tmp_path / "set"
    export_dataset(open_run(small_run), out, CONFIG)
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == 13 and loaded.column_names == COLUMNS.names
    of_card = datasets.load_dataset_builder(str(out), cache_dir=str(tmp_path / "c")).info.features
    assert of_card == loaded.features == datasets.Features.from_arrow_schema(COLUMNS)
    assert len(loaded[0]["weights"]) == len(loaded[0]["completion_ids"])


def test_the_card_says_where_it_comes_from(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    export_dataset(open_run(small_run), out, CONFIG)
    card = (out / "README.md").read_text()
    assert re.search(r"HarA-Viz .* · credit [0-9a-f]{16} · run small", card)
    assert "@misc{hara2026" in card and CONFIG.to_json() in card


def test_verdicts_put_right_are_in_it(tmp_path: Path) -> None:
    path = write_run(tmp_path / "small")
    run = open_run(path)
    annotate_group(run, Kind.VERDICT, run.keys()[0], sample=3, reward=1.0)
    export_dataset(open_run(path), tmp_path / "set", CONFIG)
    table = pd.read_parquet(tmp_path / "set" / DATA)
    assert table["reward"][3] == 1.0 and table["success"][3]


def test_a_run_without_states_is_a_set_without_weights(small_runs: Path, tmp_path: Path) -> None:
    assert export_dataset(open_run(small_runs / "no-states"), tmp_path / "set", CONFIG) == 13
    table = pd.read_parquet(tmp_path / "set" / DATA)
    assert table["weights"].isna().all() and table["note"].str.contains("hara-viz states").all()


def test_a_folder_that_is_there_is_refused(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "notes").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds other files"):
        export_dataset(open_run(small_run), tmp_path / "x", CONFIG, force=True)
