"""The verb `sample`: draw grouped rollouts, verify them, take their states, keep the run."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hara_viz import __version__
from hara_viz.backend.credit import credit_run
from hara_viz.backend.projected_states import check_size, project_layer
from hara_viz.backend.rollouts import judged_groups
from hara_viz.backend.sampling_job import CheckedJob, SampleJob, check_job
from hara_viz.backend.states import packed_states, prompt_of
from hara_viz.models import (
    Completion,
    Policy,
    RenderedPrompt,
    SampleRequest,
    load_policy,
    render_prompt,
    sample,
    teacher_force,
)
from hara_viz.rewards import RewardPool
from hara_viz.store import RunWriter, open_run, summarise_run
from hara_viz.types import (
    CheckpointInfo,
    GroupKey,
    HiddenStates,
    Progress,
    Report,
    RolloutGroup,
    RunInfo,
    ignore_progress,
    is_success,
)

__all__ = ["Preview", "SampleJob", "preview", "sample_run"]

GROUP = 0
"""`sample` draws one group for each problem; a recorder may write several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What `sample` would do, shown before it does it."""

    checkpoint: CheckpointInfo
    format: str
    """The format of the problem set, as it was recognised."""
    n_problems: int
    n_duplicates: int
    n_skipped: int
    n_rollouts: int
    prompt: RenderedPrompt
    """Of the first problem."""
    gold: str | None
    gold_understood: str | None
    """The first gold answer as written, and as the verifier reads it; None: the set has none."""


def preview(job: SampleJob, report: Report = ignore_progress) -> Preview:
    """Check a job, load the model, render the first prompt; nothing is drawn or written.

    Raises:
        HaraError: as `sample_run`.
    """
    with RewardPool(job.reward, allow_code=job.allow_code) as pool:
        checked = check_job(job, pool, report)
    policy = _load(job, report)
    problems = checked.problem_set.problems
    golds = [problem.gold for problem in problems if problem.gold is not None]
    return Preview(
        checkpoint=policy.info,
        format=checked.problem_set.format,
        n_problems=len(problems),
        n_duplicates=checked.problem_set.n_duplicates,
        n_skipped=len(checked.problem_set.skipped),
        n_rollouts=len(problems) * job.sampling.group_size,
        prompt=render_prompt(policy, problems[0].messages, job.sampling),
        gold=next(iter(golds), None),
        gold_understood=checked.first_gold,
    )


def sample_run(job: SampleJob, report: Report = ignore_progress) -> Path:
    """Do the job; returns the run's directory.

    A killed or interrupted job loses the group in flight and no more: the same call goes on where
    it stopped, and never draws a group twice. The credit of `job.credit` is kept at the end, so
    that the app opens on finished heatmaps.

    Raises:
        MissingInputError: a file or the checkpoint does not exist.
        InvalidInputError: an option, the problem set or a gold answer cannot be used.
        ModelError: the checkpoint cannot be loaded or run.
        StoreError: the run cannot be written. Nothing is written before all inputs are checked.
    """
    with RewardPool(job.reward, allow_code=job.allow_code) as pool:
        checked = check_job(job, pool, report)
        policy = _load(job, report)
        prompts = {
            problem.problem_id: render_prompt(policy, problem.messages, job.sampling)
            for problem in checked.problem_set.problems
        }
        info = run_info(job, policy.info)
        with RunWriter(job.out, info, resume=job.resume) as writer:
            _Drawing(checked, policy, writer, report).write_missing(prompts, pool)
            writer.finish()
    run, layer = open_run(job.out), policy.resolve_layers(job.layers)[-1]
    # "mixed" keeps no states at all when no group is mixed: then there is no credit to compute.
    if job.credit is not None and layer in run.layers:
        credit_run(run, job.credit, layer=layer, report=report)
    return job.out


def run_info(job: SampleJob, checkpoint: CheckpointInfo) -> RunInfo:
    """The header of the run that a job writes."""
    return RunInfo(
        checkpoint=checkpoint,
        series=job.series,
        global_step=job.global_step,
        problem_set=str(job.problems),
        sampling=job.sampling,
        reward=job.reward,
        success_threshold=job.success_threshold,
        seed=job.sampling.seed,
        versions=installed_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def installed_versions() -> dict[str, str]:
    """Versions of what makes the numbers, for the record."""
    found = {"hara-viz": __version__, "python": platform.python_version()}
    for name in ("torch", "transformers", "math-verify"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _load(job: SampleJob, report: Report) -> Policy:
    """The policy, once what the job asks of it was found possible."""
    report(Progress(stage="loading", done=0, total=1, unit="models"))
    policy = load_policy(
        job.model,
        device=job.device,
        dtype=job.dtype,
        revision=job.revision,
        base=job.base,
        roots=job.roots,
        trust_remote_code=job.trust_remote_code,
        allow_pickle=job.allow_pickle,
    )
    report(Progress(stage="loading", done=1, total=1, unit="models"))
    policy.resolve_layers(job.layers)
    if job.project is not None:
        check_size(job.project, policy.info.hidden_size)
    return policy


class _Drawing:
    """The loop of `sample_run` and its running figures."""

    def __init__(
        self, checked: CheckedJob, policy: Policy, writer: RunWriter, report: Report
    ) -> None:
        self.job = checked.job
        self.choice = checked.states
        self.policy = policy
        self.layers = policy.resolve_layers(self.job.layers)
        self.writer = writer
        self.report = report
        self.problems = {problem.problem_id: problem for problem in checked.problem_set.problems}
        self.n_total = len(self.problems) * self.job.sampling.group_size
        self.n_before = 0
        self.n_scored = 0
        self.n_correct = 0
        self.drawn = self.choice.drawn(self.problems, self.job.sampling.seed)

    def write_missing(self, prompts: Mapping[str, RenderedPrompt], pool: RewardPool) -> None:
        """Draw the groups that the run lacks; each is written as soon as it is judged."""
        done = self.writer.done_keys
        step = self.job.global_step
        missing = {n: p for n, p in prompts.items() if GroupKey(step, n, GROUP) not in done}
        self._count_earlier(len(prompts) - len(missing))
        requests = [
            SampleRequest(name, GROUP, number, prompt)
            for name, prompt in missing.items()
            for number in range(self.job.sampling.group_size)
        ]
        groups = judged_groups(
            sample(self.policy, requests, self.job.sampling, self._hear, layers=self._kept()),
            self.problems,
            self.policy,
            pool,
            group_size=self.job.sampling.group_size,
            global_step=step,
        )
        started, n_tokens = time.monotonic(), 0
        for group, completions in groups:
            self.writer.write_part([group], self._states(group, completions))
            outcomes = [is_success(r.reward, self.job.success_threshold) for r in group.rollouts]
            self.n_scored += sum(outcome is not None for outcome in outcomes)
            self.n_correct += sum(outcome is True for outcome in outcomes)
            n_tokens += sum(len(rollout.completion_ids) for rollout in group.rollouts)
        # The sampler is through before the last verdicts are there; this is the true end.
        self._tell(self.n_total, n_tokens / max(time.monotonic() - started, 1e-9))

    def _count_earlier(self, n_groups: int) -> None:
        """Let the pass rate be that of the run, not of this call alone."""
        if n_groups:
            self.n_before = n_groups * self.job.sampling.group_size
            earlier = summarise_run(self.job.out)
            self.n_scored, self.n_correct = earlier.n_scored, earlier.n_success

    def _kept(self) -> Sequence[int]:
        """Layers whose states are kept while sampling.

        On a CPU reading everything again costs half as much as drawing it; on an accelerator next
        to nothing, and memory is better spent on rows.
        """
        on_cpu = self.policy.device.type == "cpu"
        return self.layers if on_cpu and self.choice.kind != "none" else ()

    def _states(
        self, group: RolloutGroup, completions: Sequence[Completion]
    ) -> tuple[HiddenStates, ...]:
        rewards = [rollout.reward for rollout in group.rollouts]
        threshold = self.job.success_threshold
        if not self.choice.keeps(group.key.problem_id, rewards, self.drawn, threshold):
            return ()
        states = packed_states(completions, self.layers, self.policy.info)
        if states is None:
            prompts = [prompt_of(rollout) for rollout in group.rollouts]
            ids = [completion.ids for completion in completions]
            states = teacher_force(self.policy, prompts, ids, self.layers).states
        size = self.job.project
        return states if size is None else tuple(project_layer(s, size) for s in states)

    def _hear(self, progress: Progress) -> None:
        done = self.n_before + progress.done
        if done < self.n_total:
            self._tell(done, progress.figures.get("tokens_per_second", float("nan")))

    def _tell(self, done: int, tokens_per_second: float) -> None:
        figures = {"tokens_per_second": tokens_per_second}
        if self.n_scored:
            figures["pass_rate"] = self.n_correct / self.n_scored
        self.report(
            Progress(
                stage="sampling",
                done=done,
                total=self.n_total,
                unit="rollouts",
                figures=figures,
            )
        )
