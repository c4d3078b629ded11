"""RLLoggingBoard on the same rollouts: it draws one rollout of the group at a time."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from benchmarks.ui_parts.run import peer_lines
from benchmarks.ui_parts.server import serve


def measure_peer(browser: Any, checkout: Path, folder: Path) -> dict[str, float]:
    """Milliseconds from "Load & View" to the first rollout's grid of tokens, and its DOM nodes.

    Args:
        browser: a running Chromium.
        checkout: of RLLoggingBoard.
        folder: holds runs/long; the peer's copy and its data are put there.
    """
    copy = folder / "peer"
    shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git", "rollout_samples"))
    data = copy / "rollout_samples" / "long"
    data.mkdir(parents=True)
    with (data / "data.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in peer_lines(folder / "runs" / "long"))
    with serve(folder, folder / "peer.log", script="rl_logging_board.py", folder=copy) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        button = page.get_by_role("button", name="Load & View")
        button.wait_for(timeout=120_000)
        start = time.perf_counter()
        button.click()
        # The last thing on its page is the grid of tokens × values of one rollout.
        page.locator(
            ".js-plotly-plot .heatmaplayer, [data-testid=stAlertContentError]"
        ).last.wait_for(timeout=600_000, state="attached")
        found = {
            "shown": 1000 * (time.perf_counter() - start),
            "nodes": page.evaluate("document.querySelectorAll('*').length"),
        }
        page.close()
    return found
