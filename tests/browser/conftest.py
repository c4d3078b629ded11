"""A real server and a real Chromium. Without a browser these tests skip, unless
HARA_VIZ_REQUIRE_BROWSER=1 says that there must be one.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READY = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is."""
    found = os.environ.get("HARA_VIZ_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None and os.environ.get("HARA_VIZ_REQUIRE_BROWSER") == "1":
        pytest.fail("no Chromium found, and HARA_VIZ_REQUIRE_BROWSER=1 says that there must be one")
    if found is None:
        pytest.skip("no Chromium found; install one or name it in HARA_VIZ_CHROMIUM")
    return found


@contextmanager
def running_app(runs: Path, log: Path, *roots: Path) -> Iterator[str]:
    """The app as a user starts it; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = os.environ | {
        "HARA_VIZ_RUNS": str(runs),
        "HARA_VIZ_ROOTS": os.pathsep.join(map(str, roots or (runs,))),
    }
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_until_healthy(address, server, log)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the app ended before it was ready:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"the app was not ready in 90 s:\n{log.read_text()}")


@pytest.fixture(scope="session")
def app_url(
    chromium: str, small_runs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server that shows the small runs."""
    with running_app(small_runs, tmp_path_factory.mktemp("log") / "app.log") as address:
        yield address


# Not for the whole session: Playwright allows one at a time, and other tests have their own.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[object]:
    """One Chromium for the journeys of a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable[..., object]]:
    """Open an address in a fresh profile; at the end no error may have been met, no request may
    have left the machine.
    """
    contexts, complaints = [], []

    def visit(address: str, scheme: str = "light"):
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.on(
            "console",
            # On a deep link Streamlit probes for its own server below the page's path first.
            lambda message: (
                message.type == "error"
                and "/_stcore/" not in message.location.get("url", "")
                and complaints.append(f"console: {message.text}")
            ),
        )
        page.on(
            "request",
            lambda request: (
                not request.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:"))
                and complaints.append(f"left the machine: {request.url}")
            ),
        )
        page.goto(address)
        settle(page)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def settle(page) -> None:
    """Wait until the app has nothing left to do, and for a while has had nothing to do.

    A component tells Python of a move ~150 ms after it: the script not running now says little.
    """
    page.wait_for_selector(READY, timeout=60_000)
    page.evaluate("window.haraIdle = null")
    page.wait_for_function(
        """(ready) => {
          if (!document.querySelector(ready)) window.haraIdle = null;
          else window.haraIdle ??= performance.now();
          return window.haraIdle !== null && performance.now() - window.haraIdle > 400;
        }""",
        arg=READY,
        polling=50,
        timeout=60_000,
    )
