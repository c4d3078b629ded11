"""Map, text, plan, barycenter text and table on one page, without Streamlit or any server: a token
picked in one is lit in all others by the browser alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import pytest

from tests.components import groups
from tests.components.linked import PLANNED, linked_page, parts

pytestmark = pytest.mark.browser

# What is lit is read at once after the event, in the same task: nothing that waits for a server
# could have answered. Then the time to the frame after the one that shows it.
PICK = """async ([from, n, sample]) => {
  const root = (name, of) => document.getElementById(name).shadowRoot.querySelector(of);
  const map = root("map", ".hem"), text = root("text", ".hth"), plan = root("plan", ".htp");
  const quotes = root("barycenter", ".hbt"), table = root("table", ".htt");
  const canvas = map.querySelector("canvas"), box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};  // events made by a script capture nothing
  const pick = {
    map: (i) => {
      const point = window.pointsOf(sample)[3 + 2 * i];
      const [x, y] = map.pointPlace(point);
      const at = { clientX: box.left + x, clientY: box.top + y, pointerId: 1, button: 0 };
      for (const type of ["pointerdown", "pointerup"])
        canvas.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true }));
    },
    text: (i) =>
      text.querySelectorAll(`article[data-sample='${sample}'] [data-cell]`)[4 + 2 * i].click(),
    plan: (i) => plan.querySelectorAll("[data-cell]")[4 + 2 * i].click(),
    barycenter: (i) => quotes.querySelectorAll(".quote")[4 + 2 * i].click(),
    table: (i) => [...table.querySelectorAll("tbody tr")]
      .filter((row) => row.children[0].textContent === String(sample))[4 + 2 * i].click(),
  }[from];
  const told = [];
  for (let i = 0; i < n; i++) {
    const begun = performance.now();
    pick(i);
    const quote = quotes.querySelector(".quote.pinned");
    const row = table.querySelector("tr.lit");
    const lit = {
      map: [map.dataset.sample, map.dataset.token],
      text: [text.dataset.sample, text.dataset.token],
      plan: [String(sample), plan.dataset.token],
      barycenter: quote && [quote.dataset.sample, quote.dataset.token],
      table: row && [...row.children].map((cell) => cell.textContent),
    };
    const lights = [map.dataset.lit, text.querySelectorAll(".pinned").length,
      plan.querySelectorAll(".pinned").length];
    const task = performance.now() - begun;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    told.push({ lit, lights, url: location.search, task, frame: performance.now() - begun });
  }
  return told;
}"""
POINTS = """() => {
  const lengths = LENGTHS;
  window.pointsOf = (sample) => {
    const start = lengths.slice(0, sample).reduce((a, b) => a + b, 0);
    return Array.from({ length: lengths[sample] }, (_, i) => start + i);
  };
}"""


@pytest.fixture(scope="module")
def found() -> dict[str, bytes]:
    return parts()


@pytest.fixture
def page(found: dict[str, bytes]) -> Iterator[Any]:
    lengths = [len(r.completion_ids) for r in groups.small_group().rollouts]
    with linked_page(found) as opened:
        opened.evaluate(POINTS.replace("LENGTHS", str(lengths)))
        yield opened


@pytest.mark.parametrize("origin", ["map", "text", "plan", "barycenter", "table"])
def test_a_token_picked_in_one_is_lit_in_all_others_at_once(page: Any, origin: str) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    told = page.evaluate(PICK, [origin, 9, PLANNED])
    for now in told:
        first = now["lit"][origin]
        assert now["lit"] == dict.fromkeys(now["lit"], first), "read in the very task of the event"
        assert all(int(light) > 0 for light in now["lights"]), "a point, a word in either text"
        sample, token = first
        assert {f"rollout={sample}", f"token={token}"} <= set(now["url"].lstrip("?").split("&"))
    assert len({tuple(now["lit"]["map"]) for now in told}) == len(told), "each was another token"
    assert requests == [], "nobody was asked"
    for until in ("task", "frame"):
        times = [now[until] for now in told]
        figures = f"median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms"
        print(f"from {origin} to the end of the {until}: {figures}")  # noqa: T201 (pytest -s)
