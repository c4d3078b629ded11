"""What the app asks of its side process: plain, hashable arguments in, picklable results out."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hara_viz.backend.credit import GroupCredit, kept_or_computed
from hara_viz.backend.import_run import ImportReport, look_at
from hara_viz.backend.job_calls import sample_job
from hara_viz.credit import CreditConfig
from hara_viz.errors import FormatError
from hara_viz.models import load_reader, render_prompt
from hara_viz.problems import load_problems
from hara_viz.store import open_run
from hara_viz.types import GroupKey

ROWS_LOOKED_AT = 50_000


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """The first prompt as the policy will read it."""

    text: str
    n_tokens: int
    templated: bool
    """False: the checkpoint has no chat template, the prompt is plain text."""


def credit_group_at(
    path: str, stamp: int, key: GroupKey, config: str, layer: int | None
) -> GroupCredit:
    """`kept_or_computed` by the run's path; `stamp` tells apart the states of a run that changes.

    Raises:
        HaraError: as `credit_group`.
    """
    del stamp
    wanted = CreditConfig.from_json(config)
    return kept_or_computed(open_run(path), GroupKey(*key), wanted, layer)


def look_at_dump(path: str, stamp: int, format_name: str) -> ImportReport:
    """What a dump holds, from its first rows; `stamp` tells apart the states of one that grows.

    Raises:
        HaraError: nothing in it can be read.
    """
    del stamp
    return look_at(path, format_name, limit=ROWS_LOOKED_AT)


def preview_prompt(arguments: str) -> PromptPreview:
    """The first prompt of a sampling job, rendered; loads the checkpoint's tokenizer alone.

    Args:
        arguments: of the job, as JSON.

    Raises:
        HaraError: the problem set or the checkpoint cannot be read.
    """
    job = sample_job(json.loads(arguments))
    problems = load_problems(job.problems, columns=job.columns, limit=1).problems
    if not problems:
        raise FormatError(f"{job.problems} holds no usable problem")
    reader = load_reader(job.model, revision=job.revision, base=job.base, roots=job.roots)
    prompt = render_prompt(reader, problems[0].messages, job.sampling)
    return PromptPreview(prompt.text, len(prompt.ids), prompt.templated)
