"""Allowed roots: a path that comes from a page may not leave them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hara_viz.errors import UnsafeError


def confine(path: str | Path, roots: Iterable[str | Path]) -> Path:
    """The path with all `..` and symbolic links resolved, if it lies in one of the roots.

    It need not exist yet. A relative path counts from the working directory.

    Raises:
        UnsafeError: It lies outside, by `..` or through a link, or is no path at all.
    """
    allowed = [Path(root).resolve() for root in roots]
    try:
        resolved = Path(path).resolve()
    except (ValueError, OSError, RuntimeError) as error:  # NUL bytes, loops of links
        raise UnsafeError(f"{str(path)!r} is not a usable path: {error}") from error
    if any(resolved.is_relative_to(root) for root in allowed):
        return resolved
    listed = ", ".join(str(root) for root in allowed) or "none"
    raise UnsafeError(
        f"{path} lies outside the allowed folders ({listed}); start the app with --root to allow "
        "another one"
    )
