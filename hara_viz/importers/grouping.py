"""Rows to groups, in one pass over the files; what is kept in memory of a row is its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import PurePath

from hara_viz.errors import FormatError
from hara_viz.importers.detect import detect, files_of
from hara_viz.importers.foreign import ForeignRollout, Format, Grouping, Place, UnusableRowError
from hara_viz.importers.group_sizes import GroupSizes, split_runs
from hara_viz.importers.knowledge import Knowledge
from hara_viz.importers.records import arrow_types, read_lines
from hara_viz.importers.report import ImportReport, LeftOut
from hara_viz.importers.sources import Source
from hara_viz.importers.spool import Spool
from hara_viz.importers.values import shown
from hara_viz.types import Progress, Report, ignore_progress

MAX_GROUP = 8192
"""Rollouts of one prompt at one step; more are no group but a column that was not understood."""
_MAX_REASONS = 40
GroupName = tuple[int | None, str | None, bytes]
"""Step, split, digest of what tells the group from others at that step."""
Check = Callable[[ForeignRollout], None]
"""A further look at each row; raises UnusableRowError."""


@dataclass(frozen=True, slots=True)
class Collection:
    """All rollouts of a source, by group."""

    report: ImportReport
    spool: Spool | None
    groups: tuple[tuple[int, ...], ...]
    """Places in the spool, group by group, in the order of the steps."""

    def __iter__(self) -> Iterator[tuple[ForeignRollout, ...]]:
        assert self.spool is not None
        for places in self.groups:
            members = [self.spool.take(place) for place in places]
            yield tuple(sorted(members, key=lambda member: member.order))


@dataclass
class _Tally:
    """What has been counted so far."""

    n_rows: int = 0
    n_rollouts: int = 0
    skipped: dict[str, tuple[int, str]] = field(default_factory=dict)

    def skip(self, reason: str, where: str) -> None:
        if reason not in self.skipped and len(self.skipped) >= _MAX_REASONS:
            reason = "other reasons"
        count, first = self.skipped.get(reason, (0, where))
        self.skipped[reason] = (count + 1, first)


def collect(
    source: Source,
    format_: Format | None = None,
    spool: Spool | None = None,
    *,
    check: Check = lambda rollout: None,
    limit: int | None = None,
    report: Report = ignore_progress,
) -> Collection:
    """Read a source and form its groups.

    Args:
        source: the files.
        format_: their layout; None: found by names and columns.
        spool: where rows wait; None: only look, keep nothing.
        check: sees each row that is kept.
        limit: rows after which a look stops.
        report: hears of progress in megabytes.

    Raises:
        FormatError: the layout is not known, or no row holds a rollout.
    """
    format_ = format_ or detect(source)
    files, left_out = files_of(source, format_)
    reading = _Reading(format_, spool, check)
    n_bytes = sum((source.root / path).stat().st_size for path in files)
    done, whole = 0, True
    for path in files:
        for n_read in reading.read(source, path):
            report(_progress(done + n_read, n_bytes))
            if limit is not None and reading.tally.n_rows >= limit:
                whole = False
                break
        if not whole:
            break
        done += (source.root / path).stat().st_size
    report(_progress(n_bytes, n_bytes))
    return reading.result(source, len(files), left_out, whole)


def _progress(done: int, total: int) -> Progress:
    return Progress(stage="reading", done=done >> 20, total=max(total >> 20, 1), unit="MB")


class _Reading:
    """One pass over the files; one use."""

    def __init__(self, format_: Format, spool: Spool | None, check: Check) -> None:
        self.format, self.spool, self.check = format_, spool, check
        self.tally = _Tally()
        self.knowledge = Knowledge()
        self._groups: dict[GroupName, list[int]] = {}
        self._names: set[bytes] = set()  # of rollouts that the dump names
        self._run: tuple[PurePath, bytes] | None = None  # file and prompt of the row before
        self._n_runs = 0

    def read(self, source: Source, path: PurePath) -> Iterator[int]:
        """Read a file; yields the bytes of it that are read."""
        columns = arrow_types(source.root / path)
        for line in read_lines(source.root / path):
            self.tally.n_rows += 1
            place = Place(path, line.number, columns)
            try:
                if line.problem is not None:
                    raise UnusableRowError(line.problem)
                if not isinstance(line.value, Mapping):
                    raise UnusableRowError("the row is no record", shown(line.value))
                if not self.format.recognises(line.value, place):
                    columns_here = ", ".join(str(name)[:40] for name in list(line.value)[:8])
                    raise UnusableRowError(f"not laid out as {self.format.label}", columns_here)
                self._add(list(self.format.read(line.value, place)), path)
            except UnusableRowError as error:
                detail = f": {error.detail}" if error.detail else ""
                self.tally.skip(error.reason, f"{place}{detail}")
            yield line.n_bytes

    def result(
        self, source: Source, n_files: int, left_out: tuple[LeftOut, ...], whole: bool
    ) -> Collection:
        skipped = tuple(LeftOut(why, n, first) for why, (n, first) in self.tally.skipped.items())
        if not self._groups:
            why = f"{skipped[0].reason} ({skipped[0].example})" if skipped else "no row in it"
            raise FormatError(
                f"no rollout could be read from {source.root} as {self.format.label}: {why}; "
                "choose another --format, or mend the dump"
            )
        groups = sorted(self._groups.items(), key=lambda item: _order(item[0]))
        sizes = GroupSizes.of([len(places) for _, places in groups])
        lists = [(name, tuple(places)) for name, places in groups]
        if self.format.grouping is Grouping.RUNS:
            lists = split_runs(lists, sizes.usual)
        found = Counter(len(places) for _, places in lists)
        n_steps = {name[0] for name, _ in lists if name[0] is not None}
        report = ImportReport(
            source=str(source.root if n_files > 1 else source.root / source.files[0]),
            format=self.format.name,
            label=self.format.label,
            n_files=n_files,
            n_rows=self.tally.n_rows,
            n_rollouts=self.tally.n_rollouts,
            n_groups=len(lists),
            steps=tuple(sorted(n_steps)),
            group_sizes=dict(found),
            grouped_by=sizes.sentence(self.format.grouping),
            skipped=skipped,
            files_left_out=left_out,
            missing=(*self.knowledge.missing(), *self.format.notes),
            warnings=(
                *sizes.warnings(self.format.grouping, groups),
                *self.knowledge.warnings(),
            ),
            rewards=self.knowledge.rewards,
            needs_tokenizer=self.knowledge.needs_tokenizer,
            whole=whole,
        )
        return Collection(report, self.spool, tuple(places for _, places in lists))

    def _add(self, rollouts: list[ForeignRollout], path: PurePath) -> None:
        """A record's rollouts, all of them or none."""
        for rollout in rollouts:
            _check_whole(rollout)
            self.check(rollout)
        for rollout in rollouts:
            if rollout.own_id is not None and not self._is_new(rollout):
                self.tally.skip(
                    "a copy of a rollout that was read before (same id, same words)",
                    f"{path}: {rollout.own_id}",
                )
                continue
            name = self._name(rollout, path)
            members = self._groups.setdefault(name, [])
            if len(members) >= MAX_GROUP:
                raise FormatError(
                    f"over {MAX_GROUP} rows of {path} share one prompt at step {name[0]}, so they "
                    "are no group; check that prompt and step stand in the columns of this format"
                )
            members.append(-1 if self.spool is None else self.spool.put(rollout))
            self.tally.n_rollouts += 1
            self.knowledge.add(rollout, _digest(name))

    def _is_new(self, rollout: ForeignRollout) -> bool:
        # A resumed training samples some steps again, under the same names: those are no copies.
        said = (rollout.prompt, rollout.prompt_ids, rollout.completion, rollout.completion_ids)
        digest = _digest(rollout.global_step, rollout.split, rollout.own_id, said)
        new = digest not in self._names
        self._names.add(digest)
        return new

    def _name(self, rollout: ForeignRollout, path: PurePath) -> GroupName:
        prompt = _digest(rollout.prompt, rollout.prompt_ids)
        if self.format.grouping is Grouping.RUNS:
            if (path, prompt) != self._run:
                self._run, self._n_runs = (path, prompt), self._n_runs + 1
            told = _digest(prompt, self._n_runs)
        else:
            told = _digest(prompt, rollout.group_id)
        return (rollout.global_step, rollout.split, told)


def _check_whole(rollout: ForeignRollout) -> None:
    if not rollout.prompt and not rollout.prompt_ids:
        raise UnusableRowError("the prompt is missing or empty")
    if rollout.completion is None and rollout.completion_ids is None:
        raise UnusableRowError("the completion is missing")


def _order(name: GroupName) -> int:
    """Groups without a step come last; Python's sort keeps the dump's order within a step."""
    return 2**63 if name[0] is None else name[0]


def _digest(*values: object) -> bytes:
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=12).digest()
