"""Remarks on the rollouts page: what is said holds at once, and can be taken back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.small_runs import PENS
from tests.ui.apptest import checked, open_app, table


def test_remarks_put_a_verdict_right_and_can_be_undone(
    app_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Path(shutil.copytree(app_runs, tmp_path / "runs"))
    monkeypatch.setenv("HARA_VIZ_RUNS", str(runs))
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "3"})
    before = table(at, "rollouts.table").set_index("rollout")
    assert before.loc[3, "outcome"] == "wrong"
    at.text_input(key="remarks.text").set_value("right, but for the format").run()
    at = checked(at.button(key="remarks.Count as right").click().run())
    after = table(at, "rollouts.table").set_index("rollout")
    assert after.loc[3, "outcome"] == "right" and after.loc[3, "advantage"] > 0
    assert any("right, but for the format" in text.value for text in at.text)
    checked(at.button(key="remarks.Bookmark").click().run())
    at.selectbox(key="problems.filter").set_value("Bookmarked").run()
    assert len(table(at, "problems.list")) == 1
    (undo, *_) = [b for b in at.button if (b.key or "").startswith("remarks.undo.")]
    at = checked(undo.click().run())
    assert table(at, "rollouts.table").set_index("rollout").loc[3, "outcome"] == "wrong"
