"""One journey through the heart of the app, as a reader makes it, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hara_viz.credit import CreditConfig
from tests.browser.conftest import settle
from tests.pages.test_rollouts import recompute
from tests.small_runs import HOSTILE, PENS

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("HARA_VIZ_SCREENSHOTS")
CELL = "article[data-sample='{sample}'] [data-cell]"


def shoot(page, name: str) -> None:
    """Keep a picture, if somebody wants to look at them."""
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SHOTS}/{name}.png")


def ready(page):
    """The heatmap, once it has been drawn."""
    heatmap = page.locator(".hth[data-ready=yes]")
    heatmap.wait_for(timeout=30_000)
    return heatmap


def test_from_the_list_to_a_token_and_back_by_link(app_url, open_page, small_run) -> None:
    page = open_page(f"{app_url}/?run=small")
    heatmap = ready(page)
    assert page.locator("article").count() == 6
    shoot(page, "rollouts-light")

    # Hover: the tooltip knows the token without asking Python.
    cell = page.locator(CELL.format(sample=4)).nth(3)
    cell.hover()  # comes back if the line is drawn anew under it; a bare scroll does not
    page.wait_for_timeout(300)  # scrolling puts the tooltip away
    page.mouse.move(0, 0)
    cell.hover()
    page.locator(".tip:visible").wait_for()
    assert "Novelty" in page.locator(".tip").inner_text()

    # Switch the signal.
    heatmap.locator("select").first.select_option("shift")
    page.wait_for_function("document.location.search.includes('signal=shift')")
    assert heatmap.get_attribute("data-signal") == "shift"

    # Pin the token: the inspector shows what a trainer would get.
    cell.click()
    page.wait_for_function("document.location.search.includes('token=3')")
    page.get_by_text("of rollout 4").wait_for()
    settle(page)
    before = inspected(page)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    place = sum(len(r.completion_ids) for r in group.rollouts[:4]) + 3
    assert before == pytest.approx(float(credit.novelty[place]), rel=1e-3)
    shoot(page, "rollouts-pinned")

    # Change alpha with the keyboard: the numbers follow.
    page.get_by_role("slider", name="α").first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)  # reruns begin and end between the presses: none may be lost
    page.wait_for_function("document.location.search.includes('credit.alpha=0.7')")
    settle(page)
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig(alpha=0.7))
    page.wait_for_timeout(300)
    assert inspected(page) == pytest.approx(float(credit.novelty[place]), rel=1e-3)

    # Reload: the same view, token included.
    address = page.url
    page.reload()
    settle(page)
    again = ready(page)
    assert again.get_attribute("data-token") == "3"
    assert again.get_attribute("data-sample") == "4"
    assert again.get_attribute("data-signal") == "shift"
    page.get_by_text("of rollout 4").wait_for()
    assert page.url == address


def inspected(page) -> float:
    """The novelty in the inspector's table."""
    row = page.locator(".htc [data-list=values] tbody tr").first
    assert row.locator("th").inner_text() == "Novelty"
    return float(row.locator("td").first.get_attribute("title"))


def test_rows_of_the_inspector_lead_to_their_tokens_by_key_and_by_mouse(app_url, open_page) -> None:
    page = open_page(f"{app_url}/?run=small&problem={PENS.problem_id}&rollout=4&token=3")
    heatmap, card = ready(page), page.locator(".htc[data-sample='4']")
    line = card.locator("[data-list=counterparts] tbody tr").first
    token, sample = title_of(line)
    line.locator("button").focus()
    page.keyboard.press("Enter")
    address = f"rollout={sample}&token={token}"
    page.wait_for_function("(end) => document.location.search.includes(end)", arg=address)
    answer = page.locator(f".htc[data-sample='{sample}'][data-token='{token}']")
    answer.wait_for()
    assert heatmap.get_attribute("data-sample") == sample, "the text follows"
    assert heatmap.get_attribute("data-token") == token
    # The row is gone; whoever works by ear goes on at the heading.
    answer.locator("h3:focus").wait_for()

    # The mouse need not hit the words.
    settle(page)
    line = answer.locator("[data-list=similar] tbody tr").first
    token, sample = title_of(line)
    line.scroll_into_view_if_needed()
    box = line.locator("td").nth(1).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(f".htc[data-sample='{sample}'][data-token='{token}']").wait_for()
    page.go_back()
    answer.wait_for()
    settle(page)
    assert address in page.url


def title_of(line) -> tuple[str, str]:
    """Token and rollout that a row of the inspector leads to."""
    _, token, _, _, sample = line.locator("button").get_attribute("title").split()
    return token, sample


def test_keys_move_through_rollouts_tokens_and_problems(app_url, open_page) -> None:
    page = open_page(f"{app_url}/?run=small&problem={PENS.problem_id}&rollout=0&token=2")
    heatmap = ready(page)
    heatmap.locator(".scroller").focus()
    page.keyboard.press("ArrowRight")
    assert heatmap.get_attribute("data-token") == "3"
    page.keyboard.press("n")
    assert heatmap.get_attribute("data-sample") == "1"
    page.wait_for_function("document.location.search.includes('rollout=1')")
    page.keyboard.press("N")
    page.wait_for_function(f"document.location.search.includes('{HOSTILE.problem_id}')")
    settle(page)
    page.go_back()
    page.wait_for_function(f"document.location.search.includes('{PENS.problem_id}')")


def test_a_fresh_server_opens_every_page_inside_the_frame(
    chromium: str, small_runs: Path, tmp_path: Path, open_page
) -> None:
    from tests.browser.conftest import running_app

    with running_app(small_runs, tmp_path / "app.log") as address:
        page = open_page(f"{address}/runs?run=small")
        page.get_by_text("Click a run to choose it").wait_for()
        assert page.locator("[data-testid=stSidebar]").get_by_text("pass@1").count() == 1
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_text_stays_text(app_url, open_page, scheme: str) -> None:
    page = open_page(
        f"{app_url}/?run=small&problem={HOSTILE.problem_id}&rollout=1&token=2", scheme=scheme
    )
    ready(page)
    card = page.locator(".htc[data-sample='1']")
    card.wait_for()
    settle(page)
    assert "</div><b>bold</b> **stars** $x^2$ `code` :red" in card.locator(".excerpt").inner_text()
    words = " ".join(card.locator("button").all_inner_texts())
    assert "<" in words, "siblings are quoted as they are"
    assert card.locator("script, style, b, img, a").count() == 0
    assert page.title() == "HarA-Viz"
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert "<img src=x onerror=" in page.locator("[data-testid=stText]").first.inner_text()
    assert page.locator("article").first.inner_text().count("<script>") == 1
    shoot(page, f"hostile-{scheme}")
