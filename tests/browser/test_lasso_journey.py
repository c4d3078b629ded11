"""A lasso, from the mouse on the canvas to the narrowed Rollouts page, its link, and back."""

from __future__ import annotations

import pytest

from tests.browser.conftest import settle
from tests.browser.test_map_journey import by_pca
from tests.browser.test_transport_journey import ready
from tests.small_runs import PENS

pytestmark = pytest.mark.browser


def draw_around(page, shown, point: int) -> None:
    """A lasso around a point, with the mouse: a small box."""
    x, y = shown.evaluate("(map, i) => map.pointPlace(i)", point)
    box = shown.locator("canvas").bounding_box()
    left, right, top, low = box["x"] + x - 6, box["x"] + x + 6, box["y"] + y - 6, box["y"] + y + 6
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, low), (left, low)):
        page.mouse.move(*corner, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")


def rollouts(text) -> list[int]:
    """The rollouts that a heatmap shows."""
    return sorted(text.locator("article").evaluate_all("all => all.map((e) => +e.dataset.sample)"))


def test_a_lasso_leads_to_its_rollouts_alone_until_all_are_shown(app_url, open_page) -> None:
    page = open_page(f"{app_url}/embedding?run=small&problem={PENS.problem_id}")
    shown = by_pca(page)
    beside = ready(page, "hth")
    settle(page)
    everyone = rollouts(beside)
    draw_around(page, shown, 5)
    page.wait_for_function("window.haraLasso?.points.length > 0")
    tokens = page.evaluate("window.haraLasso.tokens")
    samples = sorted({sample for sample, _, _ in tokens})
    assert len(samples) < len(everyone), "the lasso holds too much for this test"

    # The text beside shows the rollouts of the lasso at once, the tables follow.
    assert rollouts(beside) == samples
    assert beside.locator(".lassoed").count() >= len(tokens)
    texts = page.locator(".st-key-lasso-table .htt tbody tr")
    texts.first.wait_for(timeout=60_000)
    settle(page)
    assert texts.count() == len(tokens)
    words_and_steps = page.locator("[data-testid=stMain] [data-testid=stDataFrame]")
    assert words_and_steps.count() == 2

    # A row lights its point and its word, and the lasso stays.
    texts.first.click()
    assert shown.get_attribute("data-lit") != ""
    assert beside.locator(".pinned").count() >= 1
    settle(page)
    assert shown.get_attribute("data-chosen") == str(len(tokens))

    # The filter: the Rollouts page shows them alone, and says so; on the way back the canvas still
    # shows the lasso that Python lists.
    page.get_by_role("button", name="alone: rollout").click()
    among = "-".join(map(str, samples))
    page.wait_for_function(f"document.location.search.includes('among={among}')")
    text = ready(page, "hth")
    page.get_by_text("Narrowed to rollout").wait_for()
    settle(page)
    assert page.locator(".hem").count() == 0
    assert rollouts(text) == samples and text.locator(".lassoed").count() == 0
    spans = page.locator(".st-key-spans-table .htt tbody tr td:first-child").all_inner_texts()
    assert spans and {int(name) for name in spans} <= set(samples)
    page.get_by_role("link", name="Embedding").click()
    again = ready(page, "hem")
    settle(page)
    assert again.get_attribute("data-chosen") == str(len(tokens)) and texts.count() == len(tokens)

    # The link alone narrows a fresh page; all are shown again on request.
    page.get_by_role("link", name="Rollouts").click()
    page.wait_for_function(f"document.location.search.includes('among={among}')")
    settle(page)
    page.reload()
    settle(page)
    text = ready(page, "hth")
    assert rollouts(text) == samples
    page.get_by_role("button", name="Show all rollouts").click()
    page.wait_for_function("!document.location.search.includes('among=')")
    settle(page)
    assert rollouts(text) == everyone
    assert page.get_by_text("Narrowed to rollout").count() == 0
