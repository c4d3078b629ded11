"""Modules are kept out of garbage collection, once for what was loaded."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import Any

import pytest

from hara_viz.ui import heap


@pytest.fixture(autouse=True)
def thawed(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(heap, "_known", 0)
    yield
    gc.unfreeze()


def test_what_is_loaded_is_frozen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.unfreeze()
    heap.spare_modules()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000, "this process has loaded Streamlit"
    later = [[i] for i in range(1000)]
    heap.spare_modules()
    assert gc.get_freeze_count() <= frozen, "nothing was loaded, so nothing more is frozen"
    monkeypatch.setitem(sys.modules, "a_new_module", ModuleType("a_new_module"))
    heap.spare_modules()
    assert gc.get_freeze_count() >= frozen + len(later) - 100
