"""From the curves to the problem that changed, to its tokens, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.conftest import running_app, settle
from tests.browser.test_rollouts_journey import shoot
from tests.compared_runs import write_compared
from tests.small_runs import HOSTILE, PENS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def compare_url(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that shows two checkpoints of one training, and a stranger."""
    folder = write_compared(tmp_path_factory.mktemp("compared"))
    with running_app(folder, tmp_path_factory.mktemp("log") / "app.log") as address:
        yield f"{address}/compare"


def open_view(page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()
    settle(page)


def test_from_the_curves_to_the_tokens(compare_url: str, open_page) -> None:
    page = open_page(f"{compare_url}?run=early")
    page.locator(".js-plotly-plot .trace").first.wait_for(timeout=60_000)
    page.get_by_text("Distinct answers among 3").first.wait_for(timeout=60_000)
    shoot(page, "compare-light")

    # The problem that changed most stands first; a click makes it the selected one, under B.
    open_view(page, "Problems")
    for _ in range(20):  # the grid paints itself some time after it is there
        grid = page.locator("[data-testid=stMain] [data-testid=stDataFrame]").last
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 80, box["y"] + 45)
        settle(page)
        if "run=late" in page.url:
            break
    assert "run=late" in page.url and f"problem={PENS.problem_id}" in page.url
    settle(page)

    # Side by side: two heatmaps, one scale.
    open_view(page, "One problem")
    maps = page.locator(".hth[data-ready=yes]")
    maps.nth(1).wait_for(timeout=60_000)
    assert maps.count() == 2
    ends = [
        [box.input_value() for box in maps.nth(i).locator(".legend input").all()] for i in range(2)
    ]
    assert ends[0] == ends[1] and len(ends[0]) == 2 and ends[0][0] != ends[0][1]
    plan = page.locator(".htp[data-ready=yes]")
    plan.wait_for(timeout=60_000)
    plan.locator("[data-cell]").nth(1).hover()
    assert "its mass goes" in plan.locator(".tip").inner_text()
    page.get_by_role("tab", name="What became usual").click()
    page.get_by_text("No longer novel").wait_for(timeout=60_000)
    shoot(page, "compare-one-problem-light")

    # The other pages show the run that was clicked; the link alone restores what is compared.
    link = page.url
    page.get_by_role("link", name="Rollouts").first.click()
    page.locator(".hth[data-ready=yes] [data-cell]").first.wait_for(timeout=60_000)
    settle(page)
    assert "run=late" in page.url and "run=early" in page.url
    again = open_page(link)
    boxes = again.locator("[data-testid=stMain] [data-testid=stSelectbox]")
    assert boxes.nth(0).locator("input").input_value() == "early · step 0"
    assert boxes.nth(1).locator("input").input_value() == "late · step 10"


def test_hostile_text_stays_text(compare_url: str, open_page) -> None:
    page = open_page(f"{compare_url}?run=early&problem={HOSTILE.problem_id}", scheme="dark")
    for name in ("Problems", "One problem", "Credit methods"):
        open_view(page, name)
        page.wait_for_timeout(1500)
        settle(page)
        assert page.title() == "HarA-Viz"
        assert page.locator("img[src=x], a[href^=javascript]").count() == 0
    shoot(page, "compare-methods-dark")
