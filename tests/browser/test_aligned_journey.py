"""One text as two checkpoints read it: the slider turns the map, the picked token stays picked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.browser.conftest import running_app, settle
from tests.compared_runs import LAYER, write_compared
from tests.read_runs import read_by
from tests.small_runs import PENS

pytestmark = pytest.mark.browser
EARLY = "aaaa" * 4


@pytest.fixture(scope="module")
def series_url(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that shows a series, of which "late" was read by the early checkpoint too."""
    folder = write_compared(tmp_path_factory.mktemp("series"))
    read_by(folder / "late", EARLY, LAYER, stretched)
    log: Path = tmp_path_factory.mktemp("log") / "app.log"
    with running_app(folder, log) as address:
        yield address


def stretched(states: Tensor) -> Tensor:
    """Another basis would do nothing: PCA finds the same picture in it."""
    return states * torch.linspace(0.1, 3, states.shape[1])


def choose(page, key: str, option: str) -> None:
    page.locator(f".st-key-{key}").get_by_role("combobox").click()
    page.get_by_role("option", name=option).click()
    settle(page)


def test_the_slider_turns_from_one_checkpoints_map_to_the_next(series_url, open_page) -> None:
    page = open_page(f"{series_url}/embedding?run=late&problem={PENS.problem_id}&rollout=1&token=3")
    choose(page, "map-method", "PCA")
    choose(page, "map-scope", "this group, read by all checkpoints")
    shown = page.locator(".hem[data-ready=yes][data-slice='1']")
    shown.wait_for(timeout=60_000)
    settle(page)
    bar = page.locator(".hem .slices")
    assert bar.get_by_text("step 10").is_visible(), "the writer's map comes first"
    lit = shown.get_attribute("data-lit")
    assert lit
    place = "(map, i) => map.pointPlace(Number(i))"
    before = page.locator(".hem").evaluate(place, lit)

    bar.get_by_role("slider").press("ArrowLeft")
    turned = page.locator(".hem[data-slice='0']")
    turned.wait_for()
    assert bar.get_by_text("step 0").is_visible()
    assert turned.get_attribute("data-lit") == lit, "the token stays picked"
    after = turned.evaluate(place, lit)
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) > 2, "another map"

    # A pick on this map runs the page again; the map that was turned to stays.
    page.locator(".hth [data-cell]").nth(2).click()
    settle(page)
    assert page.locator(".hem").get_attribute("data-slice") == "0"
    bar.get_by_role("slider").press("ArrowRight")
    shown.wait_for()
    assert page.locator(".hem").evaluate(place, lit) == pytest.approx(before)
