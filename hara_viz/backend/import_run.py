"""The verb `import`: another framework's rollout dumps as a run.

The run is made in a hidden folder beside its place and moved there once it is whole, so an import
that fails or is stopped leaves nothing.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from hara_viz import __version__
from hara_viz.backend.import_place import move, refuse_taken, staging
from hara_viz.errors import InvalidInputError
from hara_viz.importers import (
    FORMATS,
    Collection,
    GroupBuilder,
    ImportReport,
    Tokenizer,
    collect,
    format_named,
    open_source,
)
from hara_viz.importers.detect import detect
from hara_viz.importers.spool import Spool
from hara_viz.models import PromptReader, load_reader, render_prompt
from hara_viz.models.fingerprint import tokenizer_fingerprint
from hara_viz.models.policy import TURN_ENDS, marker_ids
from hara_viz.models.prompt import plain_text
from hara_viz.problems import ColumnMap, load_problems
from hara_viz.store import RunWriter
from hara_viz.store.files import write_text
from hara_viz.store.text_json import to_json
from hara_viz.types import (
    CheckpointInfo,
    Message,
    Problem,
    Progress,
    Report,
    RolloutGroup,
    RunInfo,
    SamplingConfig,
    Series,
    ignore_progress,
)

FORMAT_NAMES = {"auto": "found by names and columns", **{f.name: f.label for f in FORMATS}}
"""As `--format` takes them, with what they are."""
REPORT = "import.json"
"""Beside `run.json`: what was asked for and what was found."""
PART_TOKENS, PART_GROUPS = 1 << 17, 64
"""Where a part ends, so that `states` can read one at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportJob:
    """What to import, and where to."""

    source: Path
    """A dump's file, or the folder of a training's dumps."""
    out: Path
    format: str = "auto"
    model: str | None = None
    """The policy, for its tokenizer alone; None: the dump has both ids and text."""
    problems: Path | None = None
    """The problem set, for gold answers and exact prompts."""
    columns: ColumnMap | None = None
    """Of the problem set."""
    success_threshold: float = 0.5
    revision: str | None = None
    base: str | None = None
    roots: tuple[Path, ...] | None = None


def look_at(
    source: str | Path,
    format_name: str = "auto",
    *,
    limit: int | None = None,
    report: Report = ignore_progress,
) -> ImportReport:
    """What a source holds; needs no model and writes nothing.

    Args:
        source: file or folder.
        format_name: of the layout, or "auto".
        limit: rows after which the look stops; None: all are read.
        report: hears of progress.

    Raises:
        HaraError: nothing in it can be read; the sentence says why.
    """
    return collect(
        open_source(source), format_named(format_name), limit=limit, report=report
    ).report


def import_run(job: ImportJob, report: Report = ignore_progress) -> ImportReport:
    """Import a dump as a run.

    Args:
        job: what, and where to.
        report: hears of progress: megabytes read, then rollouts written.

    Returns:
        What was found, left out and joined; it is kept in the run's `import.json` too.

    Raises:
        HaraError: nothing could be imported; no run is left behind.
    """
    source, format_ = open_source(job.source), format_named(job.format)
    refuse_taken(job.out)
    format_ = format_ or detect(source)
    problems = _problems(job)
    reader = _reader(job)
    builder = GroupBuilder(None if reader is None else tokenizer_of(reader, job.model), problems)
    with staging(job.out) as folder:
        spool = Spool(folder)
        try:
            found = collect(source, format_, spool, check=builder.check, report=report)
            if found.report.needs_tokenizer and reader is None:
                raise InvalidInputError(
                    f"{job.source} does not hold both text and token ids; name the checkpoint that "
                    "was trained with --model (its tokenizer alone is loaded)"
                )
            made = folder / job.out.name
            final = _write(made, job, _checkpoint(job, reader), found, builder, report)
        finally:
            spool.close()
        move(made, job.out)
    return final


def is_imported(job: ImportJob) -> bool:
    """Whether this very import stands at its place already."""
    try:
        document = json.loads((job.out / REPORT).read_bytes())
        return document["asked"] == _asked(job) and (job.out / "COMPLETE").exists()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def tokenizer_of(reader: PromptReader, name: str | None) -> Tokenizer:
    """A checkpoint's tokenizer as importers ask for it."""
    tokenizer, plain = reader.tokenizer, SamplingConfig()
    ends = {tokenizer.eos_token_id, *map(tokenizer.get_added_vocab().get, TURN_ENDS)} - {None}

    def transcript(turns: Sequence[Message]) -> str:
        if not tokenizer.chat_template:
            return plain_text(turns)
        # Rendered as a prompt, the conversation ends where a next turn of the assistant begins.
        return render_prompt(reader, turns, plain).text

    return Tokenizer(
        name=name or "",
        encode=lambda text: tokenizer(text, add_special_tokens=False)["input_ids"],
        encode_prompt=lambda text: tokenizer(text, add_special_tokens=True)["input_ids"],
        render=lambda turns: render_prompt(reader, turns, plain).ids,
        transcript=transcript,
        decode=reader.decode,
        decode_stripped=lambda ids: tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        ),
        special_ids=frozenset(marker_ids(tokenizer) | ends),
        end_ids=frozenset(ends),
        n_ids=max(tokenizer.get_vocab().values(), default=-1) + 1,
    )


