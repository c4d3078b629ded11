from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from hara_viz.backend import job_calls
from hara_viz.backend.job_calls import sample_arguments, sample_job
from hara_viz.backend.jobs import VERBS, JobState, list_jobs, read_job, start
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.credit import CreditConfig
from hara_viz.errors import UnsafeError
from hara_viz.problems import ColumnMap
from hara_viz.store import RunWriter, list_credit, open_run
from hara_viz.types import Message, SamplingConfig, Series, ignore_progress
from tests.store.builders import make_group, make_info, make_states

PROBLEMS = Path(__file__).parents[1] / "data" / "word_problems.jsonl"
FULL = SampleJob(
    model="m",
    problems=Path("p.jsonl"),
    out=Path("runs/r"),
    sampling=SamplingConfig(
        stop=("\n\n",), few_shot=(Message("user", "ü"),), template_kwargs={"enable_thinking": False}
    ),
    columns=ColumnMap(question="q", gold="a"),
    limit=3,
    roots=(Path("/models"), Path("/runs")),
    layers=(0, -1),
    credit=CreditConfig(granularity={"token": 0.5, "rollout": 0.5}, weight_range=(0.5, 2)),
    series=Series(id="s", method="grpo"),
    global_step=4,
)


@pytest.mark.parametrize(
    "job", [FULL, SampleJob(model="m", problems=Path("p"), out=Path("r"), credit=None)]
)
def test_a_sampling_job_survives_json(job: SampleJob) -> None:
    assert sample_job(json.loads(json.dumps(sample_arguments(job)))) == job


def test_jobs_run_no_foreign_code() -> None:
    arguments = sample_arguments(FULL)
    for name in ("allow_code", "trust_remote_code", "allow_pickle"):
        with pytest.raises(UnsafeError, match=f"{name} is on"):
            job_calls.sample(ignore_progress, **{**arguments, name: True})


def test_score_and_credit_from_plain_data(tmp_path: Path) -> None:
    group = make_group(0, size=4)
    with RunWriter(tmp_path / "r", make_info()) as writer:
        writer.write_part([group], [make_states([group])])
        writer.finish()
    path = str(tmp_path / "r")
    assert job_calls.score(ignore_progress, run=path, reward="number") == "v0001"
    config = json.loads(CreditConfig(n_support=3, alpha=0.25).to_json())
    fingerprint = job_calls.credit(ignore_progress, run=path, config=config, layer=3)
    (kept,) = list_credit(open_run(path))
    assert kept.fingerprint == fingerprint and kept.config.alpha == 0.25
    with pytest.raises(UnsafeError):
        job_calls.score(ignore_progress, run=path, reward="/tmp/own.py:reward")


@pytest.mark.slow
def test_a_sampling_job_end_to_end(tmp_path: Path, tiny_policy_dir: Path) -> None:
    job = SampleJob(
        model=str(tiny_policy_dir),
        problems=PROBLEMS,
        out=tmp_path / "r",
        sampling=SamplingConfig(group_size=2, max_new_tokens=5),
        limit=2,
        reward="number",
        device="cpu",
    )
    assert asdict(job)["device"] == "cpu" and VERBS["sample"].uses_device
    job_id = start("sample", sample_arguments(job), tmp_path / "jobs")
    deadline = time.monotonic() + 300
    while not read_job(tmp_path / "jobs", job_id).state.over and time.monotonic() < deadline:
        time.sleep(0.2)
    (done,) = list_jobs(tmp_path / "jobs")
    assert (done.state, done.error, done.device) == (JobState.DONE, None, "cpu")
    assert done.result == str(tmp_path / "r")
    assert done.last is not None and done.last.progress.done == done.last.progress.total
    run = open_run(tmp_path / "r")
    assert run.complete and len(run.keys()) == 2
