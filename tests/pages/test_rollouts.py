"""The rollouts page: every number on it, recomputed by the very function a trainer calls."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from hara_viz import open_run
from hara_viz.components.token_card import CardQuote
from hara_viz.components.token_heatmap import content_of, decode, decode_signal, signal_values
from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.types import GroupKey, RolloutGroup
from hara_viz.ui import drawer, inspector
from tests.small_runs import APPLES, HOSTILE, HOSTILE_TEXTS, PENS
from tests.ui.apptest import (
    checked,
    click_row,
    component,
    inspected,
    inspected_values,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    trigger,
)

pytestmark = pytest.mark.usefixtures("app_runs")


def recompute(
    run: Path, problem_id: str, config: CreditConfig, layer: int = 4
) -> tuple[RolloutGroup, Credit]:
    """The credit of a stored group, by way of the trainers' door alone."""
    opened = open_run(run)
    key = GroupKey(None, problem_id, 0)
    group = opened.load_group(key)
    states = opened.load_states(key, layer)
    assert states is not None
    lengths = [len(rollout.completion_ids) for rollout in group.rollouts]
    rollouts = group.rollouts
    return group, assign_credit_packed(
        states.states,
        torch.tensor([0, *accumulate(lengths)]),
        torch.tensor([r.reward for r in rollouts]),
        torch.zeros(len(rollouts), dtype=torch.int64),
        config,
        reasoning_step=torch.tensor([s for r in rollouts for s in r.reasoning_step or ()]),
        logprobs=torch.tensor([x for r in rollouts for x in r.logprobs or ()]),
        entropy=torch.tensor([x for r in rollouts for x in r.entropy or ()]),
    )


def test_header_and_table_show_rewards_and_advantages(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    words = shown_text(at)
    assert PENS.messages[0].content in words
    assert "3 of 6 rollouts right" in words
    # Rewards 1, 1, 1, 0, 0, 0: (r - 1/2) / (std_ddof1 + 1e-4).
    expected = 0.5 / (np.std([1, 1, 1, 0, 0, 0], ddof=1) + 1e-4)
    assert f"advantage of a right one +{expected:.3f}" in words
    assert f"advantage of a wrong one −{expected:.3f}" in words
    shown = table(at, "rollouts.table")
    assert list(shown["reward"]) == [r.reward for r in group.rollouts]
    assert list(shown["outcome"]) == ["right"] * 3 + ["wrong"] * 3
    np.testing.assert_allclose(shown["advantage"], credit.baseline, rtol=1e-5)
    offsets = np.cumsum([0, *shown["tokens"]])
    means = [credit.novelty[a:b].mean() for a, b in pairwise(offsets)]
    np.testing.assert_allclose(shown["mean novelty"], means, rtol=1e-4)
    np.testing.assert_allclose(shown["mean weight"], 1.0, atol=1e-4)


@pytest.mark.parametrize(
    "config",
    [
        CreditConfig(),
        CreditConfig(alpha=0.1, strength=1.0),
        CreditConfig(granularity="step", reference="leave_one_out"),
        CreditConfig(signal="entropy"),
    ],
    ids=["default", "alpha", "step", "entropy"],
)
def test_the_heatmap_holds_what_a_trainer_would_get(small_run: Path, config: CreditConfig) -> None:
    link = {"run": "small", "problem": PENS.problem_id}
    for name in ("alpha", "strength", "granularity", "reference", "signal"):
        link[f"credit.{name}"] = str(getattr(config, name))
    at = open_app(link)
    frame = decode(component(at, "heatmap").bytes)
    _, credit = recompute(small_run, PENS.problem_id, config)
    for name, expected in (
        ("novelty", credit.novelty),
        ("advantage", credit.advantages),
        ("weight", credit.weights - 1),
    ):
        shown = signal_values(frame, name)
        np.testing.assert_allclose(shown, expected, atol=2e-3 * float(expected.abs().max() + 1))


def test_a_slider_changes_the_numbers(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "0", "token": "2"})
    before = inspected_values(at)["Novelty"]
    checked(at.slider(key="credit.alpha").set_value(0.9).run())
    after = inspected_values(at)["Novelty"]
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig(alpha=0.9))
    assert after == pytest.approx(float(credit.novelty[2]), rel=1e-4)
    assert after != pytest.approx(before, rel=1e-2)


