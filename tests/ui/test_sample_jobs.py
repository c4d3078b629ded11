from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hara_viz.backend.problem_preview import ColumnMap
from hara_viz.errors import ConfigError, HaraError, InvalidInputError, UnsafeError
from hara_viz.types import Series
from hara_viz.ui.roots import Roots
from hara_viz.ui.sample_jobs import (
    Wish,
    checkpoint_name,
    jobs_of,
    layers_of,
    model_of,
    resolve,
    run_name,
    step_of,
)
from hara_viz.ui.start_run import size_words


@pytest.fixture
def places(tmp_path: Path) -> Roots:
    for folder in ("runs/tiny-words", "models/tiny", "models/checkpoint-120", "models/last"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "words.jsonl").write_text("{}")
    return Roots(tmp_path / "runs", (tmp_path / "runs", tmp_path))


def test_nothing_is_started_before_the_form_is_filled_in(places: Roots) -> None:
    assert jobs_of(Wish(checkpoints=[], problems="words.jsonl"), places) == ()
    assert jobs_of(Wish(checkpoints=["models/tiny"], problems=None), places) == ()


def test_one_checkpoint_gets_a_name_that_is_free(places: Roots, tmp_path: Path) -> None:
    wish = Wish(checkpoints=["models/tiny"], problems="words.jsonl", limit=4, layers="-1, 2")
    (job,) = jobs_of(wish, places)
    assert job.model == str(tmp_path / "models/tiny")
    assert job.out == tmp_path / "runs/tiny-words-2"
    assert (job.limit, job.layers, job.series, job.global_step) == (4, (-1, 2), None, None)


def test_several_checkpoints_form_a_series_in_order(places: Roots, tmp_path: Path) -> None:
    wish = Wish(
        checkpoints=["models/checkpoint-120", "models/last", "org/model"],
        problems="words.jsonl",
        name="training one",
    )
    jobs = jobs_of(wish, places)
    assert [job.global_step for job in jobs] == [120, 1, 2]
    assert {job.series for job in jobs} == {Series(id="training one")}
    assert len({job.out for job in jobs}) == 3
    assert all(job.out.parent == tmp_path / "runs/training one" for job in jobs)
    assert jobs[2].model == "org/model"


@pytest.mark.parametrize("model", ["/etc", "../..", "models/../..", "../x/y"])
def test_models_outside_the_allowed_folders_are_refused(places: Roots, model: str) -> None:
    with pytest.raises(HaraError):
        model_of(model, places)
    with pytest.raises(UnsafeError, match="--root"):
        resolve("/etc/passwd", places)


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", "x" * 200, "a\nb"])
def test_a_run_cannot_be_named_out_of_its_folder(places: Roots, name: str) -> None:
    wish = Wish(checkpoints=["models/tiny"], problems="words.jsonl", name=name)
    with pytest.raises(InvalidInputError, match="name"):
        jobs_of(wish, places)


def test_layers_names_and_steps() -> None:
    assert layers_of("-1, 8,16") == (-1, 8, 16)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        layers_of("last")
    assert run_name("", "org/model?x") == "org-model-x"
    assert step_of("out/global_step_40", None) == 40
    assert step_of("out/step-7-of-2b", None) is None
    assert step_of("out/model", 3) == 3


def test_adapters_of_a_started_run_find_their_base_in_the_allowed_folders_only(
    places: Roots,
) -> None:
    (job,) = jobs_of(Wish(checkpoints=["models/tiny"], problems="words.jsonl"), places)
    assert job.roots == places.allowed


def test_checkpoints_of_a_training_are_told_apart() -> None:
    assert checkpoint_name("runs/hara/checkpoint-150") == "hara/checkpoint-150"
    assert checkpoint_name("models/tiny") == "tiny"
    assert checkpoint_name("models/tiny.Q8.gguf") == "tiny.Q8"


def test_columns_of_an_unknown_layout_can_be_named(places: Roots) -> None:
    wish = Wish(checkpoints=["models/tiny"], problems="words.jsonl", columns="question=q,gold=a")
    (job,) = jobs_of(wish, places)
    assert job.columns == ColumnMap(question="q", gold="a")
    with pytest.raises(ConfigError, match="question=COLUMN"):
        jobs_of(replace(wish, columns="q"), places)


def test_the_form_says_how_much_it_asks_for_and_where_it_goes(places: Roots) -> None:
    wish = Wish(checkpoints=["models/tiny"], problems="words.jsonl", name="mine")
    (job,) = jobs_of(wish, places)
    runs = places.runs
    assert size_words([job], 72) == (
        f"72 problems × 8 = 576 rollouts of at most 512 tokens, kept in {runs / 'mine'}"
    )
    both = replace(wish, checkpoints=["models/checkpoint-120", "models/last"], limit=5)
    assert size_words(jobs_of(both, places), 72) == (
        "5 of 72 problems × 8 = 40 rollouts of at most 512 tokens for each of 2 checkpoints, "
        f"kept in {runs / 'mine'}"
    )
    assert size_words(jobs_of(replace(wish, limit=100), places), 72).startswith("72 problems × 8")
