"""One name and one number for one thing: atoms and tokens on every page that shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.components import barycenter_text, embedding_map, transport_plan
from hara_viz.components.token_card import CardQuote
from hara_viz.store import open_run
from hara_viz.types import GroupKey
from tests.small_runs import PENS
from tests.ui.apptest import click_row, component, inspected, open_app, selection, shown_text, table

pytestmark = pytest.mark.usefixtures("app_runs")

SAMPLE, TOKEN = 4, 3
LINK = {"run": "small", "problem": PENS.problem_id, "rollout": str(SAMPLE), "token": str(TOKEN)}
ROLLOUTS, TRANSPORT, EMBEDDING = (
    "pages/rollouts.py", "pages/transport.py", "pages/embedding.py",
)  # fmt: skip


def words_of(text: str) -> list[str]:
    return [word.strip() for word in text.split(" / ")]


@pytest.mark.parametrize("changes", [{}, {"credit.reference": "opposite_outcome"}])
def test_an_atom_bears_one_name_on_every_page(changes: dict[str, str]) -> None:
    link = {**LINK, **changes}
    transport = open_app(link, TRANSPORT)
    plan = transport_plan.decode(component(transport, "plan").bytes)
    names = {atom.name: atom.text for atom in plan.atoms}
    assert len(names) == len(plan.atoms) and all(names.values())

    rollouts = open_app(link)
    card = inspected(rollouts)
    assert card["atoms"]
    assert {atom: text for atom, _, text in card["atoms"]}.items() <= names.items()
    # What it is likened to in the other rollouts are the words that the nearest atom is named by.
    quoted = {CardQuote(*quote).inside.strip().lower() for quote in card["counterparts"]}
    first = [word.lower() for word in words_of(names[card["atoms"][0][0]])]
    assert quoted <= set(first), "at most two others, and a name has three words"
    # The shares are those of the plan's row.
    row = dict(zip([atom.name for atom in plan.atoms], plan.shares[TOKEN], strict=True))
    for atom, share, _ in card["atoms"]:
        assert share == pytest.approx(row[atom], abs=1e-3)

    if not changes:  # the map and the text show each outcome's own barycenter
        wrong = {a.name: a.text for a in embedded_atoms(link) if not a.success}
        assert wrong == names
        text = barycenter_text.decode(component(transport, "barycenters").bytes)
        for atom in text.sides[1].atoms:
            first = atom.quotes[0].inside.strip().lower()
            assert first in [word.lower() for word in words_of(names[atom.name])]
        pairs = table(transport, "pairs.top")
        assert set(pairs["atom"]) <= set(names)


def embedded_atoms(link: dict[str, str]):
    at = open_app({**link}, EMBEDDING)
    return embedding_map.decode(component(at, "map").bytes).atoms


def test_tokens_are_counted_from_0_on_every_page(small_run: Path) -> None:
    run = open_run(small_run)
    rollout = run.load_group(GroupKey(None, PENS.problem_id, 0)).rollouts[SAMPLE]
    n_tokens = len(rollout.completion_ids)
    first, last = {**LINK, "token": "0"}, {**LINK, "token": str(n_tokens - 1)}
    for link, token in ((first, 0), (last, n_tokens - 1)):
        at = open_app(link)
        assert not at.warning and selection(at).token == token
        card = inspected(at)
        assert (card["token"], card["sample"]) == (token, SAMPLE)
        assert f"{n_tokens} tokens, counted from 0" in card["facts"]
    beyond = open_app({**LINK, "token": str(n_tokens)})
    assert "counted from 0" in beyond.warning[0].value.replace("\\", "")

    # A table's number is the number that a click on it selects.
    at = open_app({"run": "small", "problem": PENS.problem_id})
    spans = table(at, "spans.table")
    start, stop = map(int, spans["tokens"][0].split("–"))
    assert selection(click_row(at, "spans.table", 0)).token == start
    assert "Tokens are counted from 0" in shown_text(at)
    # Its last token is the last of its text: cut the text by the cells and compare.
    starts = (*run_cells(run, int(spans["rollout"][0])), None)
    rollouts = run.load_group(GroupKey(None, PENS.problem_id, 0)).rollouts
    text = rollouts[int(spans["rollout"][0])].completion_text[starts[start] : starts[stop + 1]]
    assert " ".join(text.split()) == spans["span"][0]

    # Plan and map select by the same number.
    plan = transport_plan.decode(component(open_app(first, TRANSPORT), "plan").bytes)
    assert len(plan.own) == n_tokens
    points = embedding_map.decode(component(open_app(first, EMBEDDING), "map").bytes)
    own = [r.sample for r in points.rollouts].index(SAMPLE)
    tokens = points.token[points.row == own]
    assert (int(tokens.min()), int(tokens.max())) == (0, n_tokens - 1)


def run_cells(run, sample: int) -> tuple[int, ...]:
    (rollout,) = (
        r for r in run.load_group(GroupKey(None, PENS.problem_id, 0)).rollouts
        if r.sample == sample
    )  # fmt: skip
    return rollout.cell_start
