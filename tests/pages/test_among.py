"""A lasso as a filter: text, spans and table narrowed, said, kept in the link, undone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.spans import top_spans
from hara_viz.components.embedding_map import decode
from hara_viz.credit import CreditConfig
from tests.pages.test_embedding_page import pca_first as pca_first
from tests.pages.test_rollouts import recompute
from tests.small_runs import PENS
from tests.ui.apptest import (
    checked,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    trigger,
)

pytestmark = pytest.mark.usefixtures("app_runs")
LINK = {"run": "small", "problem": PENS.problem_id}
ALL = list(range(6))


def told(at) -> list[int]:
    """What the page's components are told to show."""
    return json.loads(component(at, "bus").json)["among"]


def test_a_lasso_narrows_the_rollouts_page_until_all_are_shown_again() -> None:
    at = open_app(LINK | {"rollout": "0"}, page="pages/embedding.py")
    frame = decode(component(at, "map").bytes)
    points = [int(np.flatnonzero(frame.row == row)[0]) for row in (3, 1)]
    trigger(at, "map", "lasso", {"name": frame.name, "points": points})
    checked(at.button(key="among.open").click().run())
    assert selection(at).among == (1, 3) and told(at) == [1, 3]
    assert selection(at).sample is None, "rollout 0 would be shown, filter or not"
    assert list(table(at, "rollouts.table")["rollout"]) == [1, 3], "the Rollouts page is open"
    assert at.query_params["among"] == "1-3"

    at = open_app(LINK | {"among": "1-3"})
    assert told(at) == [1, 3] and "Narrowed to rollouts 1, 3" in shown_text(at)
    checked(at.button(key="among.clear").click().run())
    assert selection(at).among == () and told(at) == []
    assert list(table(at, "rollouts.table")["rollout"]) == ALL
    assert "Narrowed" not in shown_text(at) and "among" not in at.query_params


def test_novel_spans_are_those_of_the_rollouts_shown(small_run: Path) -> None:
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    offsets = np.cumsum([0, *(len(r.completion_ids) for r in group.rollouts)]).tolist()
    values = np.nan_to_num(np.asarray(credit.novelty, float))
    everywhere = top_spans(values, offsets, top=len(values))
    expected = [span for span in everywhere if span.row in (2, 5)][:12]
    spans = table(open_app(LINK | {"among": "2-5"}), "spans.table")
    assert list(spans["rollout"]) == [span.row for span in expected]
    np.testing.assert_allclose(spans["excess"], [span.excess for span in expected], rtol=1e-5)


def test_the_text_beside_the_map_is_narrowed_too() -> None:
    at = open_app(LINK | {"among": "2"}, page="pages/embedding.py")
    assert told(at) == [2] and "Narrowed to rollout 2" in shown_text(at)
    checked(at.button(key="among.clear").click().run())
    assert selection(at).among == ()


def test_a_rollout_of_another_problem_is_not_narrowed_to() -> None:
    at = open_app(LINK | {"among": "2"})
    checked(at.selectbox(key="sidebar.run").select("no-states").run())
    assert selection(at).among == ()


@pytest.mark.parametrize(
    ("link", "left", "note"),
    [
        ("70-80", (), "rollouts that this group has not: '70, 80'; all are shown"),
        ("3-80", (3,), "rollouts that this group has not: '80'; the others are shown"),
        ("99999999999", (), "rollouts that this group has not: '99999999999'"),
        ("9" * 400, (), "it must be rollouts by number, such as 0-3-5"),
        ("-1", (), "it must be rollouts by number"),
        ("1--3", (), "it must be rollouts by number"),
        ("1,3", (), "it must be rollouts by number"),
        ("1-x", (), "it must be rollouts by number"),
        ("١", (), "it must be rollouts by number"),
        ("<img src=x onerror=alert(1)>", (), "it must be rollouts by number"),
        ("-".join(map(str, range(10, 4000))), (), "; all are shown"),
        ("5-1-1-5", (1, 5), None),
    ],
)
def test_hostile_links_are_dropped_with_a_note(
    link: str, left: tuple[int, ...], note: str | None
) -> None:
    at = open_app(LINK | {"among": link})
    assert selection(at).among == left and told(at) == list(left)
    assert list(table(at, "rollouts.table")["rollout"]) == list(left or ALL)
    warnings = [plain(warning.value) for warning in at.warning]
    assert ([note in text for text in warnings] or [note is None]) == [True], warnings
    assert all(len(text) < 400 for text in warnings)
    assert all("<" not in warning.value.replace("\\<", "") for warning in at.warning)