def test_the_inspector_shows_every_value_of_the_pinned_token(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    assert "Click a token" in shown_text(at)
    trigger(at, "heatmap", "pick", {"sample": 4, "token": 3})
    assert (selection(at).sample, selection(at).token) == (4, 3)
    assert at.query_params["token"] == "3"
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    place = sum(len(r.completion_ids) for r in group.rollouts[:4]) + 3
    values = inspected_values(at)
    assert values["Novelty"] == pytest.approx(float(credit.novelty[place]), rel=1e-4)
    reweighted = float(credit.advantages[place])
    assert values["Advantage, reweighted"] == pytest.approx(reweighted, rel=1e-4)
    assert values["Weight − 1"] == pytest.approx(float(credit.weights[place]) - 1, abs=1e-4)
    assert values["Entropy"] == pytest.approx((group.rollouts[4].entropy or ())[3])
    assert values["Surprisal (−log p)"] == pytest.approx(-(group.rollouts[4].logprobs or ())[3])
    siblings = inspected(at)["counterparts"]
    assert {sample for sample, *_ in siblings} == {3, 5}, "the other rollouts of the same outcome"


def test_the_inspector_ranks_a_value_among_the_groups_tokens(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    place = sum(len(r.completion_ids) for r in group.rollouts[:4]) + 3
    below = {label: share for label, _, share in inspected(at)["values"]}
    expected = float((credit.novelty < credit.novelty[place]).double().mean())
    assert below["Novelty"] == pytest.approx(expected, abs=0.02)  # a tie may fall either way


def test_a_row_of_the_inspector_leads_to_its_token() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    sample, token, *_ = inspected(at)["counterparts"][0]
    at.query_params["mark"] = "untouched by a fragment"
    trigger(at, "inspector.card", "pick", {"sample": sample, "token": token, "linked": True})
    assert (selection(at).sample, selection(at).token) == (sample, token)
    assert (inspected(at)["sample"], inspected(at)["token"]) == (sample, token)
    assert "mark" in at.query_params, "the address was the component's to write"


def test_python_writes_the_address_where_the_browser_cannot() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    trigger(at, "inspector.card", "pick", {"sample": 5, "token": 2, "linked": False})
    assert at.query_params["rollout"] == "5" and at.query_params["token"] == "2"


@pytest.mark.parametrize("picked", [{}, [], {"sample": -1}, {"sample": "<b>", "linked": True}])
def test_nonsense_from_the_inspector_moves_nothing(picked: object) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    trigger(at, "inspector.card", "pick", picked)
    assert (selection(at).sample, selection(at).token) == (4, 3)


def test_moves_inside_the_heatmap_reach_the_selection() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    view = {"signal": "shift", "underline": "entropy", "granularity": "step", "bounds": [-1, 2]}
    trigger(at, "heatmap", "view", view)
    chosen = selection(at)
    assert (chosen.signal, chosen.underline, chosen.granularity) == ("shift", "entropy", "step")
    assert chosen.bounds == (-1, 2)
    assert at.query_params["bounds"] == "-1..2"
    trigger(at, "heatmap", "problem", 1)
    assert selection(at).problem == HOSTILE.problem_id
    trigger(at, "heatmap", "problem", -1)
    assert selection(at).problem == PENS.problem_id


@pytest.mark.parametrize(
    "pick",
    [{"sample": "0", "token": 1}, {"sample": 0, "token": -4}, {"sample": True}, ["x"], None, 3],
)
def test_a_message_that_makes_no_sense_changes_nothing(pick: object) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "2"})
    trigger(at, "heatmap", "pick", pick)
    chosen = selection(at)
    assert chosen.sample in (2, 0) and chosen.token in (None, 1)
    assert chosen.problem == PENS.problem_id


