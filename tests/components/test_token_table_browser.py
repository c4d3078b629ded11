"""The token table in a real Chromium: hostile text, order, keyboard, lit rows in sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hara_viz.components.token_table import Column, Spot, assets, table_data
from tests.components.stage import ORIGIN, THEMES, chromium
from tests.components.test_accessibility import AXE, violations
from tests.small_runs import HOSTILE_TEXTS

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>stage</title>
<style>body { color: var(--st-text-color); background: var(--st-background-color); THEME }</style>
<main><h1>Table</h1><div id="mount" style="width: 600px"></div></main>
<script type="module">
import entry from "/js";
const shadow = document.getElementById("mount").attachShadow({ mode: "open" });
const [html, css] = await Promise.all(["html", "css"].map(async (p) => (await fetch(p)).text()));
shadow.innerHTML = html;
shadow.append(Object.assign(document.createElement("style"), { textContent: css }));
window.show = (data) => { window.leave = entry({ data, parentElement: shadow }); };
window.moves = [];
window.addEventListener("hara:select", ({ detail }) => window.moves.push(detail));
window.loaded = true;
</script></html>"""
N = 40
COLUMNS = (Column("n", 60), Column("size", 70, ".2f"), Column("text", 200), Column("to", 90))


def table(most: int = 6) -> dict[str, Any]:
    """Row i stands for tokens 2i and 2i+1 of rollout 0; its last cell leads to rollout 9."""
    texts = [text for text, _ in HOSTILE_TEXTS]
    rows = [
        {"n": i, "size": None if i == 3 else (i * 7) % N, "text": texts[i % len(texts)], "to": "go"}
        for i in range(N)
    ]
    spots = [[Spot(0, 2 * i, 2 * i + 2)] for i in range(N)]
    own = {"to": [Spot(9, i, i + 1) for i in range(N)]}
    return table_data("t", COLUMNS, rows, spots, own, most=most)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(params=["light"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
    parts = assets()

    def answer(route: Any) -> None:
        name = route.request.url.split("?")[0].removeprefix(f"{ORIGIN}/")
        kinds = {"js": "text/javascript", "css": "text/css"}
        text = getattr(parts, name) if name else PAGE.replace("THEME", THEMES[request.param])
        kind = kinds.get(name, "text/html")
        route.fulfill(body=text, content_type=f"{kind}; charset=utf-8")

    page.route("**/*", answer)
    page.goto(f"{ORIGIN}/")
    page.wait_for_function("window.loaded")
    page.evaluate("data => window.show(data)", table())
    page.locator(".htt[data-ready=yes]").wait_for()
    yield page
    page.close()
    assert problems == []


def lit(page: Any) -> list[int]:
    found = page.locator("tr.lit").evaluate_all("all => all.map((e) => Number(e.dataset.row))")
    return sorted(found)


def select(page: Any, sample: int, token: int | None) -> None:
    page.evaluate(
        """([sample, token]) => window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {sample, token, source: "elsewhere", user: true}}))""",
        [sample, token],
    )


def column(page: Any, place: int) -> list[str]:
    return page.locator(f"td[data-column='{place}']").all_inner_texts()


def test_hostile_text_is_shown_as_it_is(page: Any) -> None:
    shown = page.locator("td[data-column='2']").evaluate_all("all => all.map(e => e.textContent)")
    assert set(shown) == {text for text, _ in HOSTILE_TEXTS}
    assert page.locator("td *").count() == 0


def test_a_move_elsewhere_lights_the_row_and_brings_it_into_sight(page: Any) -> None:
    select(page, 0, 61)
    assert lit(page) == [30]
    row, scroller = (page.locator(s).bounding_box() for s in ("tr.lit", ".scroller"))
    assert (
        scroller["y"] < row["y"] and row["y"] + row["height"] <= scroller["y"] + scroller["height"]
    )
    assert page.evaluate("window.scrollY") == 0, "the page stays where it is"
    select(page, 0, None)
    assert lit(page) == []
    select(page, 9, 5)  # no row, but a cell that leads there
    assert lit(page) == []
    assert page.locator("td.lit").evaluate_all(
        "all => all.map((e) => [e.parentElement.dataset.row, e.textContent])"
    ) == [["5", "go"]]


def test_a_click_selects_the_row_or_where_its_cell_leads(page: Any) -> None:
    page.locator("tr[data-row='2'] td").first.click()
    assert lit(page) == [2] and page.url.endswith("?rollout=0&token=4")
    page.locator("tr[data-row='2'] td").last.click()
    assert lit(page) == [] and page.url.endswith("?rollout=9&token=2")
    moves = page.evaluate("window.moves")
    assert [(m["sample"], m["token"], m["user"]) for m in moves] == [(0, 4, True), (9, 2, True)]


def test_a_head_orders_the_rows_and_the_order_outlives_new_numbers(page: Any) -> None:
    head = page.get_by_role("button", name="size")
    head.click()
    sizes = column(page, 1)
    known = [float(text) for text in sizes[:-1]]
    assert known == sorted(known) and sizes[-1] == "–", "the unknown comes last"
    head.click()
    assert [float(text) for text in column(page, 1)[:-1]] == known[::-1]
    assert page.locator("th[aria-sort=descending]").inner_text() == "size ▾"
    page.evaluate("data => window.show(data)", table(most=9))
    assert [float(text) for text in column(page, 1)[:-1]] == known[::-1]
    head.click()
    assert column(page, 0) == [str(i) for i in range(N)]


def test_equal_content_is_not_built_again(page: Any) -> None:
    builds = page.locator(".htt").get_attribute("data-builds")
    page.evaluate("data => window.show(data)", table())
    assert page.locator(".htt").get_attribute("data-builds") == builds == "1"


def test_keys_walk_along_the_rows_and_select(page: Any) -> None:
    page.locator("tr[data-row='0']").focus()
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert lit(page) == [9]
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert lit(page) == [N - 1]
    box, scroller = (page.locator(s).bounding_box() for s in ("tr.lit", ".scroller"))
    assert box["y"] + box["height"] <= scroller["y"] + scroller["height"] + 1
    page.keyboard.press("Home")
    assert page.evaluate(
        "document.getElementById('mount').shadowRoot.activeElement.dataset.row"
    ) == "0"  # fmt: skip


def test_nothing_listens_after_leaving(page: Any) -> None:
    page.evaluate("window.leave()")
    select(page, 0, 3)
    assert lit(page) == []


@pytest.mark.parametrize("page", ["light", "dark"], indirect=True)
def test_axe_has_nothing_to_say(page: Any) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `npm install` fetches it")
    select(page, 0, 4)
    assert violations(page, "document") == []
