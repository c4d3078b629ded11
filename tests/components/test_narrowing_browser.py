"""The token heatmap narrowed to some rollouts, by the selection and by a lasso on a map beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hara_viz.components.token_heatmap import assets, encode, frame_of
from tests.components import groups
from tests.components.stage import Stage, chromium

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def frame() -> bytes:
    group = groups.small_group()
    return encode(frame_of(group, groups.credit_for(group), special_ids=[groups.END_ID]))


@pytest.fixture
def stage(frame: bytes) -> Iterator[Any]:
    with chromium() as browser:
        made = Stage(browser.new_page(viewport={"width": 1280, "height": 800}), assets(),
                     {"first": frame})  # fmt: skip
        yield made
        assert made.problems == []


def shown(stage: Stage) -> list[int]:
    """The rollouts on the page, in its order."""
    found = stage.page.locator("article").evaluate_all("all => all.map((e) => e.dataset.sample)")
    return [int(sample) for sample in found]


def say(stage: Stage, **selected: Any) -> None:
    """Python's word, as the selection bus passes it on."""
    stage.page.evaluate(
        """(detail) => window.dispatchEvent(new CustomEvent("hara:select",
        {detail: {...detail, source: "python", user: false}}))""",
        selected,
    )


def lasso(stage: Stage, *tokens: list[int]) -> None:
    stage.page.evaluate(
        """(tokens) => window.dispatchEvent(
        new CustomEvent("hara:lasso", {detail: {tokens}}))""",
        tokens,
    )


def drawn_strips(stage: Stage) -> list[int]:
    """The rollouts whose strip holds a picture: one drawn while it is out of the page has none."""
    found = stage.page.locator("article").evaluate_all(
        """all => all.filter((article) => {
          const strip = article.querySelector("canvas.strip");
          const { data } = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height);
          return data.some(Boolean);
        }).map((article) => article.dataset.sample)"""
    )
    return sorted(map(int, found))


def test_a_filter_hides_rollouts_and_gives_them_back(stage: Stage) -> None:
    stage.open()
    everyone = shown(stage)
    assert sorted(everyone) == list(range(7))
    say(stage, among=[5, 1])
    assert shown(stage) == [1, 5]
    heads = stage.page.locator("section > h3").all_inner_texts()
    assert [text.split("\n") for text in heads] == [["✗", "Incorrect", "4 of 7, 2 shown"]]
    stage.page.locator("[data-sample='5'] [data-cell]").first.wait_for()
    say(stage, among=[])
    assert shown(stage) == everyone
    assert drawn_strips(stage) == [0, 1, 2, 3, 4, 5], "rollout 6 is empty"
    assert stage.page.locator(".hth").get_attribute("data-builds") == "1"
    assert stage.page.evaluate("window.sent") == []


def test_the_link_narrows_at_once_and_moves_leave_it_there(stage: Stage) -> None:
    stage.open("?among=1-3&rollout=3&token=2")
    assert shown(stage) == [1, 3]
    stage.page.keyboard.press("n")
    assert "rollout=1" in stage.page.url and "among=1-3" in stage.page.url
    stage.page.keyboard.press("n")
    assert "rollout=3" in stage.page.url, "n walks through those that are shown"


@pytest.mark.parametrize("among", ["", "-1", "1-", "x", "1,3", "99999999999999", "77"])
def test_a_link_that_makes_no_sense_narrows_nothing(stage: Stage, among: str) -> None:
    stage.open(f"?among={among}")
    assert len(shown(stage)) == 7


def test_what_is_picked_elsewhere_is_shown_though_it_is_filtered_out(stage: Stage) -> None:
    stage.open("?among=1-3")
    say(stage, among=[1, 3], sample=2, token=40)
    assert sorted(shown(stage)) == [1, 2, 3]
    assert stage.page.locator("[data-sample='2'] .pinned").is_visible()
    assert drawn_strips(stage) == [1, 2, 3]
    say(stage, sample=3, token=1)
    assert shown(stage) == [1, 3]


def test_a_lasso_outlines_its_tokens_and_shows_their_rollouts(stage: Stage) -> None:
    stage.open("?among=1-3")
    lasso(stage, [0, 2, 4], [5, 7, 8])
    assert sorted(shown(stage)) == [0, 5]
    for sample, count in ((0, 2), (5, 1)):
        cells = stage.page.locator(f"[data-sample='{sample}'] .lassoed")
        assert len({c.get_attribute("data-cell") for c in cells.all()}) == count
    lasso(stage)
    assert shown(stage) == [1, 3], "the filter is in force again"
    assert stage.page.locator(".lassoed").count() == 0


def test_a_lasso_that_names_what_is_not_there_narrows_nothing(stage: Stage) -> None:
    stage.open()
    lasso(stage, [70, 0, 1], [0, 5, 5], [1, 0, 100_000])
    assert len(shown(stage)) == 7
    assert stage.page.locator(".lassoed").count() == 0


def test_a_heatmap_that_comes_later_knows_the_lasso(stage: Stage) -> None:
    stage.page.add_init_script("window.haraLasso = {tokens: [[3, 0, 2]]};")
    stage.open()
    assert shown(stage) == [3]
    assert stage.page.locator(".lassoed").count() >= 1
