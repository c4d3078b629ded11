"""Which layout do the files of a source have?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import PurePath

from hara_viz.errors import FormatError
from hara_viz.importers.foreign import Format, Place
from hara_viz.importers.formats import FORMATS
from hara_viz.importers.records import arrow_types, read_lines
from hara_viz.importers.report import LeftOut
from hara_viz.importers.sources import Source

LOOKED_AT = 16
"""Records of a file among which one must be of a known layout."""
FILES_LOOKED_AT = 200
_SHOWN = 12


def detect(source: Source) -> Format:
    """The one layout of a source's files, by their names and columns.

    Files of no known layout do not count as long as others are known.

    Raises:
        FormatError: no file is known, or the files are of several layouts.
    """
    found: dict[str, tuple[Format, PurePath]] = {}
    unknown: list[str] = []
    for path in source.files[:FILES_LOOKED_AT]:
        format_, columns = _layout_of(source, path)
        if format_ is None:
            unknown.append(f"{path} ({columns})")
        else:
            found.setdefault(format_.name, (format_, path))
    if len(found) > 1:
        listed = ", ".join(f"{name} ({path})" for name, (_, path) in found.items())
        raise FormatError(
            f"{source.root} holds dumps of several kinds: {listed}; choose one with --format, or "
            "name the folder of one"
        )
    if not found:
        raise FormatError(_unknown(source, unknown))
    return next(iter(found.values()))[0]


def files_of(source: Source, format_: Format) -> tuple[tuple[PurePath, ...], tuple[LeftOut, ...]]:
    """The files that are read as this layout, and why the others are not."""
    known = frozenset(source.files)
    kept: list[PurePath] = []
    reasons: dict[str, list[PurePath]] = {}
    for path in source.files:
        why = format_.leaves_out(path, known)
        if why is None and len(known) > 1 and not format_.takes(path):
            why = f"not named like a file of {format_.label}"
        if why is None:
            kept.append(path)
        else:
            reasons.setdefault(why, []).append(path)
    left = tuple(LeftOut(why, len(paths), str(paths[0])) for why, paths in reasons.items())
    if not kept:
        raise FormatError(
            f"{source.root} holds no file of {format_.label} ({left[0].example}: "
            f"{left[0].reason}); choose another --format or folder"
        )
    kept.sort(key=lambda path: not format_.comes_first(path))
    return tuple(kept), (*source.left_out, *left)


def _layout_of(source: Source, path: PurePath) -> tuple[Format | None, str]:
    """The layout of one file, and its columns for a message."""
    known = frozenset(source.files)
    columns = arrow_types(source.root / path)
    names: list[str] = list(columns)
    for line in islice(read_lines(source.root / path), LOOKED_AT):
        if not isinstance(line.value, Mapping):
            continue
        place = Place(path, line.number, columns)
        names += [str(name)[:40] for name in line.value]
        for format_ in FORMATS:
            left_out = format_.leaves_out(path, known)
            if left_out is None and format_.takes(path) and format_.recognises(line.value, place):
                return format_, ""
    listed = list(dict.fromkeys(names))
    return None, ", ".join(listed[:_SHOWN]) + (", …" if len(listed) > _SHOWN else "")


def _unknown(source: Source, unknown: list[str]) -> str:
    shown = "; ".join(unknown[:3])
    return (
        f"no dump of a known layout in {source.root}: {shown}; a generic record has at least "
        "prompt and completion (with reward and step), and --format names a layout"
    )
