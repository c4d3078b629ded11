"""Downloads in the app: what is clicked is what `hara-viz export` would write."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from tests.browser.conftest import settle
from tests.small_runs import PENS

pytestmark = pytest.mark.browser


def downloaded(page, name: str) -> Path:
    with page.expect_download(timeout=60_000) as waiting:
        page.get_by_role("button", name=name, exact=True).click(timeout=60_000)
    return Path(waiting.value.path())


def test_a_group_leaves_the_app(app_url: str, open_page, small_run: Path) -> None:
    page = open_page(f"{app_url}/?run=small&problem={PENS.problem_id}")
    page.get_by_role("button", name="Download more").click()
    svg = ET.parse(downloaded(page, "Heatmap as SVG")).getroot()
    words = "".join(e.text or "" for e in svg.iter("{http://www.w3.org/2000/svg}text"))
    assert "holds" in words and "HarA-Viz" in words
    run = open_run(small_run)
    key = next(key for key in run.keys() if key.problem_id == PENS.problem_id)  # noqa: SIM118
    expected = credit_group(run, key).credit.weights.tolist()
    rows = pd.read_parquet(downloaded(page, "Weights for a trainer (parquet)"))
    # Two solves, in the server and here, agree up to the rounding of float32.
    weights = [w for row in rows["weights"] for w in row]
    assert weights == pytest.approx(expected, rel=1e-4)
    text = downloaded(page, "Tokens (csv)").read_text(encoding="utf-8-sig")
    tokens = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["token_id"]) for row in tokens[:3]] == list(rows["completion_ids"][0][:3])


def test_tables_leave_the_app(app_url: str, open_page) -> None:
    page = open_page(f"{app_url}/runs")
    settle(page)
    text = downloaded(page, "Table (csv)").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["run"] for row in rows} == {"small", "no-states"}
    assert all(row["made_by"].startswith("HarA-Viz") for row in rows)


def test_a_comparison_leaves_the_app(app_url: str, open_page) -> None:
    page = open_page(f"{app_url}/compare?run=small")
    report = downloaded(page, "Report (html)").read_text(encoding="utf-8")
    assert "Learning curves" in report and "cite arXiv:2610.04344" in report
    assert "<script" not in report
