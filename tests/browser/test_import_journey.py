"""A training's dump, dropped into the page: seen, imported, read, looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.browser.conftest import running_app, settle
from tests.browser.test_rollouts_journey import ready, shoot
from tests.browser.test_start_run_journey import choose
from tests.importers.dumps import OTHER, QUESTION, trl_group, write_trl

pytestmark = pytest.mark.browser


@pytest.fixture
def workplace(tmp_path: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a checkpoint and room for runs; the dump lies elsewhere."""
    shutil.copytree(tiny_policy_dir, tmp_path / "work" / "models" / "tiny")
    (tmp_path / "work" / "runs").mkdir()
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    return tmp_path / "work"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drop_look_import_and_open(workplace: Path, tmp_path: Path, open_page, scheme: str) -> None:
    files = [
        write_trl(
            tmp_path / "elsewhere",
            step,
            [*trl_group(QUESTION, [1, 0, 0, step % 2]), *trl_group(OTHER, [0, 0, 1, 0])],
        )
        for step in (1, 2)
    ]
    log = tmp_path / "app.log"
    with running_app(workplace / "runs", log, workplace, workplace / "runs") as address:
        page = open_page(f"{address}/runs", scheme)
        page.get_by_text("Import the rollouts of a training").click()
        page.locator("input[type=file]").set_input_files([str(path) for path in files])
        page.get_by_text("TRL completions", exact=True).wait_for(timeout=60_000)
        settle(page)
        assert page.get_by_role("button", name="Import 16 rollouts").is_disabled()
        page.get_by_text("TRL completions", exact=True).scroll_into_view_if_needed()
        shoot(page, f"import-look-{scheme}")
        page.get_by_role("button", name="Import 16 rollouts").scroll_into_view_if_needed()
        settle(page)
        choose(page, "Tokenizer of the checkpoint", "models/tiny")
        page.get_by_role("button", name="Import 16 rollouts").click()
        here = page.locator("[class*=st-key-import-job-]")  # where the click was
        here.get_by_text("done", exact=True).wait_for(timeout=120_000)
        assert page.locator("[data-testid=stFileUploaderFile]").count() == 0, "free for the next"
        settle(page)
        assert not list((tmp_path / "jobs" / ".uploads").iterdir()), "imported, so not kept"
        shoot(page, f"import-done-{scheme}")
        here.get_by_role("button", name="Show this run").click()
        ready(page)
        assert page.locator("article").count() == 4
        shoot(page, f"import-rollouts-{scheme}")
        page.close()  # before its server ends
