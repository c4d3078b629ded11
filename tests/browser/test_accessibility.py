"""axe over every page of the app, light and dark, and over the keyboard map.

axe-core comes by `npm install` (package.json; nothing of it is shipped), or HARA_VIZ_AXE names it.
"""

from __future__ import annotations

import pytest

from hara_viz.components.key_map import PAGES
from tests.browser.conftest import settle
from tests.components.test_accessibility import AXE
from tests.small_runs import PENS

pytestmark = pytest.mark.browser

STREAMLIT = {
    ("color-contrast", "token"): "st.code colours shell words by a palette that no theme option "
    "reaches; the words are readable, the blue of a verb is 3.7 : 1 on light grey",
}
"""What Streamlit itself does wrong: (rule, class of the element) -> why it stands."""


def violations(page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
        if not any(rule["id"] == known and f'class="{name} ' in node["html"]
                   for known, name in STREAMLIT)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def axe() -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `npm install` fetches it")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("title", [title for title, _ in PAGES])
def test_a_page_is_clean(axe, app_url: str, open_page, title: str, scheme: str) -> None:
    path = "" if title == "Rollouts" else title.lower()
    address = f"{app_url}/{path}?run=small&problem={PENS.problem_id}&rollout=0&token=3"
    page = open_page(address, scheme)
    page.locator(".hara-keys dialog").wait_for(state="attached")  # components are mounted
    settle(page)
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_keyboard_map_is_clean(axe, app_url: str, open_page, scheme: str) -> None:
    page = open_page(f"{app_url}/learn?run=small", scheme)
    page.locator(".hara-keys dialog").wait_for(state="attached")
    page.locator("body").press("?")
    page.locator(".hara-keys dialog[open]").wait_for()
    assert violations(page) == []


def test_axe_finds_what_is_wrong(axe, app_url: str, open_page) -> None:
    page = open_page(f"{app_url}/learn?run=small")
    page.evaluate("document.body.append(document.createElement('img'))")
    assert any(found.startswith("image-alt") for found in violations(page))
