"""The credit drawer: presets, controls, the draft of large groups."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from hara_viz.backend import jobs
from hara_viz.credit import CreditConfig
from hara_viz.store import list_credit, open_run
from hara_viz.ui import drawer
from tests.small_runs import write_run
from tests.ui.apptest import checked, open_app, plain, selection, shown_text, table

pytestmark = pytest.mark.usefixtures("app_runs")


def with_advanced(query: dict[str, str]) -> AppTest:
    """The app after a click on Advanced."""
    at = open_app(query)
    at.session_state[drawer.ADVANCED] = True
    return checked(at.run())


def widgets(at: AppTest) -> set[str]:
    kinds = (at.slider, at.selectbox, at.number_input, at.select_slider, at.button_group)
    return {str(widget.key) for kind in kinds for widget in kind}


def test_advanced_settings_are_drawn_when_opened() -> None:
    closed, opened = widgets(open_app({"run": "small"})), widgets(with_advanced({"run": "small"}))
    assert {f"credit.{name}" for name in drawer.MAIN} <= closed
    assert "credit.epsilon" not in closed and "credit.epsilon" in opened


def test_every_setting_has_a_widget() -> None:
    at = with_advanced({"run": "small"})
    keys = widgets(at)
    for name in (f.name for f in fields(CreditConfig)):
        assert any(key == f"credit.{name}" or key.startswith(f"credit.{name}.") for key in keys)


def test_a_preset_sets_and_a_slider_leaves_it() -> None:
    at = open_app({"run": "small"})
    checked(at.selectbox(key="credit.preset").select("SHEAR").run())
    assert selection(at).credit == CreditConfig(signal="shear")
    assert at.slider(key="credit.alpha").disabled, "only HarA knows a share of structure"
    checked(at.selectbox(key="credit.preset").select("HarA").run())
    checked(at.slider(key="credit.alpha").set_value(0.8).run())
    assert selection(at).credit == CreditConfig(alpha=0.8)
    assert at.selectbox(key="credit.preset").value == "Custom"
    assert at.query_params["credit.alpha"] == "0.8"


def test_values_of_every_kind_arrive() -> None:
    at = with_advanced({"run": "small"})
    checked(at.select_slider(key="credit.n_support").set_value(16).run())
    checked(at.number_input(key="credit.weight_range.low").set_value(0.5).run())
    checked(at.number_input(key="credit.epsilon").set_value(0.05).run())
    checked(at.selectbox(key="credit.reference").select("leave_one_out").run())
    expected = CreditConfig(
        n_support=16, weight_range=(0.5, 3.0), epsilon=0.05, reference="leave_one_out"
    )
    assert selection(at).credit == expected


def test_a_setting_that_cannot_be_is_refused_in_words() -> None:
    at = with_advanced({"run": "small"})
    checked(at.number_input(key="credit.weight_range.low").set_value(2.0).run())
    assert selection(at).credit == CreditConfig()
    assert "w_min" in plain(at.warning[0].value)


def test_a_large_group_waits_for_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawer, "LIVE_TOKENS", 10)
    at = open_app({"run": "small"})
    assert at.button(key="credit.apply").disabled
    checked(at.slider(key="credit.alpha").set_value(0.8).run())
    checked(at.slider(key="credit.strength").set_value(1.0).run())
    assert selection(at).credit == CreditConfig()
    checked(at.button(key="credit.apply").click().run())
    assert selection(at).credit == CreditConfig(alpha=0.8, strength=1.0)


def keys(at) -> set[str]:
    return {str(button.key) for button in at.button}


def test_ways_back_appear_only_where_something_differs() -> None:
    at = open_app({"run": "small"})
    assert not {key for key in keys(at) if key.startswith(("credit.reset", "credit.undo"))}
    checked(at.slider(key="credit.alpha").set_value(0.8).run())
    checked(at.select_slider(key="credit.n_support").set_value(16).run())
    (label,) = [b.label for b in at.button if b.key == "credit.reset.alpha"]
    assert label == "α · share of structure: 0.8"
    checked(at.button(key="credit.reset.alpha").click().run())
    assert selection(at).credit == CreditConfig(n_support=16)
    assert at.slider(key="credit.alpha").value == CreditConfig().alpha
    assert "credit.reset.alpha" not in keys(at)
    checked(at.button(key="credit.reset").click().run())
    assert selection(at).credit == CreditConfig()
    assert "credit.reset" not in keys(at)
    assert not [name for name in at.query_params if name.startswith("credit.")]


def test_undo_takes_changes_back_one_by_one_also_those_made_elsewhere() -> None:
    at = open_app({"run": "small", "credit.epsilon": "0.05"})
    assert "credit.undo" not in keys(at), "the link is where this reader starts"
    start = CreditConfig(epsilon=0.05)
    checked(at.slider(key="credit.alpha").set_value(0.8).run())
    checked(at.selectbox(key="credit.preset").select("SHEAR").run())
    at.switch_page("pages/learn.py")
    checked(at.run())
    checked(at.selectbox(key="credit.preset").select("HarA").run())
    at.session_state["hara.selection"] = replace(  # as the Learn page moves it
        selection(at), credit=CreditConfig(strength=1.5)
    )
    checked(at.run())
    for before in (
        CreditConfig(), CreditConfig(signal="shear"), replace(start, alpha=0.8), start,
    ):  # fmt: skip
        checked(at.button(key="credit.undo").click().run())
        assert selection(at).credit == before
    assert "credit.undo" not in keys(at)
    at.session_state[drawer.ADVANCED] = True
    assert checked(at.run()).number_input(key="credit.epsilon").value == 0.05


def test_undo_and_reset_of_a_large_group_wait_for_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawer, "LIVE_TOKENS", 10)
    at = open_app({"run": "small", "credit.alpha": "0.8"})
    checked(at.button(key="credit.reset").click().run())
    assert selection(at).credit == CreditConfig(alpha=0.8)
    assert at.slider(key="credit.alpha").value == CreditConfig().alpha
    checked(at.button(key="credit.undo").click().run())
    assert at.slider(key="credit.alpha").value == 0.8
    assert at.button(key="credit.apply").disabled
    checked(at.button(key="credit.reset").click().run())
    checked(at.button(key="credit.apply").click().run())
    assert selection(at).credit == CreditConfig()


@pytest.mark.parametrize("page", ["pages/runs.py", "pages/training.py"])
def test_the_drawer_is_not_where_it_acts_on_nothing(page: str) -> None:
    at = open_app({"run": "small", "credit.alpha": "0.8"}, page)
    assert not [slider for slider in at.slider if slider.key == "credit.alpha"]
    assert selection(at).credit == CreditConfig(alpha=0.8)
    at.switch_page("pages/transport.py")
    checked(at.run())
    assert at.slider(key="credit.alpha").value == 0.8


def test_save_keeps_the_credit_of_all_groups_as_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path / "runs" / "mine")
    monkeypatch.setenv("HARA_VIZ_RUNS", str(run.parent))
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    at = open_app({"credit.alpha": "0.25"})
    checked(at.button(key="credit.save").click().run())
    (job,) = jobs.list_jobs(tmp_path / "jobs")
    deadline = time.monotonic() + 90
    while not job.state.over and time.monotonic() < deadline:
        time.sleep(0.2)
        job = jobs.read_job(tmp_path / "jobs", job.id)
    assert (job.state, job.error) == ("done", None)
    kept = [info.config for info in list_credit(open_run(run))]
    assert kept == [CreditConfig(alpha=0.25)]
    # The list's novelty is of what is kept, and it says so as soon as the drawer differs.
    at = open_app({"credit.alpha": "0.25"})
    assert table(at, "problems.list")["novelty"].notna().all()
    assert "of the kept credit" not in shown_text(at)
    checked(at.slider(key="credit.alpha").set_value(0.5).run())
    assert "of the kept credit (Custom), not of the settings below" in shown_text(at)


def test_a_list_without_kept_credit_says_which_click_fills_it() -> None:
    assert "Save for the whole run" in shown_text(open_app({"run": "small"}))
