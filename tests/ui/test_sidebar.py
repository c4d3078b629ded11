"""The frame of every page: what is chosen, what the link says, what moves what."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.small_runs import APPLES, HOSTILE, PENS
from tests.ui.apptest import checked, click_row, open_app, plain, selection, shown_text, table

pytestmark = pytest.mark.usefixtures("app_runs")


def test_the_figures_of_the_run_are_shown() -> None:
    at = open_app({"run": "small"})
    # Pass rates 3/6, 2/4, 0/3; three groups of at least 3 scored rollouts each.
    chances = [1 - 1 / 20, 1 - 0 / 4, 0.0]
    line = next(c.value for c in at.caption if "pass@1" in c.value)
    assert "pass@1 33 %" in line
    assert f"pass@3 {100 * sum(chances) / 3:.0f} %" in line
    assert "3 problems · 13 rollouts" in line


def test_the_first_mixed_group_is_chosen_and_stands_in_the_address() -> None:
    at = open_app({"run": "small"})
    assert selection(at).problem == PENS.problem_id
    assert at.query_params["problem"] == PENS.problem_id
    assert at.query_params["run"] == "small"


def test_a_link_restores_run_problem_rollout_token_and_credit() -> None:
    link = {
        "run": "small", "problem": HOSTILE.problem_id, "rollout": "1", "token": "3",
        "signal": "shift", "layer": "2", "credit.alpha": "0.25",
    }  # fmt: skip
    at = open_app(link)
    chosen = selection(at)
    assert (chosen.problem, chosen.sample, chosen.token) == (HOSTILE.problem_id, 1, 3)
    assert (chosen.signal, chosen.layer, chosen.credit.alpha) == ("shift", 2, 0.25)
    assert at.slider(key="credit.alpha").value == 0.25
    assert {name: at.query_params[name] for name in link} == link
    assert not at.warning


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"run": "gone"}, "no run"),
        ({"problem": "0" * 16}, "no group 0 of problem"),
        ({"rollout": "77"}, "no rollout 77"),
        ({"rollout": "0", "token": "999"}, "no token 999"),
        ({"token": "3"}, "needs its rollout"),
        ({"layer": "9"}, "no states of layer 9"),
        ({"signal": "magic"}, "no signal"),
        ({"credit.alpha": "7"}, "alpha"),
    ],
)
def test_a_link_that_asks_in_vain_says_so_and_shows_something(
    link: dict[str, str], said: str
) -> None:
    at = open_app({"run": "small", **link})
    assert said in plain(at.warning[0].value)
    assert table(at, "problems.list").shape[0] > 0
    at.run()
    assert not any(said in plain(w.value) for w in at.warning), "said once is enough"


def test_a_hostile_link_is_quoted_not_rendered() -> None:
    at = open_app({"run": "small", "problem": "<b>**x**</b> :red[y]"})
    assert r"\<b\>\*\*x\*\*\<\/b\>" in at.warning[0].value
    assert ":red[" not in at.warning[0].value


def test_problems_are_searched_filtered_and_sorted() -> None:
    at = open_app({"run": "small"})
    assert list(table(at, "problems.list")["right"]) == ["3/6", "2/4", "0/3"]
    checked(at.selectbox(key="problems.filter").select("Mixed").run())
    assert list(table(at, "problems.list")["right"]) == ["3/6", "2/4"]
    checked(at.selectbox(key="problems.filter").select("Degenerate").run())
    assert list(table(at, "problems.list")["right"]) == ["0/3"]
    checked(at.selectbox(key="problems.filter").select("All").run())
    checked(at.selectbox(key="problems.order").select("Hardest first").run())
    assert list(table(at, "problems.list")["right"]) == ["0/3", "3/6", "2/4"]
    checked(at.text_input(key="problems.search").set_value("tom APPLES").run())
    assert list(table(at, "problems.list")["right"]) == ["0/3"]
    checked(at.text_input(key="problems.search").set_value("zebra").run())
    assert "No problem here" in shown_text(at)


def test_a_click_in_the_list_goes_to_the_problem_as_it_is_sorted() -> None:
    at = open_app({"run": "small", "rollout": "2", "token": "1"})
    checked(at.selectbox(key="problems.order").select("Hardest first").run())
    click_row(at, "problems.list", 0)
    chosen = selection(at)
    assert (chosen.problem, chosen.sample, chosen.token) == (APPLES.problem_id, None, None)
    assert at.query_params["problem"] == APPLES.problem_id
    assert "token" not in at.query_params


def test_another_run_keeps_the_problem() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id, "rollout": "1"})
    checked(at.selectbox(key="sidebar.run").select("no-states").run())
    chosen = selection(at)
    assert (chosen.run, chosen.problem, chosen.sample) == ("no-states", HOSTILE.problem_id, None)


def test_going_back_in_the_history_restores_what_the_address_says() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id})
    at.session_state["hara.written_at"] = 0.0  # as if that had been a while ago
    at.query_params["problem"] = APPLES.problem_id
    checked(at.run())
    assert selection(at).problem == APPLES.problem_id


def test_an_address_in_flight_does_not_undo_a_move() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    before = dict(at.query_params)
    click_row(at, "problems.list", 1)
    at.query_params.clear()
    for name, value in before.items():
        at.query_params[name] = value
    checked(at.run())
    assert selection(at).problem == HOSTILE.problem_id


def test_an_empty_runs_folder_says_how_to_fill_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    at = open_app()
    assert "No runs yet" in shown_text(at)
    assert "hara-viz sample" in shown_text(at)


def test_a_run_that_is_deleted_while_it_is_shown_is_told(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    for name in ("brief", "other"):
        shutil.copytree(small_run, tmp_path / name)
    at = open_app({"run": "brief"})
    assert selection(at).run == "brief"
    shutil.rmtree(tmp_path / "brief")
    checked(at.run())
    assert selection(at).run == "other"
    assert any("There is no run 'brief'" in plain(warning.value) for warning in at.warning)


def test_a_link_of_100_kB_is_quoted_in_short() -> None:
    at = open_app({"run": "small", "signal": "n" * 500, "rollout": "x" * 500})
    assert max(len(plain(warning.value)) for warning in at.warning) < 1500
