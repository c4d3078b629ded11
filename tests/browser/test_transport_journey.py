"""From a token in the plan to its point on the map and back, in a real browser."""

from __future__ import annotations

import contextlib

import pytest

from tests.browser.conftest import running_app, settle
from tests.browser.test_rollouts_journey import shoot
from tests.small_runs import HOSTILE, PENS

pytestmark = pytest.mark.browser


def ready(page, name: str):
    """A canvas component, once it has been drawn."""
    shown = page.locator(f".{name}[data-ready=yes]")
    shown.wait_for(timeout=60_000)
    return shown


def test_a_token_is_picked_in_the_plan_and_found_on_the_map(app_url, open_page) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    plan = ready(page, "htp")
    shoot(page, "transport-light")

    # A click in the matrix: address at once, the word in the text marked, Python follows.
    box = plan.locator("canvas.matrix").bounding_box()
    page.mouse.click(box["x"] + 208 + (box["width"] - 248) * (2.5 / 12), box["y"] + 60)
    page.wait_for_function("document.location.search.includes('token=')")
    token = int(plan.get_attribute("data-token"))
    assert f"rollout=4&token={token}" in page.url
    assert plan.locator(".pinned").get_attribute("data-cell") == str(token)
    settle(page)

    # Pointing at a word names its atoms; builds stay at one.
    plan.locator("[data-cell]").nth(1).hover()
    assert "its mass goes" in plan.locator(".tip").inner_text()
    assert plan.get_attribute("data-builds") == "1"

    # The selection holds across pages: its point is lit on the map.
    page.get_by_role("link", name="Embedding").click()
    shown = ready(page, "hem")
    page.wait_for_function("document.location.search.includes('token=')")
    settle(page)
    assert (shown.get_attribute("data-sample"), shown.get_attribute("data-token")) == (
        "4",
        str(token),
    )
    assert shown.get_attribute("data-lit") != ""
    shoot(page, "embedding-light")

    # Another point: text beside the map, address, selection.
    x, y = shown.evaluate("map => map.pointPlace(5)")
    box = shown.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.wait_for_function(f"!document.location.search.includes('rollout=4&token={token}')")
    picked = shown.get_attribute("data-sample"), shown.get_attribute("data-token")
    assert f"rollout={picked[0]}&token={picked[1]}" in page.url
    assert f"rollout {picked[0]} " in shown.locator(".picked").inner_text()
    settle(page)
    page.reload()
    settle(page)
    again = ready(page, "hem")
    assert again.get_attribute("data-token") == picked[1]


def test_ribbons_follow_the_span_that_is_chosen(app_url, open_page) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=3")
    plan = ready(page, "htp")
    first = plan.get_attribute("data-span")
    assert first, "at first the sentence that costs most"
    words = plan.locator("[data-cell]")

    # Dragging over words chooses them, and selects nothing.
    a, b = words.nth(1).bounding_box(), words.nth(3).bounding_box()
    page.mouse.move(a["x"] + 4, a["y"] + 8)
    page.mouse.down()
    page.mouse.move(b["x"] + 4, b["y"] + 8, steps=6)
    page.mouse.up()
    assert plan.get_attribute("data-span") == "1-4"
    assert plan.get_attribute("data-token") == ""
    assert plan.locator(".bracketed").count() == 3

    # A word in the ribbons is a token: pointing names its flow, a click selects it.
    box = plan.locator("canvas.ribbons").bounding_box()
    page.mouse.move(box["x"] + 34 + 20, box["y"] + 70)
    assert "its mass goes" in plan.locator(".tip").inner_text()
    page.mouse.click(box["x"] + 34 + 20, box["y"] + 70)
    page.wait_for_function("document.location.search.includes('token=1')")
    assert plan.get_attribute("data-span") == "1-4", "a token inside it leaves the span"
    plan.get_by_role("button", name="The next sentence").click()
    assert plan.get_attribute("data-span") != "1-4"

    # The text can be coloured by either part of the cost.
    before = words.nth(2).evaluate("e => e.style.backgroundColor")
    page.mouse.move(5, 5)
    plan.get_by_role("button", name="structure part").click()
    assert words.nth(2).evaluate("e => e.style.backgroundColor") != before
    assert plan.get_attribute("data-builds") == "1"


