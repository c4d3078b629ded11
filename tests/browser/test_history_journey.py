"""The address: pages, problems and rollouts make entries, tokens do not; back, reload and a pasted
link restore what was seen.
"""

from __future__ import annotations

import pytest

from tests.browser.conftest import settle
from tests.browser.test_rollouts_journey import CELL, ready
from tests.small_runs import HOSTILE, PENS

pytestmark = pytest.mark.browser


def shown(page) -> tuple[str, str]:
    heatmap = ready(page)
    return heatmap.get_attribute("data-sample"), heatmap.get_attribute("data-token")


def test_back_goes_through_rollouts_problems_and_pages(app_url, open_page) -> None:
    page = open_page(f"{app_url}/?run=small&problem={PENS.problem_id}&rollout=0")
    ready(page)
    entries = page.evaluate("history.length")
    page.locator(CELL.format(sample=0)).nth(2).click()
    settle(page)
    page.locator(CELL.format(sample=0)).nth(4).click()
    settle(page)
    assert page.evaluate("history.length") == entries, "tokens replace the address"
    assert shown(page) == ("0", "4")

    page.locator(CELL.format(sample=1)).nth(3).click()
    settle(page)
    assert page.evaluate("history.length") == entries + 1, "a rollout makes an entry"
    ready(page).locator(".scroller").focus()
    page.keyboard.press("N")
    page.wait_for_function(f"document.location.search.includes('{HOSTILE.problem_id}')")
    settle(page)
    page.get_by_role("link", name="Transport").click()
    page.wait_for_url("**/transport*")
    settle(page)

    page.go_back()
    settle(page)
    page.wait_for_function(f"document.location.search.includes('{HOSTILE.problem_id}')")
    assert ready(page).locator("article").count() == 4
    page.go_back()
    page.wait_for_function(f"document.location.search.includes('{PENS.problem_id}')")
    settle(page)
    assert shown(page) == ("1", "3")
    page.go_back()
    settle(page)
    assert shown(page) == ("0", "4")
    page.get_by_text("of rollout 0").wait_for()  # Python came along


def test_a_pasted_link_and_a_reload_restore_the_view(app_url, open_page) -> None:
    query = (
        f"run=small&problem={PENS.problem_id}&credit.alpha=0.7&signal=opposite&under=entropy"
        "&level=step&rollout=4&token=3"
    )
    page = open_page(f"{app_url}/?{query}")
    for _ in range(2):
        heatmap = ready(page)
        page.wait_for_function(
            """() => {
              const find = (node) => node.querySelector(".hth") ?? [...node.querySelectorAll("*")]
                .map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
              return find(document)?.dataset.signal === "opposite";
            }"""
        )  # its own frame has come
        settle(page)
        assert (heatmap.get_attribute("data-sample"), heatmap.get_attribute("data-token")) == (
            "4",
            "3",
        )
        assert [select.input_value() for select in heatmap.locator("select").all()[:3]] == [
            "opposite",
            "entropy",
            "step",
        ]
        page.get_by_text("of rollout 4").wait_for()
        assert page.url == f"{app_url}/?{query}"
        page.reload()
        settle(page)


def test_a_page_turned_at_once_after_a_move_is_turned(app_url, open_page) -> None:
    """The move is still on its way to Python then, and must not take the reader back."""
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    page.locator(".htp[data-ready=yes]").wait_for(timeout=60_000)
    settle(page)
    word = page.locator(".htp [data-cell]").nth(2).bounding_box()
    link = page.get_by_role("link", name="Rollouts").bounding_box()
    page.mouse.click(word["x"] + 4, word["y"] + 6)
    page.wait_for_timeout(90)
    page.mouse.click(link["x"] + 20, link["y"] + 10)
    heatmap = ready(page)
    settle(page)
    assert "/transport" not in page.url
    assert heatmap.get_attribute("data-sample") == "4" and heatmap.get_attribute("data-token")
