"""The list of runs below a folder, from `run.json` and `groups.parquet` alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hara_viz.errors import HaraError
from hara_viz.store import layout
from hara_viz.store.annotations import read_annotations
from hara_viz.store.header import FILE_NAME, read_header
from hara_viz.store.index import read_index
from hara_viz.store.lock import is_locked
from hara_viz.store.summaries import count_successes, mean, override_rewards, scored
from hara_viz.types import RunInfo

_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of the list of runs."""

    path: Path
    name: str
    """Relative to the folder that was listed."""
    error: str | None = None
    """Why the run cannot be read; all else is then unknown."""
    info: RunInfo | None = None
    complete: bool = False
    writing: bool = False
    """Some process holds the run's lock."""
    n_groups: int = 0
    n_rollouts: int = 0
    n_scored: int = 0
    n_success: int = 0
    n_mixed: int = 0
    """Groups with both outcomes: those that carry signal."""
    n_tokens: int = 0
    reward_mean: float | None = None
    length_mean: float | None = None
    novelty_mean: float | None = None
    """Mean over the groups that have credit; None: no credit yet."""

    @property
    def pass_rate(self) -> float | None:
        """Successes among the scored rollouts; None if none is scored."""
        return self.n_success / self.n_scored if self.n_scored else None


def list_runs(root: str | Path) -> tuple[RunSummary, ...]:
    """All runs below a folder (and the folder itself, if it is one), ordered by name.

    A run that cannot be read is listed with the reason. Links are not followed.
    """
    root = Path(root)
    found = ((path, _name(path, root)) for path in _find_runs(root, _MAX_DEPTH))
    return tuple(_summarise(path, name) for path, name in sorted(found, key=lambda f: f[1]))


def summarise_run(path: str | Path) -> RunSummary:
    """The line of one run."""
    return _summarise(Path(path), Path(path).resolve().name)


def _find_runs(folder: Path, depth: int) -> Iterator[Path]:
    try:
        is_run = (folder / FILE_NAME).exists() or (folder / layout.ROLLOUTS).is_dir()
        children = list(folder.iterdir()) if depth and not is_run and folder.is_dir() else []
    except OSError:  # not ours to read, such as lost+found, or gone by now
        return
    if is_run:
        yield folder
    for child in children:
        if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
            yield from _find_runs(child, depth - 1)


def _name(path: Path, root: Path) -> str:
    return path.resolve().name if path == root else str(path.relative_to(root))


def _summarise(path: Path, name: str) -> RunSummary:
    try:
        info = read_header(path)
        rows = override_rewards(read_index(path).to_pylist(), read_annotations(path))
    except (HaraError, OSError) as error:
        return RunSummary(path=path, name=name, error=str(error))
    rewards = [scored(row["rewards"]) for row in rows]
    successes = [count_successes(of_group, info.success_threshold) for of_group in rewards]
    lengths = [length for row in rows for length in row["lengths"]]
    novelty = [row["mean_novelty"] for row in rows if row["mean_novelty"] is not None]
    flat = [reward for of_group in rewards for reward in of_group]
    return RunSummary(
        path=path,
        name=name,
        info=info,
        complete=(path / layout.COMPLETE).exists(),
        writing=is_locked(path / layout.LOCK),
        n_groups=len(rows),
        n_rollouts=len(lengths),
        n_scored=len(flat),
        n_success=sum(successes),
        n_mixed=sum(0 < s < len(g) for s, g in zip(successes, rewards, strict=True)),
        n_tokens=sum(lengths),
        reward_mean=mean(flat),
        length_mean=mean(lengths),
        novelty_mean=mean(novelty),
    )