def _problems(job: ImportJob) -> tuple[Problem, ...]:
    return () if job.problems is None else load_problems(job.problems, columns=job.columns).problems


def _reader(job: ImportJob) -> PromptReader | None:
    if job.model is None:
        return None
    return load_reader(job.model, revision=job.revision, base=job.base, roots=job.roots)


def _checkpoint(job: ImportJob, reader: PromptReader | None) -> CheckpointInfo | None:
    """The policy by its tokenizer alone: which weights drew a rollout, no dump tells."""
    if reader is None or job.model is None:
        return None
    known = tokenizer_of(reader, job.model)
    return CheckpointInfo(
        path=job.model,
        revision=job.revision,
        tokenizer_fingerprint=tokenizer_fingerprint(reader.tokenizer),
        special_ids=tuple(sorted(known.special_ids)),
    )


def _write(
    made: Path, job: ImportJob, checkpoint: CheckpointInfo | None, found: Collection,
    builder: GroupBuilder, report: Report,
) -> ImportReport:  # fmt: skip
    steps = found.report.steps
    info = RunInfo(
        checkpoint=checkpoint,
        series=Series(id=job.out.name),
        global_step=steps[0] if len(steps) == 1 else None,
        problem_set=None if job.problems is None else str(job.problems),
        reward=f"recorded by {found.report.label}",
        success_threshold=job.success_threshold,
        versions={"hara-viz": __version__, "torch": torch.__version__,
                  "python": platform.python_version()},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    written, n_groups = 0, 0
    with RunWriter(made, info) as writer:
        for part in _parts(_groups(found, builder, report)):
            writer.write_part(part)
            n_groups += len(part)
            written += sum(map(len, part))
        if not written:
            left = builder.skipped()[0]
            raise InvalidInputError(
                f"no rollout of {job.source} could be used: {left.reason} ({left.example}); check "
                "--model and --format"
            )
        writer.finish()
    final = replace(
        found.report,
        n_rollouts=written,
        n_groups=n_groups,
        skipped=(*found.report.skipped, *builder.skipped()),
        warnings=(*found.report.warnings, *builder.warnings(),
                  *_threshold_warning(found.report, job.success_threshold)),
    )  # fmt: skip
    document = {"asked": _asked(job), "found": final.to_json()}
    write_text(made / REPORT, to_json(document, indent=1) + "\n")
    return final


def _groups(found: Collection, builder: GroupBuilder, report: Report) -> Iterator[RolloutGroup]:
    done, total = 0, found.report.n_rollouts
    for members in found:
        report(Progress(stage="writing", done=done, total=total, unit="rollouts"))
        group = builder.build(members)
        done += len(members)
        if group is not None:
            yield group
    report(Progress(stage="writing", done=total, total=total, unit="rollouts"))


def _parts(groups: Iterator[RolloutGroup]) -> Iterator[list[RolloutGroup]]:
    """Groups of one step together, in parts of bounded size."""
    part: list[RolloutGroup] = []
    n_tokens = 0
    for group in groups:
        own = sum(len(rollout.completion_ids) for rollout in group.rollouts)
        other_step = bool(part) and part[0].key.global_step != group.key.global_step
        if part and (other_step or len(part) >= PART_GROUPS or n_tokens + own > PART_TOKENS):
            yield part
            part, n_tokens = [], 0
        part.append(group)
        n_tokens += own
    if part:
        yield part


def _threshold_warning(found: ImportReport, threshold: float) -> tuple[str, ...]:
    if found.rewards is None or found.rewards[0] < threshold <= found.rewards[1]:
        return ()
    low, high = found.rewards
    return (
        f"rewards lie between {low:g} and {high:g}, so with the threshold {threshold:g} all "
        "rollouts count as equally right or wrong; set --threshold",
    )


def _asked(job: ImportJob) -> dict[str, Any]:
    return json.loads(to_json({n: _plain(v) for n, v in asdict(job).items() if n != "roots"}))


def _plain(value: Any) -> Any:
    return str(value.resolve()) if isinstance(value, Path) else value
