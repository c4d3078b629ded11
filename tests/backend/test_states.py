"""Reading a run again: what teacher forcing adds agrees with what sampling wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from hara_viz.backend.credit import credit_group, credit_run, kept_credit
from hara_viz.backend.states import fill_states, log_ratio
from hara_viz.cli.frame import app
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.store import list_credit, load_credit, open_run
from hara_viz.types import Progress
from tests.backend.conftest import tiny_job
from tests.small_runs import write_run
from tests.tiny_models import write_tiny_checkpoint


@pytest.fixture
def copy(tiny_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run, tmp_path / "run"))


def test_own_checkpoint_fills_layers_and_says_what_sampling_said(
    copy: Path, tiny_policy_dir: Path
) -> None:
    before = open_run(copy)
    assert before.layers == (2,)
    said: list[Progress] = []
    filled = fill_states(before, str(tiny_policy_dir), (0, 1), device="cpu", report=said.append)
    run = open_run(copy)
    assert run.layers == (0, 1, 2)
    assert run.complete and not run.verify()
    for key in run.keys():  # noqa: SIM118
        ratio = log_ratio(run, key, filled.checkpoint.fingerprint)
        # The same weights over the same tokens: what differs is the shape of the batches.
        assert torch.allclose(ratio, torch.zeros_like(ratio), atol=1e-4)
        states = run.load_states(key, 1)
        assert states is not None and states.states.isfinite().all() and not states.after_norm
        assert credit_group(run, key, layer=0).layer == 0
    tokens = sum(sum(run.place(key)["lengths"]) for key in run.keys())  # noqa: SIM118
    assert (said[-1].done, said[-1].total) == (tokens, tokens)


def test_what_is_there_is_not_read_again(copy: Path, tiny_policy_dir: Path) -> None:
    fill_states(open_run(copy), str(tiny_policy_dir), (1,), device="cpu")
    files = {path: path.stat().st_mtime_ns for path in copy.glob("states/*/*")}
    fill_states(open_run(copy), str(tiny_policy_dir), (1,), device="cpu")
    assert {path: path.stat().st_mtime_ns for path in copy.glob("states/*/*")} == files


def test_another_checkpoint_reads_beside_it(copy: Path, tmp_path: Path) -> None:
    other = write_tiny_checkpoint(tmp_path / "other", seed=9)
    reader = fill_states(open_run(copy), str(other), (), device="cpu").checkpoint
    run = open_run(copy)
    assert run.layers == (2,)
    (key, *_) = run.keys()
    ratio = log_ratio(run, key, reader.fingerprint)
    assert ratio.shape == (sum(run.place(key)["lengths"]),)
    assert float(ratio.abs().max()) > 0.1
    with pytest.raises(MissingInputError, match="has not read"):
        log_ratio(run, key, "0" * 16)


def test_states_can_be_kept_small(copy: Path, tiny_policy_dir: Path) -> None:
    fill_states(open_run(copy), str(tiny_policy_dir), (1,), project=8, device="cpu")
    run = open_run(copy)
    (key, *_) = run.keys()
    states = run.load_states(key, 1)
    assert states is not None and states.states.shape[1] == 8
    assert states.projection is not None and states.projection.source_size == 32


def test_credit_reads_the_states_of_a_named_checkpoint(copy: Path, tmp_path: Path) -> None:
    other = write_tiny_checkpoint(tmp_path / "other", seed=9)
    reader = fill_states(
        open_run(copy), str(other), (1,), states="sample:1", device="cpu"
    ).checkpoint
    run, short = open_run(copy), reader.fingerprint[:8]
    read = [k for k in run.keys() if run.load_states(k, 1, source=short) is not None]  # noqa: SIM118
    assert len(read) == 1
    with pytest.raises(InvalidInputError, match="does not hold"):
        credit_group(run, read[0], layer=1)
    named = credit_group(run, read[0], source=short)
    assert named.layer == 1
    assert not torch.equal(named.credit.novelty, credit_group(run, read[0]).credit.novelty)
    fingerprint = credit_run(run, source=short)
    info = next(info for info in list_credit(run) if info.fingerprint == fingerprint)
    assert info.source == reader.fingerprint
    kept = load_credit(run, fingerprint, read[0])
    assert kept is not None and torch.equal(kept.weights, named.credit.weights)


def test_kept_credit_is_what_would_be_computed(copy: Path) -> None:
    run, config = open_run(copy), CreditConfig(n_support=4)
    (key, *_) = run.keys()
    assert kept_credit(run, key, config) is None
    credit_run(run, config)
    kept, computed = kept_credit(run, key, config), credit_group(run, key, config)
    assert kept is not None and kept.layer == computed.layer == 2
    assert torch.equal(kept.credit.advantages, computed.credit.advantages)
    assert torch.equal(kept.offsets, computed.offsets)
    assert kept_credit(run, key, CreditConfig(n_support=5)) is None


def test_a_foreign_tokenizer_is_refused(copy: Path, tmp_path: Path) -> None:
    other = write_tiny_checkpoint(tmp_path / "other", bos=True)
    before = sorted(copy.rglob("*"))
    with pytest.raises(InvalidInputError, match="another tokenizer"):
        fill_states(open_run(copy), str(other), device="cpu")
    assert sorted(copy.rglob("*")) == before


def test_prompts_known_as_text_only_cannot_be_read(tmp_path: Path, tiny_policy_dir: Path) -> None:
    run = open_run(write_run(tmp_path / "run"))
    with pytest.raises(InvalidInputError, match="token ids of its prompts"):
        fill_states(run, str(tiny_policy_dir), device="cpu")


def test_a_job_of_other_layers_can_be_sampled_small(tiny_policy_dir: Path, tmp_path: Path) -> None:
    from hara_viz.backend.sample import sample_run

    job = tiny_job(tiny_policy_dir, tmp_path / "run", limit=1, project=4, layers=(0, -1))
    run = open_run(sample_run(job))
    (key,) = run.keys()
    for layer in (0, 2):
        states = run.load_states(key, layer)
        assert states is not None and states.states.shape[1] == 4


def test_a_rollout_that_is_too_long_is_left_out_and_told(copy: Path, tmp_path: Path) -> None:
    run = open_run(copy)
    groups = [run.load_group(key) for key in run.keys()]  # noqa: SIM118
    length = {
        (r.key, r.sample): len(r.prompt_ids or ()) + len(r.completion_ids)
        for group in groups
        for r in group.rollouts
    }
    most = max(length.values()) - 1
    unread = {name for name, n_tokens in length.items() if n_tokens > most}
    assert 0 < len(unread) < len(length)
    other = write_tiny_checkpoint(tmp_path / "other", seed=9)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"max_position_embeddings": most}))
    said: list[Progress] = []
    filled = fill_states(run, str(other), (1,), device="cpu", report=said.append)
    assert (filled.most, filled.unread) == (most, unread)
    assert said[-1].figures == {"too long to read": len(unread)}
    assert said[-1].done == said[-1].total
    again, source = open_run(copy), filled.checkpoint.fingerprint
    for group in groups:
        readings = again.load_readings(group.key, source)
        assert readings is not None
        for rollout, reading in zip(group.rollouts, readings, strict=True):
            values = torch.tensor([*reading.logprobs, *(reading.entropy or ())])
            is_unread = (rollout.key, rollout.sample) in unread
            assert bool(values.isnan().all()) == is_unread == bool(values.isnan().any())
        whole = not any(key == group.key for key, _ in unread)
        assert (again.load_states(group.key, 1, source=source[:8]) is not None) == whole
    # What is left out is not tried again and again.
    files = {path: path.stat().st_mtime_ns for path in copy.glob("states/*/*")}
    fill_states(again, str(other), (1,), device="cpu")
    assert {path: path.stat().st_mtime_ns for path in copy.glob("states/*/*")} == files

    done = CliRunner().invoke(
        app, ["states", str(copy), "--model", str(other), "--layers", "none", "--device", "cpu"]
    )
    assert done.exit_code == 0, done.output
    assert (
        f"{len(unread)} rollouts were left out" in done.output and f"{most} tokens" in done.output
    )


def test_a_checkpoint_too_short_for_all_of_it_is_refused(copy: Path, tmp_path: Path) -> None:
    other = write_tiny_checkpoint(tmp_path / "other", seed=9)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 2}))
    before = sorted(copy.rglob("*"))
    with pytest.raises(InvalidInputError, match="longer than the 2 tokens"):
        fill_states(open_run(copy), str(other), device="cpu")
    assert sorted(copy.rglob("*")) == before
