"""A run that somebody is writing, followed in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import running_app, settle
from tests.browser.test_rollouts_journey import shoot
from tests.recorded_runs import write_step, writer_of
from tests.small_runs import PENS

pytestmark = pytest.mark.browser


def test_new_steps_arrive_by_themselves_and_lead_to_their_rollouts(
    chromium: str, open_page, tmp_path: Path
) -> None:
    with (
        writer_of(tmp_path / "runs" / "live") as writer,
        running_app(tmp_path / "runs", tmp_path / "app.log") as address,
    ):
        write_step(writer, 0)
        write_step(writer, 1)
        page = open_page(f"{address}/training?run=live&step=0&problem={PENS.problem_id}")
        page.get_by_text("A trainer is writing this run: 2 steps").wait_for()
        page.get_by_text("Follow the newest step").click()
        page.get_by_role("heading", name="Training step 1").wait_for()
        write_step(writer, 2)  # nobody touches the page
        page.get_by_role("heading", name="Training step 2").wait_for(timeout=30_000)
        settle(page)
        assert "step=2" in page.url
        shoot(page, "training-light")
        writer.finish()
        page.get_by_text("This run is complete: 3 steps").wait_for(timeout=30_000)
        page.get_by_role("tab", name="Odd rewards").click()
        settle(page)
        table = page.locator("[data-testid=stDataFrame]").locator("visible=true").last
        box = table.bounding_box()
        page.mouse.click(box["x"] + 60, box["y"] + 50)  # the first row, below the head
        page.wait_for_url("**/?*rollout=0*", timeout=30_000)
        settle(page)
        assert "step=2" in page.url
