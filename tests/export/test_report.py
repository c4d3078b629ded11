"""The report of a comparison: one file, no script, no network, model text as text."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.bootstrap import Interval
from hara_viz.backend.compare_report import ComparisonReport, compare_runs, metric_texts
from hara_viz.errors import InvalidInputError
from hara_viz.export.report import report_page, write_report
from hara_viz.export.report_svg import curve_svg, matrix_svg
from hara_viz.store import open_run
from tests.browser.conftest import _ARGUMENTS, chromium  # noqa: F401 (a fixture)
from tests.compared_runs import write_compared
from tests.small_runs import HOSTILE


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ComparisonReport:
    folder = write_compared(tmp_path_factory.mktemp("compared"))
    runs = [open_run(folder / name) for name in ("early", "late", "stranger")]
    return compare_runs(runs, tokens=True)


class Tags(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_nothing_in_the_page_can_run_or_fetch(found: ComparisonReport) -> None:
    tags = Tags(report_page(found))
    assert not tags.tags & {"script", "img", "a", "iframe", "link", "object", "form", "b"}
    assert not tags.attributes & {"style", "src", "href", "onerror", "onload", "onclick"}
    assert "default-src 'none'" in report_page(found)


def test_its_numbers_are_those_of_the_comparison(found: ComparisonReport) -> None:
    page = report_page(found)
    for place in range(3):
        for text in metric_texts(found.comparison, place).values():
            assert text in page
    test = found.pairs[0].test
    assert f"exact McNemar p = {test.p_mcnemar:.3g}" in page
    assert f"pass@1 changed by {test.difference.interval.value:+.3f}" in page
    assert found.tokens is not None and found.tokens.drift is not None
    assert f"{found.tokens.drift.distance[0, 1]:.4f}" in page


def test_hostile_text_is_escaped(found: ComparisonReport) -> None:
    page = report_page(found)
    assert HOSTILE.messages[0].content not in page
    assert "&lt;img src=x onerror=" in page


def test_a_place_that_cannot_be_written_is_refused(found: ComparisonReport, tmp_path) -> None:
    with pytest.raises(InvalidInputError, match="folder that exists"):
        write_report(found, tmp_path / "no" / "report.html")
    with pytest.raises(InvalidInputError, match="name a file"):
        write_report(found, tmp_path)
    assert write_report(found, tmp_path / "report.html").stat().st_size < 200_000
    with pytest.raises(InvalidInputError, match="--force"):
        write_report(found, tmp_path / "report.html")
    write_report(found, tmp_path / "report.html", force=True)
    assert "cite arXiv:2610.04344" in (tmp_path / "report.html").read_text()


def points(svg: str, tag: str) -> list[tuple[float, float]]:
    root = ET.fromstring(svg)
    return [(float(e.get("cx") or 0), float(e.get("cy") or 0)) for e in root.iter(tag)]


def test_a_curve_is_drawn_to_scale() -> None:
    values = [0.2, 0.4, 0.6]
    line = [Interval(v, v - 0.1, v + 0.1, 10) for v in values]
    svg = curve_svg("pass@1", [((0, 50, 100), line)], is_share=True)
    dots = points(svg, "circle")
    xs, ys = np.array(dots).T
    np.testing.assert_allclose(np.diff(xs), xs[1] - xs[0], atol=0.2)
    np.testing.assert_allclose(np.diff(ys), ys[1] - ys[0], atol=0.2)
    assert ys[0] > ys[2], "more is higher"
    assert "20 %" in svg and "0.3 [0.2, 0.4]" not in svg and "0.4 [0.3, 0.5]" in svg


def test_unknown_points_are_left_out() -> None:
    nan = math.nan
    line = [Interval(0.5, nan, nan, 1), Interval(nan, nan, nan, 0), Interval(0.7, 0.6, 0.8, 5)]
    svg = curve_svg("Entropy", [((0, 1, 2), line)], is_share=False)
    assert len(points(svg, "circle")) == 2 and "nan" not in svg.lower()
    assert curve_svg("none", [((0,), [Interval(nan, nan, nan, 0)])], is_share=False) == ""
    flat = curve_svg("flat", [((3,), [Interval(0.0, 0.0, 0.0, 4)])], is_share=True)
    assert len(points(flat, "circle")) == 1


def test_a_matrix_writes_every_number_and_escapes_its_names() -> None:
    svg = matrix_svg("d", np.array([[0.125, np.nan], [0.5, 0.25]]), ["<b>a</b>", "b"])
    ET.fromstring(svg)
    assert re.findall(r">(0\.\d+)<", svg) == ["0.125", "0.500", "0.250"]
    assert "<b>" not in svg and "&lt;b&gt;a" in svg


@pytest.mark.browser
def test_it_opens_from_disk_and_asks_for_nothing(found, tmp_path: Path, chromium: str) -> None:  # noqa: F811
    from playwright.sync_api import sync_playwright

    out = write_report(found, tmp_path / "report.html")
    requests: list[str] = []
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        page = browser.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(out.as_uri())
        assert page.title() == "Comparison of 3 runs"
        assert page.locator("svg .line").count() > 6
        colour = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
        assert colour == "rgb(255, 255, 255)", "the policy lets the style sheet in"
        assert page.locator("img").count() == 0
        browser.close()
    assert requests == [out.as_uri()] and not said
