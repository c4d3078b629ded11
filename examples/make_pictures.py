"""Makes the pictures of README and guide: the app's pages on the demo, `hara-viz show`, an export.

    python -m examples.make_pictures [--run SMOLLM2_RUN] [--only pinned learn]

Needs Chromium (HARA_VIZ_CHROMIUM or on the path). `--run` is what the terminal picture shows;
default: a run of the demo.
"""

from __future__ import annotations

import argparse
import html
import io
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.text import Text

from hara_viz.export import export_picture, group_credit_of
from hara_viz.store import open_run

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "assets" / "demo" / "runs"
PICTURES = ROOT / "docs" / "pictures"
READY = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)

AT_WORK = re.compile(r"is being computed|runs? are done\)")
"""What pages say while they compute beside the app."""


class Shot(NamedTuple):
    """One screenshot of the app."""

    page: str = ""
    """Its path; the first page has no name of its own."""
    scheme: Literal["light", "dark"] = "light"
    tab: str | None = None
    """The tab that is opened."""
    query: tuple[tuple[str, str], ...] = ()
    """What the address asks for, beside run and problem."""


SHOTS = {
    "rollouts": Shot(),
    "rollouts-dark": Shot(scheme="dark"),
    "pinned": Shot(query=(("rollout", "0"), ("token", "24"), ("signal", "shift"))),
    "runs": Shot("runs"),
    "transport": Shot("transport"),
    "transport-text": Shot("transport", tab="What it usually does"),
    "transport-text-dark": Shot("transport", "dark", "What it usually does"),
    "embedding": Shot("embedding"),
    "compare": Shot("compare"),
    "compare-one-problem": Shot("compare", tab="One problem"),
    "learn": Shot("learn", tab="Barycenter and plan"),
    "learn-dark": Shot("learn", "dark", "Reweighted advantage"),
}
"""By the name of the picture."""


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


def shoot(page: Page, address: str, tab: str | None = None) -> bytes:
    """A PNG of a page once it has come to rest."""
    page.goto(address)
    page.wait_for_selector(READY, timeout=90_000)
    page.get_by_text(AT_WORK).first.wait_for(state="hidden", timeout=180_000)
    page.wait_for_timeout(6_000)  # components paint after the script has ended
    page.get_by_text(AT_WORK).first.wait_for(state="hidden", timeout=180_000)
    page.wait_for_selector(READY, timeout=90_000)
    if tab is not None:
        page.get_by_role("tab", name=tab).or_(page.get_by_role("radio", name=tab)).first.click()
        page.wait_for_timeout(4_000)
    page.wait_for_timeout(2_000)
    return page.screenshot()


def address_of(base: str, shot: Shot, run_path: Path) -> str:
    """Where a shot is taken."""
    query = {"run": run_path.name, "problem": richest_group(run_path), **dict(shot.query)}
    return f"{base}/{shot.page}?{urlencode(query)}"


def app_pictures(run_path: Path, chromium: str, wanted: Sequence[str]) -> None:
    with running_app() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in wanted:
            shot = SHOTS[name]
            context = browser.new_context(
                viewport={"width": 1280, "height": 800}, color_scheme=shot.scheme
            )
            page = context.new_page()
            address = address_of(base, shot, run_path)
            (PICTURES / f"{name}.png").write_bytes(shoot(page, address, shot.tab))
            context.close()
        browser.close()


def export_picture_of(run_path: Path) -> None:
    """What `hara-viz export --to picture` writes of the group."""
    run = open_run(run_path)
    found = group_credit_of(run, richest_group(run_path))
    export_picture(run, found, "shift", PICTURES / "heatmap.svg", force=True)


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


def find_chromium() -> str:
    """Where Chromium is; ends the program where there is none."""
    chromium = os.environ.get("HARA_VIZ_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no Chromium found; install one or name it in HARA_VIZ_CHROMIUM")
    return chromium


def demo_run() -> Path:
    """The run of the demo that the pictures show."""
    return sorted(path for path in RUNS.iterdir() if (path / "run.json").exists())[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path)
    parser.add_argument("--only", nargs="*", choices=SHOTS, help="these screenshots alone")
    arguments = parser.parse_args()
    chromium = find_chromium()
    PICTURES.mkdir(parents=True, exist_ok=True)
    app_pictures(demo_run(), chromium, arguments.only or list(SHOTS))
    if not arguments.only:
        export_picture_of(demo_run())
        terminal_picture(arguments.run or demo_run(), chromium)


if __name__ == "__main__":
    main()