def tab(page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def test_from_a_barycenter_in_words_to_a_rollout_and_its_counterpart(app_url, open_page) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    ready(page, "htp")
    tab(page, "What it usually does")
    text = ready(page, "hbt")
    assert text.locator("[data-side=right] .atom").count() == 8
    assert text.locator("svg path").count() == 8, "eight atoms on either side, matched one to one"
    assert "They part most at" in text.locator(".summary").inner_text()
    # Pointing at an atom lights what it is matched with.
    text.locator("[data-side=wrong] .atom").nth(2).hover()
    assert text.locator("[data-side=right] .atom.matched").count() == 1
    shoot(page, "transport-barycenters-light")

    # A quote leads to its token; the same token is marked wherever it is shown.
    quote = text.locator("[data-side=wrong] .quote").nth(0)
    sample, token = quote.get_attribute("data-sample"), quote.get_attribute("data-token")
    quote.click()
    page.wait_for_function(f"document.location.search.includes('rollout={sample}&token={token}')")
    settle(page)
    assert text.locator(".quote.pinned").first.get_attribute("data-token") == token

    tab(page, "Two rollouts")
    pair = ready(page, "hrp")
    pinned = pair.locator("[data-side='0'] .pinned")
    assert pinned.get_attribute("data-cell") == token
    pinned.hover()
    page.wait_for_function(
        """() => { const find = (root) => root.querySelector(".hrp") ??
          [...root.querySelectorAll("*")].map((e) => e.shadowRoot && find(e.shadowRoot))
          .find(Boolean); return find(document).dataset.tokens !== ""; }"""
    )
    assert "answers to" in pair.locator(".note").inner_text()
    shoot(page, "transport-pair-light")
    # A click in the other text makes that rollout the one that is looked at.
    title = pair.locator("[data-side='1']").get_attribute("aria-label")
    pair.locator("[data-side='1'] [data-cell]").first.click()
    page.wait_for_function("document.location.search.includes('token=0')")
    pair.locator(f"[data-side='0'][aria-label='{title}']").wait_for(timeout=20_000)


def press(button, *signs) -> None:
    """Press until one of the signs shows: a click may fall on a redraw, or come too late."""
    from playwright.sync_api import TimeoutError as Late

    shown = signs[0]
    for sign in signs[1:]:
        shown = shown.or_(sign)
    for _ in range(6):
        if shown.first.is_visible():
            return
        with contextlib.suppress(Late):
            button.click(timeout=3_000)
        with contextlib.suppress(Late):
            shown.first.wait_for(timeout=10_000)
    shown.first.wait_for(timeout=60_000)


def test_doubts_are_computed_on_demand_and_can_be_stopped(app_url, open_page) -> None:
    page = open_page(f"{app_url}/transport?run=small&problem={PENS.problem_id}&rollout=4")
    ready(page, "htp")
    tab(page, "Noise")
    shuffle = page.get_by_role("button", name="Shuffle outcomes")
    stop = page.locator(".st-key-doubt-waiting").get_by_role("button", name="Stop")
    done = page.get_by_text("chance alone would bring about")
    press(shuffle, stop, done)
    done.wait_for(timeout=120_000)
    settle(page)
    shoot(page, "transport-noise-light")

    # Another setting is another question; stopped, it keeps what it had and goes on from there.
    page.goto(page.url + "&credit.alpha=0.35")
    settle(page)
    ready(page, "htp")
    tab(page, "Noise")
    press(shuffle, stop, done)
    again = page.get_by_role("button", name="Go on")
    press(stop, again, done)
    if not done.is_visible():
        press(again, stop, done)
    done.wait_for(timeout=120_000)

    tab(page, "Solver")
    page.get_by_role("button", name="Try ").click()
    page.get_by_text("near 1, the setting hardly matters").wait_for(timeout=120_000)
    settle(page)
    shoot(page, "transport-solver-light")


def test_exact_fgw_is_a_job_that_outlives_the_page(
    chromium, small_runs, tmp_path, monkeypatch, open_page
) -> None:
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    with running_app(small_runs, tmp_path / "app.log") as url:
        compare_with_exact(url, open_page)


def compare_with_exact(url: str, open_page) -> None:
    address = f"{url}/transport?run=small&problem={PENS.problem_id}&credit.alpha=0.45"
    page = open_page(address)
    ready(page, "htp")
    tab(page, "Against exact FGW")
    page.get_by_role("button", name="Compare with exact FGW").click()
    # The job may be over already; Streamlit has a Stop button of its own while it runs.
    stop, over = page.get_by_role("button", name="Stop"), page.get_by_text("Time for the group")
    stop.or_(over).first.wait_for(timeout=60_000)
    page.goto(f"{url}/runs")  # the reader leaves, the job goes on
    settle(page)
    page.goto(address)
    settle(page)
    ready(page, "htp")
    tab(page, "Against exact FGW")
    page.get_by_text("Time for the group").wait_for(timeout=120_000)
    assert page.get_by_text("against a ceiling of").count() == 2
    page.close()  # before its server ends, which it would complain about


@pytest.mark.parametrize(("address", "name"), [("transport", "htp"), ("embedding", "hem")])
def test_hostile_text_stays_text(app_url, open_page, address: str, name: str) -> None:
    link = f"{app_url}/{address}?run=small&problem={HOSTILE.problem_id}&rollout=1&token=1"
    page = open_page(link, scheme="dark")
    shown = ready(page, name)
    settle(page)
    assert page.title() == "HarA-Viz"
    assert page.locator("img[src=x], a[href^=javascript]").count() == 0
    text = shown.locator(".running" if name == "htp" else ".picked").inner_text()
    assert "</style></div><b>bold</b>" in text
    shoot(page, f"{address}-hostile-dark")
