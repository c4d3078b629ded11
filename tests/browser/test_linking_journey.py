"""One token on every view of the real app: within a page by the browser alone, across pages by the
selection.
"""

from __future__ import annotations

import statistics

import pytest

from tests.browser.conftest import settle
from tests.browser.test_map_journey import by_pca
from tests.browser.test_transport_journey import ready, tab
from tests.small_runs import PENS

pytestmark = pytest.mark.browser

# Picks in the view `of`; all views are read in the very task of the event, before anything that
# came over the wire could have been heard. Then the time to the end of the next frame. Each
# pick waits until Python has answered the one before, as a reader does who looks at what is lit.
PICKS = """async ([of, n]) => {
  const all = (selector, root = document) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].flatMap(
      (e) => (e.shadowRoot ? all(selector, e.shadowRoot) : [])),
  ];
  const views = { map: all(".hem")[0], text: all(".hth")[0], plan: all(".htp")[0] };
  const tables = all(".htt");
  const clicks = {
    map: (i) => {
      const canvas = views.map.querySelector("canvas"), box = canvas.getBoundingClientRect();
      canvas.setPointerCapture = () => {};  // events made by a script capture nothing
      const [x, y] = views.map.pointPlace(3 + 9 * i);
      const at = { clientX: box.left + x, clientY: box.top + y, pointerId: 1, button: 0 };
      for (const type of ["pointerdown", "pointerup"])
        canvas.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true }));
    },
    text: (i) => views.text.querySelectorAll("[data-cell]")[2 + 5 * i].click(),
    plan: (i) => views.plan.querySelectorAll("[data-cell]")[i].click(),
    table: (i) => tables[0].querySelectorAll("tbody tr")[i].click(),
  };
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  const told = [];
  for (let i = 0; i < n; i++) {
    await rest(400);  // until Python has been told
    while (!document.querySelector("[data-test-script-state=notRunning]")) await rest(50);
    await rest(200);
    const begun = performance.now();
    clicks[of](i);
    const marked = (view) => view?.querySelectorAll(".pinned").length;
    const now = {
      known: Object.values(views).filter(Boolean).map((v) => [v.dataset.sample, v.dataset.token]),
      text: marked(views.text),
      plan: marked(views.plan),
      point: views.map?.dataset.lit,
      rows: tables.reduce((sum, table) => sum + Number(table.dataset.lit), 0),
      url: location.search,
      task: performance.now() - begun,
    };
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    told.push({ ...now, frame: performance.now() - begun });
  }
  return told;
}"""


def say_times(told: list[dict], what: str) -> None:
    for until in ("task", "frame"):
        times = [now[until] for now in told]
        figures = f"median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms"
        print(f"{what} to the end of the {until}: {figures}")  # noqa: T201 (shown by pytest -s)


@pytest.mark.parametrize("origin", ["map", "text"])
def test_map_and_text_of_the_embedding_page_light_each_other(
    app_url, open_page, origin: str
) -> None:
    page = open_page(f"{app_url}/embedding?run=small&problem={PENS.problem_id}")
    by_pca(page)
    ready(page, "hth")
    settle(page)
    told = page.evaluate(PICKS, [origin, 7])
    for now in told:
        point, word = now["known"]
        assert point == word and "" not in point
        assert now["point"] != "" and now["text"] >= 1
        assert f"rollout={point[0]}&token={point[1]}" in now["url"]
    assert len({tuple(now["known"][0]) for now in told}) >= 5, "equal states share a place"
    say_times(told, f"Embedding, from {origin}")

    # Python follows, and the next page knows.
    sample, token = told[-1]["known"][0]
    settle(page)
    page.get_by_role("link", name="Transport").click()
    plan = ready(page, "htp")
    page.wait_for_function(f"document.location.search.includes('rollout={sample}&token={token}')")
    settle(page)
    assert (plan.get_attribute("data-sample"), plan.get_attribute("data-token")) == (sample, token)


@pytest.mark.parametrize("origin", ["plan", "table"])
def test_plan_and_tables_of_the_transport_page_light_each_other(
    app_url, open_page, origin: str
) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    plan = ready(page, "htp")
    page.locator(".st-key-pairs-top .htt[data-ready=yes]").wait_for()
    settle(page)
    told = page.evaluate(PICKS, [origin, 9])
    for now in told:
        ((sample, token),) = now["known"]
        assert sample == "4" and now["plan"] >= 1
        assert f"rollout=4&token={token}" in now["url"]
    # Not each token is among the dearest pairs or stands for an atom; each of the table's is.
    lit = [bool(now["rows"]) for now in told]
    assert all(lit) if origin == "table" else any(lit)
    say_times(told, f"Transport, from {origin}")

    # Python follows, the text of the next page knows the token, and so does its link.
    token = told[-1]["known"][0][1]
    settle(page)
    page.get_by_role("link", name="Embedding").click()
    text = ready(page, "hth")
    page.wait_for_function(f"document.location.search.includes('rollout=4&token={token}')")
    settle(page)
    assert (text.get_attribute("data-sample"), text.get_attribute("data-token")) == ("4", token)
    page.reload()
    settle(page)
    assert ready(page, "hth").get_attribute("data-token") == token
    assert plan.count() == 0


def test_a_quote_of_a_barycenter_lights_its_atom_in_the_table_and_back(app_url, open_page) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    ready(page, "htp")
    tab(page, "What it usually does")
    text = ready(page, "hbt")
    page.get_by_text("In figures").click()
    page.locator(".st-key-atoms-wrong .htt[data-ready=yes]").wait_for()
    atom = text.locator("[data-side=wrong] .atom").nth(2)
    atom.locator(".quote").first.click()
    lit = page.locator(".st-key-atoms-wrong .htt tr.lit td:first-child")
    lit.first.wait_for()
    assert atom.get_attribute("data-atom") in lit.all_inner_texts()
    settle(page)
    page.locator(".st-key-atoms-right .htt tbody tr").first.click()
    first = text.locator("[data-side=right] .atom").first
    assert first.locator(".quote.pinned").count() == 1
