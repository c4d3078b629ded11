"""Several linked components on one page without Streamlit or any server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from hara_viz.components import (
    barycenter_text,
    embedding_map,
    token_heatmap,
    token_table,
    transport_plan,
)
from hara_viz.components.barycenter_text import AtomText, BarycenterFrame, Quote, Side
from hara_viz.components.embedding_map import Colouring, MapFrame, MapRollout
from hara_viz.components.shared.cells import shown_cells
from hara_viz.components.token_table import Column, Spot
from hara_viz.components.transport_plan import AtomLabel, plan_frame
from hara_viz.types import Rollout, RolloutGroup
from tests.components import groups
from tests.components.stage import ORIGIN, THEMES, chromium

ROOTS = {"map": "hem", "text": "hth", "plan": "htp", "barycenter": "hbt", "table": "htt"}
PLANNED = 1  # the rollout whose plan is shown

_PAGE = """<!doctype html><meta charset="utf-8"><title>stage</title>
<style>body { margin: 0; background: var(--st-background-color); THEME }
#views > div { width: 920px; }</style>
<div id="views"></div>
<script type="module">
window.sent = [];
for (const name of NAMES) {
  const { default: entry } = await import(`/${name}.js`);
  const host = document.createElement("div");
  host.id = name;
  document.getElementById("views").append(host);
  const shadow = host.attachShadow({ mode: "open" });
  const get = async (part) => fetch(`/${name}.${part}`);
  shadow.innerHTML = await (await get("html")).text();
  const style = document.createElement("style");
  style.textContent = await (await get("css")).text();
  shadow.append(style);
  const bytes = new Uint8Array(await (await get("data")).arrayBuffer());
  const data = name === "table" ? JSON.parse(new TextDecoder().decode(bytes)) : bytes;
  entry({ data, parentElement: shadow, setTriggerValue: (...said) => window.sent.push(said) });
}
</script>"""


def page_text() -> str:
    """The page, with the components in the order of ROOTS."""
    return _PAGE.replace("NAMES", json.dumps(list(ROOTS))).replace("THEME", THEMES["light"])


def parts() -> dict[str, bytes]:
    """What the page asks for, by name: scripts, styles, frames."""
    group = groups.small_group()
    made = {
        "map": embedding_map.encode(_map(group)),
        "text": token_heatmap.encode(
            token_heatmap.frame_of(group, groups.credit_for(group), special_ids=[groups.END_ID])
        ),
        "plan": transport_plan.encode(_plan(group.rollouts[PLANNED])),
        "barycenter": barycenter_text.encode(_barycenters(group)),
        "table": json.dumps(_table(group)).encode(),
    }
    components = dict(
        zip(
            ROOTS,
            (embedding_map, token_heatmap, transport_plan, barycenter_text, token_table),
            strict=True,
        )
    )
    found = {f"{name}.data": data for name, data in made.items()}
    for name, component in components.items():
        assets = component.assets()
        for kind in ("html", "css", "js"):
            found[f"{name}.{kind}"] = getattr(assets, kind).encode()
    return found


@contextmanager
def linked_page(found: Mapping[str, bytes]) -> Iterator[Any]:
    """The page in Chromium, everything drawn; no error may have been met at the end."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 2400})
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))

        def answer(route: Any) -> None:
            name = route.request.url.split("?")[0].removeprefix(f"{ORIGIN}/")
            kind = "text/javascript" if name.endswith(".js") else "text/html"
            body = found.get(name, b"") if name else page_text().encode()
            route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")

        page.route("**/*", answer)
        page.goto(f"{ORIGIN}/")
        for root in ROOTS.values():
            page.locator(f".{root}[data-ready=yes]").wait_for(timeout=20_000)
        yield page
        assert problems == []


def _map(group: RolloutGroup) -> MapFrame:
    lengths = [len(r.completion_ids) for r in group.rollouts]
    n = sum(lengths)
    side = int(np.ceil(np.sqrt(n)))  # a lattice: no point lies on another
    places = np.arange(n)
    return MapFrame(
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


def _plan(rollout: Rollout) -> transport_plan.PlanFrame:
    n = len(rollout.completion_ids)
    plan = np.zeros((n, 4))
    plan[np.arange(n), np.arange(n) % 4] = 1 / n
    return plan_frame(
        sample=rollout.sample,
        success=False,
        cells=shown_cells(rollout, ()),
        atoms=tuple(AtomLabel(i, i / 4, 0.25, 0.1, f"atom {i}") for i in range(4)),
        plan=plan,
        own=np.ones(n, bool),
        feature=np.linspace(0, 1, n),
        structure=np.zeros(n),
        steps=(),
    )


def _barycenters(group: RolloutGroup) -> BarycenterFrame:
    """One atom for each of the first tokens of the planned rollout."""
    cells = shown_cells(group.rollouts[PLANNED], ())
    atoms = tuple(
        AtomText(t, t / 40, 1.0, 0.1, 1.0, (Quote(PLANNED, t, "", cells[t].text, ""),))
        for t in range(40)
    )
    wrong = Side(success=False, n_rollouts=2, atoms=atoms)
    return BarycenterFrame(sides=(Side(success=True, n_rollouts=0, empty="None."), wrong), links=())


def _table(group: RolloutGroup) -> dict[str, Any]:
    """A row for each token of all rollouts but the longest."""
    spots = [
        [Spot(r.sample, t, t + 1)]
        for r in group.rollouts
        for t in range(min(60, len(r.completion_ids)))
    ]
    rows = [{"rollout": spot.sample, "token": spot.first} for (spot,) in spots]
    return token_table.table_data(
        "linked", (Column("rollout", 80), Column("token", 80)), rows, spots
    )