def test_novel_spans_lead_to_their_tokens(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    spans = table(at, "spans.table")
    assert list(spans["excess"]) == sorted(spans["excess"], reverse=True)
    group, _ = recompute(small_run, PENS.problem_id, CreditConfig())
    first = spans.iloc[0]
    text = group.rollouts[int(first["rollout"])].completion_text
    assert " ".join(first["span"].split()) in " ".join(text.split())
    click_row(at, "spans.table", 0)
    assert selection(at).sample == first["rollout"]
    assert selection(at).token == int(first["tokens"].split("–")[0])


def test_barycenters_are_summarised_per_outcome() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    solver = next(t.value for t in at.dataframe if "rounds" in t.value)
    assert list(solver["outcome"]) == ["right", "wrong"]
    assert list(solver["rollouts"]) == [3, 3]
    assert solver["share of structure"].between(0, 1).all()


def test_a_group_without_signal_says_so() -> None:
    at = open_app({"run": "small", "problem": APPLES.problem_id})
    assert "0 of 3 rollouts right" in shown_text(at)
    assert any("equal" in plain(note.value) for note in at.info)
    assert set(table(at, "rollouts.table")["advantage"]) == {0.0}


def test_a_run_without_states_shows_uniform_credit_and_the_command_that_helps() -> None:
    at = open_app({"run": "no-states", "problem": PENS.problem_id})
    said = plain(at.warning[0].value)
    assert "hara-viz states" in said and "uniform" in said
    assert set(table(at, "rollouts.table")["mean weight"]) == {1.0}
    checked(at.selectbox(key="credit.preset").select("Entropy").run())
    assert not at.warning, "entropy needs no states"
    frame = decode(component(at, "heatmap").bytes)
    assert np.abs(signal_values(frame, "weight")).max() > 0


def test_hostile_text_is_never_markdown() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id, "rollout": "1", "token": "1"})
    question = HOSTILE.messages[0].content
    assert question in [text.value for text in at.text]
    markup = [*at.markdown, *at.caption, *at.info, *at.warning]
    rendered = "\n".join(str(element.value) for element in markup)
    for text, _ in HOSTILE_TEXTS:
        for word in text.split():
            assert word not in rendered or word.isalnum()
    assert "onerror" not in rendered
    quoted = inspected(at)["text"]
    assert "</style></div>" in "".join(quoted), "as it is: the card uses text nodes"
    frame = decode(component(at, "heatmap").bytes)
    assert "<script>document.title='owned'</script>" in {kind.text for kind in frame.kinds}


def test_a_large_group_is_computed_beside_the_app(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawer, "LIVE_TOKENS", 10)
    config = CreditConfig(alpha=0.3)
    at = open_app({"run": "small", "problem": PENS.problem_id, "credit.alpha": "0.3"})
    _, credit = recompute(small_run, PENS.problem_id, config)
    shown = signal_values(decode(component(at, "heatmap").bytes), "novelty")
    np.testing.assert_allclose(shown, credit.novelty, atol=2e-3)


def test_a_further_signal_comes_in_a_frame_of_its_own(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "signal": "opposite"})
    base = component(at, "heatmap").bytes
    carried = decode_signal(component(at, "heatmap.fill").bytes)
    assert (carried.base, carried.signal) == (content_of(base), "opposite")
    assert "opposite" in {offer.signal.name for offer in decode(base).offers}
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig(reference="opposite_outcome"))
    np.testing.assert_allclose(carried.values, credit.novelty, rtol=1e-3)
    assert not component(at, "heatmap.line").bytes
    at.query_params["rollout"], at.query_params["token"] = "1", "2"
    checked(at.run())
    values = inspected_values(at)
    place = len(open_run(small_run).load_group(GroupKey(None, PENS.problem_id, 0)).rollouts[0]
                .completion_ids) + 2  # fmt: skip
    assert values["Novelty against the other outcome"] == pytest.approx(
        float(credit.novelty[place]), rel=1e-4
    )
    captions = [caption.value for caption in at.caption]
    assert any("novelty against the other outcome" in text for text in captions), "spans follow"


