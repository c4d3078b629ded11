"""The rollouts page at full size: 16 rollouts of 16,384 tokens in a headless Chromium.

    python -m benchmarks.ui [--rollouts 16 --tokens 16384] [--rounds 5] [--peer PATH] [--json FILE]

The app is started as a user starts it, on a run that is made for the occasion. In the same run: the
same tokens as plain spans with their value in a title (what one writes without thinking), and with
`--peer` a checkout of RLLoggingBoard on the same rollouts. Medians over the rounds. Times mean
little beyond this machine: the calibration line is a plain Python loop, and its like took 0.9 to
1.25 s where the targets were set. Needs Chromium (or HARA_VIZ_CHROMIUM) and playwright.

painted       start of the navigation -> the first frame after the heatmap was built
longest task  of the main thread, from the navigation on
hover         pointer over another token -> the frame with its tooltip
recolour      another signal chosen -> the frame in its colours, values of the signal included
click         pointer down on a token -> the inspector, drawn by Python, tells of it
script        the longest rerun of the app's script for that click, from the word that it began to
              the word that it is done, as they reach the browser
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.ui_parts.peer import measure_peer
from benchmarks.ui_parts.run import link_of, make_run
from benchmarks.ui_parts.server import serve

TARGETS = {
    "painted, warm": 2500, "painted, cold": 4000, "longest task": 400, "hover": 16, "recolour": 60,
    "click": 300, "script": 50, "bytes a click": 15_000, "DOM nodes": 6000, "bytes a token": 13,
}  # fmt: skip
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
READY = ".hth[data-ready=yes]"
# Notes when the frame after a mark was painted, how long tasks were, and how long the script ran.
WATCH = """
window.seen = { painted: null, longest: 0 };
const frame = (then) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => then(performance.now());
  port2.postMessage(null);
});
window.afterFrame = () => new Promise(frame);
new PerformanceObserver((list) => {
  if (list.getEntriesByName("hth:drawn").length) frame((t) => { window.seen.painted ??= t; });
}).observe({ entryTypes: ["mark"] });
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries())
    window.seen.longest = Math.max(window.seen.longest, duration);
}).observe({ entryTypes: ["longtask"] });
"""
RECOLOUR = """async (name) => {
  const select = window.heatmapRoot().querySelector("select");
  const start = performance.now();
  select.value = name;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  return await window.afterFrame() - start;
}"""
FIND = """() => {
  window.inPage = (selector, node = document) => {
    const found = node.querySelector(selector);
    if (found) return found;
    const hosts = [...node.querySelectorAll("*")].filter((element) => element.shadowRoot);
    for (const { shadowRoot } of hosts) {
      const inside = window.inPage(selector, shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  window.heatmapRoot = () => window.inPage(".hth");
  window.heatmapRoot().addEventListener("pointermove", () => {
    const start = performance.now();
    window.afterFrame().then((end) => window.hovers.push(end - start));
  }, { capture: true });
  window.hovers = [];
}"""


# Milliseconds from the next press on a token to the inspector's word of it.
TOLD = """(number) => {
  const root = window.heatmapRoot();
  const span = root.querySelectorAll("article .lines [data-cell]")[number];
  let pressed = null;
  span.addEventListener("pointerdown", () => { pressed = performance.now(); }, { once: true });
  const box = document.querySelector(".st-key-inspector-box");
  const isTold = () => window.inPage(".htc", box)?.dataset.token === root.dataset.token;
  window.told = new Promise((done, fail) => {
    const look = () => {
      if (pressed !== null && root.dataset.token && isTold()) done(performance.now() - pressed);
      else setTimeout(look, 4);
    };
    look();
    setTimeout(() => fail(new Error("the inspector did not follow")), 30000);
  });
}"""


def calibrate() -> float:
    """Seconds of a plain Python loop of 5 million steps."""
    start, total = time.perf_counter(), 0
    for i in range(5_000_000):
        total += i & 7
    return time.perf_counter() - start


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("HARA_VIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise SystemExit("no Chromium found; install one or name it in HARA_VIZ_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def open_page(context: Any, address: str) -> tuple[Any, dict[str, float]]:
    """A page that shows the group, and how long that took."""
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit")
    page.locator(READY).wait_for(timeout=600_000)
    page.wait_for_function("window.seen.painted !== null")
    settle(page)
    seen = page.evaluate("window.seen")
    return page, {"painted": seen["painted"], "longest task": seen["longest"]}


def settle(page: Any) -> None:
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_timeout(600)


def nodes_of(page: Any) -> int:
    cdp = page.context.new_cdp_session(page)
    cdp.send("HeapProfiler.collectGarbage")
    return cdp.send("Memory.getDOMCounters")["nodes"]


def interact(page: Any) -> dict[str, float]:
    """Medians of hover, recolour and click on an open page, and what a click sends."""
    page.evaluate(FIND)
    cells = page.locator("article [data-cell]")
    boxes = [box for i in range(0, 60, 3) if (box := cells.nth(i).bounding_box())]
    for box in boxes:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(60)
    hovers = page.evaluate("window.hovers")
    names = ["shift", "entropy", "weight", "surprisal", "advantage", "novelty"]
    recolours = []
    for name in names:
        recolours.append(page.evaluate(RECOLOUR, name))
        settle(page)
    clicks = [click(page, token) for token in range(4, 14)]
    times, scripts, sizes = zip(*clicks, strict=True)
    return {
        "hover": statistics.median(hovers),
        "recolour": statistics.median(recolours),
        "recolour, worst": max(recolours),
        "click": statistics.median(times),
        "script": statistics.median(scripts),
        "bytes a click": statistics.median(sizes),
    }


def click(page: Any, number: int) -> tuple[float, float, int]:
    """Milliseconds to the inspector, milliseconds of the longest rerun, bytes received."""
    frames: list[tuple[float, bytes]] = []
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.enable")
    cdp.on(
        "Network.webSocketFrameReceived",
        lambda event: frames.append(
            (event["timestamp"], base64.b64decode(event["response"]["payloadData"]))
        ),
    )
    cell = page.locator("article .lines [data-cell]").nth(number * 5)
    page.evaluate(TOLD, number * 5)
    cell.click()
    took = page.evaluate("window.told")
    settle(page)
    cdp.detach()
    return took, max(reruns(frames)), sum(len(frame) for _, frame in frames)


def reruns(frames: list[tuple[float, bytes]]) -> list[float]:
    """Milliseconds of each rerun of the script, by the times at which its messages came."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    found, since = [], None
    for seconds, frame in frames:
        kind = ForwardMsg.FromString(frame).WhichOneof("type")
        if kind == "new_session":
            since = seconds
        elif kind == "script_finished" and since is not None:
            found.append(1000 * (seconds - since))
            since = None
    return found


def plain_spans(browser: Any, folder: Path, n_tokens: int) -> dict[str, float]:
    """The same tokens as spans with their values in titles, in one page from a file."""
    words = [f"word{i % 6000}"[: 3 + i % 7] for i in range(n_tokens)]
    spans = "".join(
        f'<span title="novelty {i % 97}" style="background:rgb(255,{i % 255},200)">{word} </span>'
        for i, word in enumerate(words)
    )
    (folder / "spans.html").write_text(f"<!doctype html><title>spans</title><body>{spans}")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(WATCH + "addEventListener('load', () => performance.mark('hth:drawn'));")
    page.goto((folder / "spans.html").as_uri(), timeout=300_000)
    page.wait_for_function("window.seen.painted !== null", timeout=300_000)
    page.wait_for_timeout(500)
    seen = page.evaluate("window.seen")
    found = {"painted": seen["painted"], "longest task": seen["longest"], "nodes": nodes_of(page)}
    page.close()
    return found


def measure(given: argparse.Namespace, folder: Path) -> dict[str, dict[str, float]]:
    n_bytes = make_run(folder / "runs" / "long", given.rollouts, given.tokens)
    result: dict[str, dict[str, float]] = {}
    with serve(folder / "runs", folder / "app.log") as address, chromium() as browser:
        link = link_of(address)
        viewport = {"width": 1280, "height": 800}
        first = browser.new_context(viewport=viewport)
        open_page(first, link)  # the server computes the group's credit once
        first.close()
        cold, warm, inside = [], [], []
        for _ in range(given.rounds):
            context = browser.new_context(viewport=viewport)
            page, at_first = open_page(context, link)
            cold.append(at_first)
            page.close()
            page, again = open_page(context, link)
            nodes = nodes_of(page)
            inside.append(interact(page))
            warm.append({**again, "DOM nodes": max(nodes, nodes_of(page))})
            context.close()
        ours = {name: statistics.median(row[name] for row in inside) for name in inside[0]}
        ours["painted, warm"] = statistics.median(row["painted"] for row in warm)
        ours["painted, cold"] = statistics.median(row["painted"] for row in cold)
        ours["longest task"] = statistics.median(row["longest task"] for row in cold + warm)
        ours["DOM nodes"] = statistics.median(row["DOM nodes"] for row in warm)
        ours["bytes a token"] = n_bytes / (given.rollouts * given.tokens)
        result["hara-viz"] = ours
        result["plain spans"] = plain_spans(browser, folder, given.rollouts * given.tokens)
        if given.peer:
            result["peer"] = measure_peer(browser, given.peer, folder)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rollouts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=16_384)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", type=Path, help="a checkout of RLLoggingBoard")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    seconds = calibrate()
    print(f"calibration {seconds:.2f} s · {given.rollouts} × {given.tokens} tokens")
    with tempfile.TemporaryDirectory() as folder:
        result = measure(given, Path(folder))
    for name, value in result["hara-viz"].items():
        target = TARGETS.get(name)
        said = "" if target is None else f"  target {target}{'' if value <= target else '  MISSED'}"
        print(f"{name:>16} {value:10.1f}{said}")
    for name in ("plain spans", "peer"):
        figures = ", ".join(f"{k} {v:.0f}" for k, v in result.get(name, {}).items())
        print(f"{name:>16} {figures}" if figures else "", end="\n" if figures else "")
    if given.json:
        given.json.write_text(json.dumps({"calibration": seconds, **result}, indent=1))


if __name__ == "__main__":
    main()
