"""Settings of credit, and the way back from them, in a real browser."""

from __future__ import annotations

import pytest

from tests.browser.conftest import settle
from tests.browser.test_rollouts_journey import ready, shoot
from tests.small_runs import PENS

pytestmark = pytest.mark.browser


def test_what_was_changed_is_named_and_taken_back(app_url, open_page) -> None:
    page = open_page(f"{app_url}/?run=small&problem={PENS.problem_id}")
    ready(page)
    drawer = page.locator(".st-key-credit_drawer")
    assert drawer.get_by_text("Differs from the default").count() == 0
    page.get_by_role("slider", name="α").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    page.wait_for_function("document.location.search.includes('credit.alpha=0.65')")
    settle(page)
    # The row that has appeared did not take the focus from the slider.
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.location.search.includes('credit.alpha=0.7')")
    settle(page)
    own = drawer.get_by_role("button", name="α · share of structure: 0.7")
    own.scroll_into_view_if_needed()
    shoot(page, "drawer-changed")

    drawer.get_by_role("button", name="Undo").click()
    page.wait_for_function("!document.location.search.includes('credit.alpha=0.7')")
    settle(page)
    drawer.get_by_role("button", name="All to the default").click()
    page.wait_for_function("!document.location.search.includes('credit.')")
    settle(page)
    assert drawer.get_by_text("Differs from the default").count() == 0
    drawer.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.location.search.includes('credit.alpha=')")

    # Where the settings act on nothing they are not shown, and they are kept.
    settle(page)
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_text("Click a run to choose it").wait_for()
    settle(page)
    assert drawer.count() == 0
    assert "credit.alpha=" in page.url
    page.get_by_role("link", name="Transport", exact=True).click()
    drawer.get_by_role("button", name="All to the default").wait_for(timeout=60_000)
