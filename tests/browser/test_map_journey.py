"""From a point of the map to its token in the text, and a lasso to its words, in a real browser."""

from __future__ import annotations

import pytest

from tests.browser.conftest import settle
from tests.small_runs import PENS

pytestmark = pytest.mark.browser


def by_pca(page):
    """The map by PCA: UMAP would replace the picture once it is there."""
    page.locator(".st-key-map-method").get_by_role("combobox").click()
    page.get_by_role("option", name="PCA").click()
    page.get_by_text("PCA of 91 tokens").wait_for(timeout=60_000)
    settle(page)
    shown = page.locator(".hem[data-ready=yes]")
    shown.wait_for(timeout=60_000)
    return shown


def test_a_point_is_lit_in_the_text_and_a_lasso_tells_its_words(app_url, open_page) -> None:
    page = open_page(f"{app_url}/embedding?run=small&problem={PENS.problem_id}&rollout=4")
    shown = by_pca(page)
    box = shown.locator("canvas").bounding_box()

    # Around the whole map: all of its points, their words and their reasoning steps.
    left, top = box["x"] + 4, box["y"] + 4
    right, low = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, low), (left, low)):
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_text("91 points in the lasso").wait_for(timeout=60_000)
    assert shown.get_attribute("data-chosen") == "91"
    settle(page)
    tables = page.locator("[data-testid=stMain] [data-testid=stDataFrame]")
    assert tables.count() == 2, "words, reasoning steps"
    assert page.locator(".htt[data-ready=yes] tbody tr").count() == 91, "texts"

    # One point: the address holds its token at once, and the text of the Rollouts page lights it.
    x, y = shown.evaluate("map => map.pointPlace(5)")
    box = shown.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_function("document.location.search.includes('token=')")
    sample, token = shown.get_attribute("data-sample"), shown.get_attribute("data-token")
    assert f"rollout={sample}&token={token}" in page.url
    settle(page)
    page.get_by_role("link", name="Rollouts").click()
    text = page.locator(".hth[data-ready=yes]")
    text.wait_for(timeout=60_000)
    page.wait_for_function("document.location.search.includes('token=')")
    settle(page)
    assert (text.get_attribute("data-sample"), text.get_attribute("data-token")) == (sample, token)


def test_the_density_counts_the_points_and_says_so(app_url, open_page) -> None:
    page = open_page(f"{app_url}/embedding?run=small&problem={PENS.problem_id}")
    shown = by_pca(page)
    toggle = shown.get_by_role("button", name="density")
    before = shown.locator("canvas").screenshot()
    assert shown.locator(".crowd").inner_text() == ""
    toggle.click()
    shown.locator(".crowd .patch").first.wait_for()
    said = shown.locator(".crowd").inner_text().split()
    assert said[:5] == ["points", "in", "12", "×", "12"]
    counts = [int(word) for word in said[6:]]
    assert counts[0] == 1 and counts == sorted(counts)
    assert 1 < counts[-1] <= 91, "some of the 91 tokens lie on top of each other"
    assert shown.locator("canvas").screenshot() != before
    toggle.click()
    page.wait_for_function("!document.querySelector('.hem .crowd')?.textContent")


def test_a_click_with_ctrl_draws_a_path_with_its_anchors_and_takes_it_back(
    app_url, open_page
) -> None:
    page = open_page(f"{app_url}/embedding?run=small&problem={PENS.problem_id}")
    shown = by_pca(page)
    assert shown.get_attribute("data-anchors") == "0"
    toggle = shown.get_by_role("button", name="anchors")
    assert not toggle.is_visible()

    def ctrl_click(point: int) -> None:
        shown.scroll_into_view_if_needed()
        x, y = shown.evaluate("(map, i) => map.pointPlace(i)", point)
        box = shown.locator("canvas").bounding_box()
        page.keyboard.down("Control")
        page.mouse.click(box["x"] + x, box["y"] + y)
        page.keyboard.up("Control")

    ctrl_click(5)
    page.wait_for_function("document.location.search.includes('paths=')")
    page.get_by_text("Numbered squares: anchors").wait_for(timeout=60_000)
    page.locator(".hem[data-paths='1']").wait_for(timeout=60_000)
    settle(page)
    assert int(shown.get_attribute("data-anchors") or 0) > 1
    with_anchors = shown.locator("canvas").screenshot()
    toggle.click()
    page.locator(".hem button[aria-pressed=false]", has_text="anchors").wait_for()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert shown.locator("canvas").screenshot() != with_anchors

    ctrl_click(5)
    page.wait_for_function("!document.location.search.includes('paths=')")
    page.locator(".hem[data-paths='0'][data-anchors='0']").wait_for(timeout=60_000)
