"""The token heatmap alone on a page: fixtures, and where its parts are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hara_viz.components.token_heatmap import (
    assets,
    encode,
    frame_of,
)
from tests.components import groups
from tests.components.stage import Stage, chromium


@pytest.fixture(scope="module")
def frames() -> dict[str, bytes]:
    group = groups.small_group()
    credit = groups.credit_for(group)
    first = encode(frame_of(group, credit, special_ids=[groups.END_ID]))
    other = encode(frame_of(group, credit, special_ids=[groups.END_ID], success_threshold=2.0))
    return {"first": first, "other": other, "broken": first[:300]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def stage(browser: Any, frames: dict[str, bytes]) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    made = Stage(page, assets(), dict(frames))
    yield made
    page.close()
    assert made.problems == []


def state(stage: Stage) -> dict[str, str]:
    return stage.page.locator(".hth").evaluate("element => ({...element.dataset})")


def cell(stage: Stage, sample: int, number: int) -> Any:
    return stage.page.locator(f"[data-sample='{sample}'] [data-cell='{number}']").first
