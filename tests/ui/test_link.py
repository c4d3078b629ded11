from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.ui.fields import DEFAULT as DEFAULT_CREDIT
from hara_viz.ui.link import from_query, to_query
from hara_viz.ui.selection import LEVELS, Selection, move

naturals = st.integers(0, 10**9)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
finite = st.floats(-1e6, 1e6)
credits = st.builds(
    lambda **changes: replace(DEFAULT_CREDIT, **changes),
    alpha=st.floats(0, 1),
    epsilon=st.floats(1e-6, 1),
    n_support=st.one_of(st.just("auto"), st.integers(1, 500)),
    weight_range=st.tuples(st.floats(0, 1), st.floats(1, 50)),
    granularity=st.sampled_from(["token", "step", {"token": 0.5, "step": 1e-05, "rollout": 0.2}]),
    signal=st.sampled_from(["hara", "entropy", "uniform"]),
)
selections = st.builds(
    Selection,
    runs=st.lists(words, max_size=3).map(tuple),
    global_step=st.one_of(st.none(), st.integers(-5, 10**6)),
    problem=st.one_of(st.none(), words),
    group=naturals,
    among=st.lists(naturals, max_size=4, unique=True).map(lambda found: tuple(sorted(found))),
    paths=st.lists(naturals, max_size=4, unique=True).map(lambda found: tuple(sorted(found))),
    sample=st.one_of(st.none(), naturals),
    token=st.one_of(st.none(), naturals),
    layer=st.one_of(st.none(), naturals),
    signal=words,
    granularity=st.sampled_from(LEVELS),
    bounds=st.one_of(st.none(), st.tuples(finite, finite).filter(lambda b: b[0] < b[1])),
    credit=credits,
)


@given(selections)
def test_a_pasted_link_restores_the_selection(selection: Selection) -> None:
    address = urlencode(to_query(selection), doseq=True)
    restored, notes = from_query(parse_qs(address, keep_blank_values=True))
    assert restored == selection
    assert notes == ()


def test_a_link_holds_only_what_is_not_default_with_the_token_last() -> None:
    assert to_query(Selection()) == {}
    credit = replace(DEFAULT_CREDIT, alpha=0.7, weight_range=(0.5, 2.0))
    selection = Selection(
        runs=("demo",), problem="ab12", sample=3, token=41, credit=credit, bounds=(0.0, 1.5)
    )
    assert urlencode(to_query(selection), doseq=True) == (
        "run=demo&problem=ab12&credit.alpha=0.7&credit.weight_range=0.5..2.0&bounds=0..1.5"
        "&rollout=3&token=41"
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"token": ["-1"]}, "token = '-1'"),
        ({"token": ["٣"]}, "token"),
        ({"rollout": ["first"]}, "rollout = 'first'"),
        ({"bounds": ["2..1"]}, "the smaller first"),
        ({"bounds": ["nan..1"]}, "bounds"),
        ({"level": ["word"]}, "token, step, rollout"),
        ({"problem": [""]}, "problem"),
        ({"tokn": ["3"]}, "'tokn'"),
        ({"credit.alpha": ["7"]}, "alpha"),
        ({"credit.alpha": ["high"]}, "alpha"),
        ({"credit.n_support": ["many"]}, "n_support"),
        ({"credit.weight_range": ["1"]}, "weight_range"),
        ({"credit.signal": ["magic"]}, "magic"),
        ({"credit.beta": ["1"]}, "beta"),
    ],
)
def test_a_bad_value_costs_only_itself(query: dict[str, list[str]], said: str) -> None:
    selection, notes = from_query({**query, "run": ["demo"], "credit.strength": ["1.5"]})
    assert len(notes) == 1
    assert said in notes[0]
    good = replace(DEFAULT_CREDIT, strength=1.5)
    assert selection == Selection(runs=("demo",), credit=good)


def test_streamlits_own_parameters_are_not_complained_about() -> None:
    assert from_query({"embed": ["true"], "embed_options": ["light_theme"]}) == (Selection(), ())


def test_a_move_resets_what_it_makes_meaningless() -> None:
    start = Selection(runs=("a",), problem="p", sample=2, token=9, layer=4, bounds=(0.0, 1.0))
    assert move(start, sample=3).token is None
    assert move(start, sample=2).token == 9
    assert move(start, sample=3, token=5).token == 5
    assert move(start, problem="q") == replace(start, problem="q", sample=None, token=None)
    other_run = move(start, runs=("b",))
    assert (other_run.problem, other_run.sample, other_run.layer) == ("p", None, None)
    assert move(start, signal="entropy").bounds is None
