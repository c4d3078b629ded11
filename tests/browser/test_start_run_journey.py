"""From a checkpoint and a problem set to coloured rollouts, without leaving the browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.browser.conftest import running_app, settle
from tests.browser.test_rollouts_journey import ready, shoot

pytestmark = pytest.mark.browser

N_PROBLEMS, GROUP_SIZE = 12, 4


@pytest.fixture
def workplace(tmp_path: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a checkpoint, a problem set and room for runs."""
    shutil.copytree(tiny_policy_dir, tmp_path / "models" / "tiny")
    rows = [
        {"question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(1, N_PROBLEMS + 1)
    ]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    return tmp_path


def choose(page, label: str, option: str) -> None:
    """Pick an option of a select box by its label."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).click()
    if label == "Checkpoints":  # takes several: its list stays open
        page.keyboard.press("Escape")
    settle(page)


def test_start_watch_stop_resume_and_open(workplace: Path, open_page, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    with running_app(workplace / "runs", log, workplace, workplace / "runs") as address:
        page = open_page(f"{address}/runs")
        page.get_by_text("No run here yet").wait_for()
        choose(page, "Checkpoints", "models/tiny")
        choose(page, "Problem set", "sums.jsonl")
        page.get_by_text("user: What is 1 + 1?").wait_for()
        page.get_by_role("spinbutton", name="Group size G").fill(str(GROUP_SIZE))
        page.get_by_role("spinbutton", name="Max. new tokens").fill("64")
        page.keyboard.press("Tab")
        settle(page)
        shoot(page, "start-a-run")
        page.get_by_role("button", name="Start", exact=True).click()

        panel = page.locator("[class*=st-key-job-]")
        panel.get_by_text("running", exact=True).wait_for(timeout=120_000)
        panel.locator("[data-testid=stProgress]").wait_for(timeout=120_000)
        shoot(page, "job-running")
        panel.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Resume").wait_for(timeout=60_000)
        page.get_by_role("button", name="Resume").click()
        page.get_by_text("done", exact=True).wait_for(timeout=180_000)
        shoot(page, "job-done")
        page.get_by_role("button", name="Show this run").click()
        ready(page)
        assert page.locator("article").count() == GROUP_SIZE
        assert (
            f"{N_PROBLEMS} of {N_PROBLEMS} groups"
            in page.locator("[data-testid=stSidebar]").inner_text()
        )
        shoot(page, "rollouts-of-a-new-run")
        page.close()
