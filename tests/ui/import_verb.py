"""Verbs that jobs of tests run: they end at once."""

from __future__ import annotations

from typing import Any

from hara_viz.errors import FormatError


def done_at_once(report: Any, *, source: str) -> str:
    return source


def refused(report: Any, *, source: str) -> str:
    raise FormatError(f"{source} holds nothing that is understood; give another file")