def test_a_locked_signal_is_offered_with_the_command(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "signal": "log-ratio"})
    locked = {o.signal.name: o.locked for o in decode(component(at, "heatmap").bytes).offers}
    assert "`hara-viz states small --model REFERENCE --layers none`" in locked["log-ratio"]
    assert "No other checkpoint has read this run" in shown_text(at)
    assert not component(at, "heatmap.fill").bytes


def test_a_linked_pick_runs_nothing_but_what_tells_of_the_token(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4"})
    at.query_params["mark"] = "untouched by a fragment"
    trigger(at, "heatmap", "pick", {"sample": 4, "token": 3, "linked": True})
    assert (selection(at).sample, selection(at).token) == (4, 3)
    assert "mark" in at.query_params, "the address was the component's to write"
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    place = sum(len(r.completion_ids) for r in group.rollouts[:4]) + 3
    values = inspected_values(at)
    assert values["Novelty"] == pytest.approx(float(credit.novelty[place]), rel=1e-5)
    # What the component wrote is no news: the session keeps what it knows.
    del at.query_params["mark"]
    for name, value in {"run": "small", "rollout": "4", "token": "3"}.items():
        at.query_params[name] = value
    checked(at.run())
    assert (selection(at).sample, selection(at).token) == (4, 3)


def test_the_inspector_names_atoms_and_the_most_similar_states(small_run: Path) -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    card = inspected(at)
    shares = [share for _, share, _ in card["atoms"]]
    assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1 + 1e-6
    assert all(text for _, _, text in card["atoms"])
    similar = [CardQuote(*quote) for quote in card["similar"]]
    cosines = [quote.cosine for quote in similar]
    assert {q.sample for q in similar} == {0, 1, 2, 3, 5}
    assert cosines == sorted(cosines, reverse=True)
    run = open_run(small_run)
    states = run.load_states(GroupKey(None, PENS.problem_id, 0), 4)
    assert states is not None and card["layer"] == 4
    offsets, unit = states.offsets.tolist(), torch.nn.functional.normalize(states.states.float())
    cosine = unit @ unit[offsets[4] + 3]
    best = max(float(cosine[a:b].max()) for i, (a, b) in enumerate(pairwise(offsets)) if i != 4)
    assert similar[0].cosine == pytest.approx(best, abs=1e-4)
    for quote in similar:  # the number that a press selects is that of the words shown
        rollout = run.load_group(GroupKey(None, PENS.problem_id, 0)).rollouts[quote.sample]
        assert float(cosine[offsets[quote.sample] + quote.token]) == pytest.approx(quote.cosine)
        assert quote.inside.replace("⏎", "\n").strip() in rollout.completion_text
        assert quote.success is (rollout.reward == 1.0)


def test_a_large_group_is_searched_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "LIVE_NUMBERS", 10)
    at = open_app({"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "3"})
    card = inspected(at)
    assert card["layer"] is None and card["counterparts"]
    assert {text for _, _, text in card["atoms"]} == {None}
    checked(at.button(key="inspector.find").click().run())
    card = inspected(at)
    assert card["layer"] == 4 and len(card["similar"]) == 5
    assert all(text for _, _, text in card["atoms"])


def test_a_search_over_the_run_leads_to_the_token() -> None:
    at = open_app({"run": "small", "problem": PENS.problem_id})
    checked(at.text_input(key="run.search").set_value("<SCRIPT>").run())
    hits = table(at, "run.hits")
    assert list(hits["found"]) == ["<script>"]
    click_row(at, "run.hits", 0)
    assert (selection(at).problem, selection(at).sample) == (
        HOSTILE.problem_id,
        int(hits["rollout"][0]),
    )
    checked(at.text_input(key="run.search").set_value("zzz").run())
    assert any("None of 13 rollouts" in caption.value for caption in at.caption)
