"""The map and the token heatmap on one page, without Streamlit or any server: a token picked in one
is lit in the other by the browser alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hara_viz.components import embedding_map, token_heatmap
from hara_viz.components.embedding_map import Colouring, MapFrame, MapRollout
from hara_viz.components.shared.cells import shown_cells
from tests.components import groups
from tests.components.stage import ORIGIN, THEMES, chromium

pytestmark = pytest.mark.browser

PAGE = f"""<!doctype html><meta charset="utf-8"><title>stage</title>
<style>body {{{{ margin: 0; background: var(--st-background-color); {THEMES["light"]} }}}}
div {{{{ width: 920px; }}}}</style>
<div id="map"></div><div id="heatmap"></div>
<script type="module">
window.sent = [];
for (const name of ["map", "heatmap"]) {{{{
  const {{{{ default: entry }}}} = await import(`/${{{{name}}}}.js`);
  const shadow = document.getElementById(name).attachShadow({{{{ mode: "open" }}}});
  const get = async (part) => fetch(`/${{{{name}}}}.${{{{part}}}}`);
  shadow.innerHTML = await (await get("html")).text();
  const style = document.createElement("style");
  style.textContent = await (await get("css")).text();
  shadow.append(style);
  const data = new Uint8Array(await (await get("bin")).arrayBuffer());
  const setTriggerValue = (...said) => window.sent.push(said);
  entry({{{{ data, parentElement: shadow, setTriggerValue }}}});
}}}}
</script>""".format()
# From the event to the frame after the one that shows it; what is lit is read at once after the
# event, in the same task: nothing that waits for a server could have answered.
PICK = """async ([from, n]) => {
  const root = (name) => document.getElementById(name).shadowRoot;
  const map = root("map").querySelector(".hem"), text = root("heatmap").querySelector(".hth");
  const canvas = map.querySelector("canvas"), box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};  // events made by a script capture nothing
  const told = [];
  for (let i = 0; i < n; i++) {
    const begun = performance.now();
    if (from === "map") {
      const [x, y] = map.pointPlace(7 + 3 * i);
      const at = { clientX: box.left + x, clientY: box.top + y, pointerId: 1, button: 0 };
      for (const type of ["pointerdown", "pointerup"])
        canvas.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true }));
    } else {
      text.querySelectorAll("article[data-sample='0'] [data-cell]")[4 + 2 * i].click();
    }
    const of = ({ dataset }) => [dataset.sample, dataset.token];
    const now = { map: of(map), text: of(text), lit: map.dataset.lit };
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    told.push({ ...now, url: location.search, ms: performance.now() - begun });
  }
  return told;
}"""


@pytest.fixture(scope="module")
def parts() -> dict[str, bytes]:
    group = groups.small_group()
    credit = groups.credit_for(group)
    lengths = [len(r.completion_ids) for r in group.rollouts]
    n = sum(lengths)
    side = int(np.ceil(np.sqrt(n)))  # a lattice: no point lies on another
    places = np.arange(n)
    frame = MapFrame(
        name="linked",
        rollouts=tuple(MapRollout(r.sample, None, shown_cells(r, ())) for r in group.rollouts),
        x=(places % side).astype(float),
        y=(places // side).astype(float),
        row=np.repeat(np.arange(len(lengths)), lengths),
        token=np.concatenate([np.arange(length) for length in lengths]),
        span=np.ones(n, np.int64),
        colouring=Colouring(
            label="Place", kind="sequential", values=places.astype(float), domain=(0.0, float(n))
        ),
    )
    text = token_heatmap.frame_of(group, credit, special_ids=[groups.END_ID])
    made = {"map.bin": embedding_map.encode(frame), "heatmap.bin": token_heatmap.encode(text)}
    for name, component in (("map", embedding_map), ("heatmap", token_heatmap)):
        assets = component.assets()
        for kind in ("html", "css", "js"):
            made[f"{name}.{kind}"] = getattr(assets, kind).encode()
    return made


@pytest.fixture
def page(parts: dict[str, bytes]) -> Iterator[Any]:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))

        def answer(route: Any) -> None:
            name = route.request.url.split("?")[0].removeprefix(f"{ORIGIN}/")
            kind = "text/javascript" if name.endswith(".js") else "text/html"
            body = parts.get(name, b"") if name else PAGE.encode()
            route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")

        page.route("**/*", answer)
        page.goto(f"{ORIGIN}/")
        for root in (".hem", ".hth"):
            page.locator(f"{root}[data-ready=yes]").wait_for(timeout=20_000)
        yield page
        assert problems == []


@pytest.mark.parametrize("origin", ["map", "heatmap"])
def test_a_token_picked_in_one_is_lit_in_the_other_at_once(page: Any, origin: str) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    told = page.evaluate(PICK, [origin, 9])
    for now in told:
        assert now["map"] == now["text"], "read in the very task of the event"
        sample, token = now["map"]
        assert sample and token and now["lit"]
        assert {f"rollout={sample}", f"token={token}"} <= set(now["url"].lstrip("?").split("&"))
    assert len({tuple(now["map"]) for now in told}) == len(told), "each pick was another token"
    assert requests == [], "nobody was asked"
    times = sorted(now["ms"] for now in told)
    figures = f"median {times[4]:.1f} ms, worst {times[-1]:.1f} ms"
    print(f"from {origin} to the next frame: {figures}")  # noqa: T201 (shown by pytest -s)
