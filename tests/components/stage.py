"""A page with one component on it and no Streamlit: served from memory, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hara_viz.components.bundle import Assets

ORIGIN = "http://component.test"
THEMES = {
    "light": "--st-text-color:#1c2430;--st-background-color:#fff;--st-border-color:#dde1e8;",
    "dark": "--st-text-color:#e4e7ec;--st-background-color:#12151b;--st-border-color:#333a46;"
    "--st-secondary-background-color:#1d222b;",
}
PAGE = """<!doctype html><meta charset="utf-8"><title>stage</title>
<style>body {{ margin: 0; background: var(--st-background-color); {theme} }}
#mount {{ width: 920px; margin: 12px; }}</style>
<div id="mount"></div>
<script type="module">
import entry from "/component.js";
const host = document.getElementById("mount");
const shadow = host.attachShadow({{ mode: "open" }});
const [html, css] = await Promise.all(["/html", "/css"].map(async (p) => (await fetch(p)).text()));
shadow.innerHTML = html;
const style = document.createElement("style");
style.textContent = css;
shadow.append(style);
window.sent = [];
window.heard = [];
window.addEventListener("hara:select", (event) => window.heard.push(event.detail));
const setTriggerValue = (name, value) => window.sent.push([name, value]);
window.show = async (path) => {{
  const data = new Uint8Array(await (await fetch(path)).arrayBuffer());
  window.again = () => entry({{ data, parentElement: shadow, setTriggerValue }});
  window.leave = window.again();
}};
await window.show("/frame/first");
</script>"""


class Stage:
    """The page, and what went wrong on it."""

    def __init__(self, page: Any, assets: Assets, frames: dict[str, bytes]) -> None:
        self.page = page
        self.frames = frames
        self.problems: list[str] = []
        self.theme = "light"
        self._bodies = {
            "/component.js": (assets.js, "text/javascript"),
            "/html": (assets.html, "text/plain"),
            "/css": (assets.css, "text/css"),
        }
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._on_console)
        page.on("dialog", lambda dialog: self._refuse(dialog))
        page.route("**/*", self._answer)

    def open(self, query: str = "") -> None:
        """Load the page and wait until the component has drawn."""
        self.page.goto(f"{ORIGIN}/{query}")
        self.page.locator(".hth[data-ready]").wait_for(timeout=20_000)

    def _on_console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.problems.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    def _answer(self, route: Any) -> None:
        url = route.request.url.split("?")[0]
        path = url.removeprefix(ORIGIN)
        if not url.startswith(ORIGIN):
            self.problems.append(f"a request left the page: {url}")
            route.abort()
        elif path.startswith("/frame/"):
            route.fulfill(body=self.frames[path.removeprefix("/frame/")])
        elif path in self._bodies:
            body, kind = self._bodies[path]
            route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")
        elif path == "/":
            page = PAGE.format(theme=THEMES[self.theme])
            route.fulfill(body=page, content_type="text/html; charset=utf-8")
        else:
            route.fulfill(status=204)  # the browser asks for an icon


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or a skipped test where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("HARA_VIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None and os.environ.get("HARA_VIZ_REQUIRE_BROWSER") == "1":
        pytest.fail("no Chromium found, and HARA_VIZ_REQUIRE_BROWSER=1 says that there must be one")
    if path is None:
        pytest.skip("no Chromium found; install one or name it in HARA_VIZ_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        try:
            yield browser
        finally:
            browser.close()
