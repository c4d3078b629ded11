"""The credit drawer: presets, controls, the draft of large groups."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path

import pytest

from hara_viz.backend import jobs
from hara_viz.credit import CreditConfig
from hara_viz.store import list_credit, open_run
from hara_viz.ui import drawer
from tests.small_runs import write_run
from tests.ui.apptest import checked, open_app, plain, selection, table

pytestmark = pytest.mark.usefixtures("app_runs")


def test_every_setting_has_a_widget() -> None:
    at = open_app({"run": "small"})
    kinds = (at.slider, at.selectbox, at.number_input, at.select_slider, at.button_group)
    keys = {str(widget.key) for kind in kinds for widget in kind}
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
    at = open_app({"run": "small"})
    checked(at.select_slider(key="credit.n_support").set_value(16).run())
    checked(at.number_input(key="credit.weight_range.low").set_value(0.5).run())
    checked(at.number_input(key="credit.epsilon").set_value(0.05).run())
    checked(at.selectbox(key="credit.reference").select("leave_one_out").run())
    expected = CreditConfig(
        n_support=16, weight_range=(0.5, 3.0), epsilon=0.05, reference="leave_one_out"
    )
    assert selection(at).credit == expected


def test_a_setting_that_cannot_be_is_refused_in_words() -> None:
    at = open_app({"run": "small"})
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
    at = open_app()
    assert table(at, "problems.list")["novelty"].notna().all()
