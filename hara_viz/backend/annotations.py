"""What people say about a run: a verdict put right, a bookmark, a note; and taking it back."""

from __future__ import annotations

from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.store import Annotation, Kind, Run, annotate, undo
from hara_viz.types import GroupKey

__all__ = ["Annotation", "Kind", "annotate_group", "annotations_of", "take_back"]


def annotate_group(
    run: Run,
    kind: Kind,
    key: GroupKey,
    *,
    sample: int | None = None,
    reward: float | None = None,
    text: str | None = None,
) -> Annotation:
    """Append an annotation about a group or one of its rollouts; it is on the disk at once.

    Open the run again to see what follows from it: a verdict overrides the reward, and credit.

    Args:
        run: an open run.
        kind: what is said.
        key: the group.
        sample: the rollout; None: the group as a whole.
        reward: of a verdict.
        text: of a note; a reason for a verdict.

    Raises:
        MissingInputError: the run has no such group or rollout.
        InvalidInputError: something that the kind needs is missing.
    """
    samples = run.place(key)["samples"]
    if sample is not None and sample not in samples:
        raise MissingInputError(f"the group has no rollout {sample}; it has {samples}")
    if kind is Kind.NOTE and not (text or "").strip():
        raise InvalidInputError("the note is empty; write something")
    said = Annotation(kind=kind, key=key, sample=sample, reward=reward, text=text or None)
    return annotate(run.path, said)


def annotations_of(run: Run, key: GroupKey | None = None) -> tuple[Annotation, ...]:
    """What holds now about a run or one of its groups, oldest first."""
    return tuple(a for a in run.annotations.active if key is None or a.key == key)


def take_back(run: Run, beginning: str) -> Annotation:
    """Undo an annotation by its id, or how it begins; the line itself stays in the file.

    Raises:
        InvalidInputError: no annotation in force begins so, or several do.
    """
    fitting = [a.id for a in run.annotations.active if a.id.startswith(beginning)]
    if len(fitting) != 1:
        raise InvalidInputError(
            f"{len(fitting)} annotations of {run.name} begin with {beginning!r}; "
            "`hara-viz annotate` lists them"
        )
    return undo(run.path, fitting[0])
