"""Widgets that mirror the selection: what Python knows already is not sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.apptest import checked

SCRIPT = Path(__file__).with_name("mirrored_slider.py")


@pytest.fixture
def at() -> AppTest:
    return checked(AppTest.from_file(str(SCRIPT), default_timeout=30).run())


def test_the_first_value_is_sent_and_no_other_until_it_differs(at: AppTest) -> None:
    assert at.slider(key="moved").proto.set_value
    checked(at.slider(key="moved").set_value(0.7).run())
    assert at.session_state["truth"] == 0.7
    assert not at.slider(key="moved").proto.set_value, "it would undo a press made meanwhile"
    checked(at.run())
    assert not at.slider(key="moved").proto.set_value


def test_a_value_changed_elsewhere_is_sent(at: AppTest) -> None:
    at.session_state["truth"] = 0.2
    checked(at.run())
    assert at.slider(key="moved").value == 0.2
    assert at.slider(key="moved").proto.set_value


def test_a_slider_with_other_ends_is_told_its_value(at: AppTest) -> None:
    at.session_state["truth"] = 2.0
    checked(at.run())
    assert (at.slider(key="moved").value, at.slider(key="moved").max) == (2.0, 2.0)
    checked(at.slider(key="moved").set_value(1.5).run())  # another widget: its end has moved
    assert (at.slider(key="moved").value, at.slider(key="moved").max) == (1.5, 1.5)
    assert at.session_state["truth"] == 1.5


def test_a_refused_value_is_taken_back(at: AppTest) -> None:
    checked(at.slider(key="moved").set_value(0.1).run())
    assert at.slider(key="moved").value == 0.5
    assert at.slider(key="moved").proto.set_value
