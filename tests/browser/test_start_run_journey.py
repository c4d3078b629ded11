"""From a checkpoint and a problem set to a token, its plan and its place on the map, all on the
demo and without leaving the browser.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.problems import load_problems
from hara_viz.store import open_run
from tests.browser.conftest import ROOT, running_app, settle
from tests.browser.test_rollouts_journey import CELL, ready, shoot

pytestmark = pytest.mark.browser

DEMO = ROOT / "assets" / "demo"
GROUP_SIZE = 6
LONG = 300_000
"""Milliseconds that a job may take on a machine that does other things as well."""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Room for runs; the demo's checkpoints and problems are below an allowed folder."""
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    return tmp_path / "runs"


def choose(page, label: str, *options: str) -> None:
    """Pick options of a select box by its label."""
    box = page.get_by_role("combobox", name=label)
    for option in options:
        box.click()
        # Typed, since a long list holds only what is in sight.
        box.fill(option)
        page.get_by_role("option", name=option, exact=True).click()
        if label == "Checkpoints":  # takes several: its list stays open
            page.keyboard.press("Escape")
        settle(page)


def fill(page, label: str, number: int) -> None:
    field = page.get_by_role("spinbutton", name=label)
    field.fill(str(number))
    field.press("Tab")
    settle(page)


def component(page, name: str):
    """A canvas component, once it has been drawn."""
    shown = page.locator(f".{name}[data-ready=yes]")
    shown.wait_for(timeout=60_000)
    return shown


def turn_to(page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    page.wait_for_url(f"**/{name.lower()}?*")
    settle(page)


def test_start_watch_stop_resume_open_and_follow_a_token(
    runs: Path, open_page, tmp_path: Path
) -> None:
    n_problems = len(load_problems(DEMO / "problems.jsonl").problems)
    with running_app(runs, tmp_path / "app.log", DEMO, runs) as address:
        page = open_page(f"{address}/runs")
        page.get_by_text("No run here yet").wait_for()
        choose(page, "Checkpoints", "checkpoints/start/checkpoint-0")
        choose(page, "Problem set", "problems.jsonl")

        # Before anything is sampled: where the set lies, its first problem, its gold, its reward.
        page.get_by_text(str(DEMO / "problems.jsonl")).wait_for()
        first = load_problems(DEMO / "problems.jsonl").problems[0]
        page.get_by_text(f"user: {first.messages[-1].content}").wait_for()
        page.get_by_text("number fits: every gold answer is one number").wait_for()
        fill(page, "Group size G", GROUP_SIZE)
        fill(page, "Max. new tokens", 96)
        page.get_by_text(f"{n_problems} problems × {GROUP_SIZE} =").wait_for()
        shoot(page, "start-a-run")

        # Start answers where the click was; the same job stands in the panel above.
        page.get_by_role("button", name="Start", exact=True).click()
        here = page.locator("[class*=st-key-start-job-]")
        here.get_by_text("running", exact=True).wait_for(timeout=LONG)
        here.get_by_text("sampling:").wait_for(timeout=LONG)
        shoot(page, "job-running")
        here.get_by_role("button", name="Stop", exact=True).click()
        here.get_by_role("button", name="Resume").wait_for(timeout=LONG)
        (name,) = [path.name for path in runs.iterdir() if (path / "run.json").exists()]
        n_kept = len(open_run(runs / name).keys())
        assert n_kept < n_problems, "stopped before its end"
        above = page.locator("[class*=st-key-job-]")
        above.get_by_text("stopped", exact=True).wait_for()
        here.get_by_role("button", name="Resume").click()
        here.get_by_text("done", exact=True).wait_for(timeout=LONG)
        assert len(open_run(runs / name).keys()) == n_problems
        shoot(page, "job-done")

        here.get_by_role("button", name="Show this run").click()
        ready(page)
        assert page.locator("article").count() == GROUP_SIZE
        said = page.locator("[data-testid=stSidebar]").get_by_text(
            f"{n_problems} of {n_problems} groups"
        )
        said.wait_for()
        shoot(page, "rollouts-of-a-new-run")
        follow_a_token(page)
        page.close()  # before its server ends


def follow_a_token(page) -> None:
    """From the heatmap to the plan and the map, and back by the address."""
    sample = ready(page).locator("article").first.get_attribute("data-sample")
    page.locator(CELL.format(sample=sample)).nth(4).click()
    page.wait_for_function("document.location.search.includes('token=4')")
    page.get_by_text(f"of rollout {sample}", exact=False).first.wait_for()
    settle(page)
    link = page.url

    turn_to(page, "Transport")
    plan = component(page, "htp")
    assert (plan.get_attribute("data-token"), plan.locator(".pinned").count()) == ("4", 1)
    turn_to(page, "Embedding")
    shown = component(page, "hem")
    assert (shown.get_attribute("data-sample"), shown.get_attribute("data-token")) == (sample, "4")
    assert shown.get_attribute("data-lit") != "", "its point is lit"

    # The address alone brings all of it back, here and on a fresh visit.
    for _ in range(2):
        page.reload()
        settle(page)
        assert component(page, "hem").get_attribute("data-token") == "4"
        page.goto(link)
        settle(page)
        heatmap = ready(page)
        found = heatmap.get_attribute("data-sample"), heatmap.get_attribute("data-token")
        assert found == (sample, "4")
        turn_to(page, "Embedding")


def test_several_checkpoints_become_a_series(runs: Path, open_page, tmp_path: Path) -> None:
    with running_app(runs, tmp_path / "app.log", DEMO, runs) as address:
        page = open_page(f"{address}/runs", "dark")
        choose(
            page,
            "Checkpoints",
            "checkpoints/start/checkpoint-0",
            "checkpoints/grpo/checkpoint-50",
        )
        choose(page, "Problem set", "problems.jsonl")
        fill(page, "First N problems", 2)
        fill(page, "Group size G", 2)
        fill(page, "Max. new tokens", 48)
        page.get_by_text("for each of 2 checkpoints").wait_for()
        page.get_by_role("button", name="Start a series of 2 runs").click()
        page.locator("[class*=st-key-start-job-]").wait_for(timeout=LONG)
        shoot(page, "series-running-dark")
        panel = page.locator("[class*=st-key-job-]")
        panel.get_by_text("done", exact=True).nth(1).wait_for(timeout=LONG)
        settle(page)
        page.get_by_text("Runs", exact=True).first.scroll_into_view_if_needed()
        shoot(page, "series-done-dark")
        steps = sorted(open_run(path.parent).info.global_step for path in runs.rglob("run.json"))
        assert steps == [0, 50]
        assert {open_run(path.parent).info.series for path in runs.rglob("run.json")} != {None}
        page.close()
