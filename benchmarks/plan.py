"""The transport plan of a long rollout in a real browser: how soon it is painted, how it follows.

    python -m benchmarks.plan [--tokens 16384] [--atoms 64] [--runs 3] [--json FILE]

A Streamlit page with nothing but the component is opened in Chromium (`HARA_VIZ_CHROMIUM`, or the
one on the path). Painted: from the start of the navigation to the first frame after the build, the
median of the visits but for the first (cold caches). Hover and zoom: from the event to the next
frame after it. The claim: painted within 2 s at 16,384 × 64.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hara_viz.components.shared.cells import ShownCell
from hara_viz.components.transport_plan import AtomLabel, encode, plan_frame

Visit = Callable[[Any, str], dict[str, float]]
"""Opens an address in a browser context and gives figures in milliseconds."""
TARGET_MS = 2000.0
ROOT = Path(__file__).parents[1]
PAGE = """
import sys
from pathlib import Path
import streamlit as st
from streamlit.components.v2 import component
from hara_viz.components.transport_plan import assets
st.set_page_config(layout="wide")
parts = assets()
plan = component("benchmark_plan", html=parts.html, css=parts.css, js=parts.js)
plan(key="plan", data=Path(__file__).with_name("plan.bin").read_bytes())
"""
# The time from an event to the frame after the one that it caused.
MEASURE = """async ([selector, kind, n]) => {
  const plan = document.querySelector("[data-testid=stApp]");
  const find = (root) => root.querySelector(selector) ??
    [...root.querySelectorAll("*")].map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
  const canvas = find(plan);
  const box = canvas.getBoundingClientRect();
  const times = [];
  for (let i = 0; i < n; i++) {
    const x = box.left + 220 + ((box.width - 240) * ((i * 7) % n)) / n;
    const begun = performance.now();
    const options = { clientX: x, clientY: box.top + 100 + (i % 9) * 8, bubbles: true };
    if (kind === "hover") canvas.dispatchEvent(new PointerEvent("pointermove", options));
    else canvas.dispatchEvent(new WheelEvent("wheel",
      { ...options, ctrlKey: true, deltaY: i % 2 ? 300 : -300, cancelable: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begun);
  }
  return times;
}"""


def synthetic_frame(n_tokens: int, n_atoms: int) -> bytes:
    """A plan that is nearly monotone in time, with a blur, as real ones are."""
    rng = np.random.default_rng(0)
    at, place = np.arange(n_tokens)[:, None] / n_tokens, (np.arange(n_atoms) + 0.5) / n_atoms
    score = -((at - place) ** 2) * n_atoms**2 / 8 + rng.normal(size=(n_tokens, n_atoms))
    plan = np.exp(score - score.max(1, keepdims=True))
    plan /= plan.sum(1, keepdims=True) * n_tokens
    words = [f" w{i % 6000}" for i in range(n_tokens)]
    atoms = tuple(
        AtomLabel(k, (k + 0.5) / n_atoms, 1 / n_atoms, 0.05, f"word {k} / other")
        for k in range(n_atoms)
    )
    cells = tuple(ShownCell(word, 1, False) for word in words)
    return encode(
        plan_frame(
            sample=0,
            success=True,
            cells=cells,
            atoms=atoms,
            plan=plan,
            own=np.ones(n_tokens, bool),
            feature=rng.random(n_tokens),
            structure=0.1 * rng.random(n_tokens),
            steps=range(0, n_tokens, 18),
        )
    )


@contextmanager
def page_server(folder: Path, page: str) -> Iterator[str]:
    """A page, served by Streamlit on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "page.py").write_text(page, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(folder / "page.py")),
        *("--server.port", str(port), "--server.address", "127.0.0.1"),
        *("--server.headless", "true", "--server.fileWatcherType", "none"),
        *("--browser.gatherUsageStats", "false"),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait(address: str) -> None:
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the page's server did not start")


def measure(address: str, runs: int, visit: Visit) -> dict[str, float]:
    """Medians in milliseconds over `runs` visits after a first one."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("HARA_VIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        visits = [visit(context, address) for _ in range(runs + 1)][1:]
        browser.close()
    return {name: round(statistics.median(v[name] for v in visits), 1) for name in visits[0]}


def _visit(context: Any, address: str) -> dict[str, float]:
    page = context.new_page()
    page.goto(address)
    page.locator(".htp[data-ready=yes]").wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    painted = page.evaluate("performance.getEntriesByName('htp:painted')[0].startTime")
    hover = page.evaluate(MEASURE, [".htp canvas.matrix", "hover", 40])
    zoom = page.evaluate(MEASURE, [".htp canvas.matrix", "zoom", 20])
    nodes = page.evaluate("document.querySelectorAll('*').length")
    page.close()
    return {
        "painted_ms": painted,
        "hover_median_ms": statistics.median(hover),
        "hover_max_ms": max(hover),
        "zoom_median_ms": statistics.median(zoom),
        "zoom_max_ms": max(zoom),
        "page_nodes": nodes,
    }


def main() -> None:
    """Print the figures, and whether the claim holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--atoms", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    data = synthetic_frame(chosen.tokens, chosen.atoms)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.bin").write_bytes(data)
        with page_server(folder, PAGE) as address:
            figures = measure(address, chosen.runs, _visit)
    figures = {"tokens": chosen.tokens, "atoms": chosen.atoms, "bytes": len(data), **figures}
    for label, value in figures.items():
        print(f"{label:18} {value:>12,}")
    print("painted within 2 s" if figures["painted_ms"] <= TARGET_MS else "TOO SLOW: over 2 s")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
