"""A group's heatmap as a picture file: SVG, or PNG where a Chromium is at hand to draw it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from hara_viz.analysis.signals import SIGNALS, Signal, signal_values
from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.further_signals import Asked, further_of, further_values, offers
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.export.heatmap_svg import heatmap_svg
from hara_viz.export.origin import origin_of
from hara_viz.export.place import check_place, new_file
from hara_viz.store import Run

SUFFIXES = (".svg", ".png")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60
_SHARPNESS = 2
"""Pixels per unit: a picture for print."""


def export_picture(
    run: Run, found: GroupCredit, signal: str, out: Path, *, force: bool = False
) -> Path:
    """Write the picture.

    Args:
        run: where the group comes from.
        found: the group with its credit.
        signal: name of what is shown.
        out: a .svg or .png file, as its name says.
        force: replace a file that is there.

    Raises:
        InvalidInputError: the name of the file, the place, or a signal that the group lacks.
        MissingInputError: a PNG is asked for and no Chromium is found.
    """
    check_place(out, force=force, suffixes=SUFFIXES)
    svg = group_svg(run, found, signal)
    made = svg.encode() if out.suffix == ".svg" else png_of(svg)
    with new_file(out, force=force) as path:
        path.write_bytes(made)
    return out


def group_svg(run: Run, found: GroupCredit, signal: str) -> str:
    """The picture as text.

    Raises:
        InvalidInputError: the signal is unknown, locked, or the group lacks it.
    """
    shown, values = _signal(run, found, signal)
    return heatmap_svg(found, shown, values, origin_of(run, found.config, found.layer))


def png_of(svg: str) -> bytes:
    """An SVG of `heatmap_svg` as PNG, drawn by Chromium.

    Raises:
        MissingInputError: no Chromium is found, or it draws nothing.
    """
    browser = os.environ.get("HARA_VIZ_CHROMIUM") or next(
        filter(None, map(shutil.which, _BROWSERS)), None
    )
    if browser is None:
        raise MissingInputError(
            "a PNG is drawn by Chromium and none was found; write an .svg, or install one or name "
            "it in HARA_VIZ_CHROMIUM"
        )
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    assert size is not None, "not an SVG of ours"
    with tempfile.TemporaryDirectory() as folder:
        page, png = Path(folder) / "picture.html", Path(folder) / "picture.png"
        style = "<style>body{margin:0}svg{display:block}</style>"
        page.write_text(f"<!doctype html><meta charset=utf-8>{style}{svg}", encoding="utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={folder}/profile",
            f"--force-device-scale-factor={_SHARPNESS}", f"--window-size={size[1]},{size[2]}",
            f"--screenshot={png}", page.as_uri(),
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses to run as root with one
        try:
            subprocess.run(command, check=True, timeout=_SECONDS, capture_output=True)
            return png.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise MissingInputError(
                f"{browser} drew no picture ({type(error).__name__}); write an .svg instead"
            ) from error


def _signal(run: Run, found: GroupCredit, name: str) -> tuple[Signal, np.ndarray]:
    if name in SIGNALS:
        values = signal_values(name, found.group, found.credit)
        if values is None:
            missing = SIGNALS[name].missing or "The group lacks it."
            raise InvalidInputError(f"{SIGNALS[name].label}: {missing}")
        return SIGNALS[name], values
    asked = Asked(run, found.group, found.config, found.layer)
    further, known = further_of(run, name), {o.signal.name: o for o in offers(asked)}
    if further is None:
        names = ", ".join([*SIGNALS, *known])
        raise InvalidInputError(f"no signal {name!r}; known are {names}")
    locked = known[name].locked if name in known else ""
    if locked:
        raise InvalidInputError(f"{further.signal.label}: {locked}")
    return further.signal, further_values(asked, name)
