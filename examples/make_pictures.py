"""Makes the pictures of the README: every page of the app on the demo, and `hara-viz show`.

    python -m examples.make_pictures [--run SMOLLM2_RUN]

Needs Chromium (HARA_VIZ_CHROMIUM or on the path). `--run` is what the terminal picture shows;
default: a run of the demo.
"""

from __future__ import annotations

import argparse
import html
import io
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.text import Text

from hara_viz.store import open_run

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "assets" / "demo" / "runs"
PICTURES = ROOT / "docs" / "pictures"
READY = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)
PAGES = {
    "rollouts": ("", "light", None),  # the first page has no name of its own
    "rollouts-dark": ("", "dark", None),
    "runs": ("runs", "light", None),
    "transport": ("transport", "light", None),
    "transport-text": ("transport", "light", "What it usually does"),
    "transport-text-dark": ("transport", "dark", "What it usually does"),
    "embedding": ("embedding", "light", None),
    "learn": ("learn", "light", "Barycenter and plan"),
    "learn-dark": ("learn", "dark", "Reweighted advantage"),
}
"""Name of the picture → page, colour scheme, and the tab that is opened."""


@contextmanager
def running_app() -> Iterator[str]:
    """The app on the demo's runs; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = os.environ | {"HARA_VIZ_RUNS": str(RUNS), "HARA_VIZ_ROOTS": str(RUNS.parent)}
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2)
                break
            except OSError:
                time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait()


def richest_group(run_path: Path) -> str:
    """The problem whose group has the most rollouts of the rarer outcome."""
    run = open_run(run_path)
    keys = run.keys()
    groups = [(key, run.load_group(key).rewards) for key in keys]
    key, _ = max(
        groups, key=lambda item: min(int((item[1] > 0.5).sum()), int((item[1] < 0.5).sum()))
    )
    return key.problem_id


def shoot(page: Page, address: str, path: Path, tab: str | None = None) -> None:
    page.goto(address)
    page.wait_for_selector(READY, timeout=90_000)
    page.get_by_text("is being computed").wait_for(state="hidden", timeout=180_000)
    page.wait_for_timeout(6_000)  # components paint after the script has ended
    page.get_by_text("is being computed").wait_for(state="hidden", timeout=180_000)
    page.wait_for_selector(READY, timeout=90_000)
    if tab is not None:
        page.get_by_role("tab", name=tab).or_(page.get_by_role("radio", name=tab)).first.click()
        page.wait_for_timeout(4_000)
    page.wait_for_timeout(2_000)
    page.screenshot(path=path)


def app_pictures(run_path: Path, chromium: str) -> None:
    query = urlencode({"run": run_path.name, "problem": richest_group(run_path)})
    with running_app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (page_name, scheme, tab) in PAGES.items():
            context = browser.new_context(
                viewport={"width": 1280, "height": 800}, color_scheme=scheme
            )
            page = context.new_page()
            shoot(page, f"{address}/{page_name}?{query}", PICTURES / f"{name}.png", tab)
            context.close()
        browser.close()


def terminal_picture(run_path: Path, chromium: str) -> None:
    """`hara-viz show RUN` as it looks in a terminal of 110 columns."""
    shown = subprocess.run(
        [sys.executable, "-m", "hara_viz.cli", "show", str(run_path)],
        env=os.environ | {"COLUMNS": "110", "FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    console = Console(record=True, width=110, file=io.StringIO())
    console.print(Text.from_ansi("\n".join(shown.stdout.splitlines()[:42])))
    title = f"hara-viz show {html.escape(run_path.name)}"
    # The SVG names a web font; the picture must not fetch it.
    svg = console.export_svg(title=title).replace("https://", "about:")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1100})
        page.set_content(f"<body style='margin:0'>{svg}</body>")
        page.locator("svg").first.screenshot(path=PICTURES / "show.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path)
    arguments = parser.parse_args()
    chromium = os.environ.get("HARA_VIZ_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no Chromium found; install one or name it in HARA_VIZ_CHROMIUM")
    PICTURES.mkdir(parents=True, exist_ok=True)
    demo = sorted(path for path in RUNS.iterdir() if (path / "run.json").exists())[0]
    app_pictures(demo, chromium)
    terminal_picture(arguments.run or demo, chromium)


if __name__ == "__main__":
    main()
