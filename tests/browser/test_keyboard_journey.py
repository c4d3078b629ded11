"""`?` on every page shows the keys, once; `f` on Learn makes a lecture of it."""

from __future__ import annotations

import pytest

from hara_viz.components.key_map import PAGES
from tests.browser.conftest import settle
from tests.small_runs import PENS

pytestmark = pytest.mark.browser
OPEN = ".hara-keys dialog[open]"
LECTURE = "document.documentElement.classList.contains('hara-lecture')"


def opened(open_page, address: str):
    page = open_page(address)
    page.locator(".hara-keys dialog").wait_for(state="attached")
    return page


def test_every_page_has_its_map(app_url: str, open_page) -> None:
    page = opened(open_page, f"{app_url}/?run=small&problem={PENS.problem_id}")
    for title, _ in PAGES:
        page.get_by_role("link", name=title, exact=True).click()
        page.get_by_role("link", name=title, exact=True).and_(
            page.locator("[aria-current=page]")
        ).wait_for()
        settle(page)
        page.locator("body").press("?")
        page.get_by_role("dialog", name=f"Keys of the page {title}").wait_for()
        assert page.get_by_role("dialog").count() == 1, "one map, not one beside another"
        page.keyboard.press("Escape")
        page.locator(OPEN).wait_for(state="detached")


def test_a_key_pressed_over_the_map_moves_nothing(app_url: str, open_page) -> None:
    page = opened(open_page, f"{app_url}/?run=small&problem={PENS.problem_id}&rollout=1")
    heatmap = page.locator(".hth[data-ready=yes]")
    heatmap.wait_for()
    page.keyboard.press("?")
    page.locator(OPEN).wait_for()
    page.keyboard.press("n")
    page.keyboard.press("?")
    page.locator(OPEN).wait_for(state="detached")
    assert heatmap.get_attribute("data-sample") == "1"
    page.keyboard.press("n")
    page.wait_for_function(
        "document.querySelector('.st-key-heatmap') && !location.search.includes('rollout=1')"
    )


def test_typing_a_question_mark_is_typing(app_url: str, open_page) -> None:
    page = opened(open_page, f"{app_url}/?run=small&problem={PENS.problem_id}")
    box = page.get_by_placeholder("Search problems")
    box.fill("")
    box.press("?")
    assert box.input_value() == "?" and page.locator(OPEN).count() == 0


def test_a_lecture_from_the_keyboard(app_url: str, open_page) -> None:
    page = opened(open_page, f"{app_url}/learn?run=small&problem={PENS.problem_id}")
    page.get_by_role("radio", name="Distributions").click()
    settle(page)
    page.keyboard.press("f")
    page.wait_for_function(LECTURE)
    assert not page.get_by_role("link", name="Runs", exact=True).is_visible()
    left = page.locator("[data-testid=stSidebar]").bounding_box()
    assert left is not None and left["x"] + left["width"] < 0
    page.keyboard.press("ArrowRight")  # the step that was clicked has the focus still
    page.get_by_text("is the pattern that rollouts of one outcome share").wait_for()
    settle(page)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("each token is a point").wait_for()
    page.keyboard.press("f")
    page.wait_for_function(f"!{LECTURE}")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_url("**/runs*")
    settle(page)
    page.locator("body").press("f")
    assert page.evaluate(LECTURE) is False
