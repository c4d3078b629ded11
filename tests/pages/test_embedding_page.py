"""The embedding page: points, colours and quality recomputed; lasso and links."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import torch

from hara_viz import open_run
from hara_viz.analysis.projection import principal_components
from hara_viz.components.embedding_map import decode
from hara_viz.credit import CreditConfig
from hara_viz.types import GroupKey, Rollout
from hara_viz.ui.map_anchors import anchor_note, anchor_tokens
from tests.pages.test_rollouts import recompute
from tests.small_runs import HOSTILE, HOSTILE_TEXTS, PENS
from tests.ui.apptest import (
    checked,
    click_row,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    table_of,
    trigger,
)

pytestmark = pytest.mark.usefixtures("app_runs")
PAGE = "pages/embedding.py"
LINK = {"run": "small", "problem": PENS.problem_id}


@pytest.fixture(autouse=True)
def pca_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """PCA as the form's default: UMAP compiles for half a minute; one test waits for it."""
    from hara_viz.ui import map_form

    monkeypatch.setitem(map_form._DEFAULTS, "method", "pca")


def unit_states(run: Path) -> np.ndarray:
    states = open_run(run).load_states(GroupKey(None, PENS.problem_id, 0), 4)
    assert states is not None
    return torch.nn.functional.normalize(states.states.float(), dim=1).numpy()


def test_points_colours_and_atoms_are_those_of_the_group(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    frame = decode(component(at, "map").bytes)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    states = unit_states(small_run)
    expected, shares = principal_components(states, 2)
    np.testing.assert_allclose(np.stack([frame.x, frame.y], 1), expected, atol=1e-5)
    assert frame.colouring.label == "Novelty"
    np.testing.assert_allclose(frame.colouring.values, credit.novelty, rtol=1e-5)
    assert [(r.sample, r.success) for r in frame.rollouts] == [
        (r.sample, r.reward == 1.0) for r in group.rollouts
    ]
    assert len(frame.atoms) == 16
    # An atom is the plan-weighted mean of its class's states, at unit length as cosine has it.
    right = credit.outcomes[0]
    offsets = np.cumsum([0, *(len(r.completion_ids) for r in group.rollouts)])
    plans = [plan.double().numpy() for plan in right.plans]
    flow = sum(
        plan.T @ states[offsets[row] : offsets[row + 1]]
        for row, plan in zip(right.rows, plans, strict=True)
    )
    flow /= np.linalg.norm(flow, axis=1, keepdims=True)
    # PCA is affine: solve for its axes from the points, then place the atoms.
    axes, *_ = np.linalg.lstsq(states - states.mean(0), expected, rcond=None)
    placed = np.array([[atom.x, atom.y] for atom in frame.atoms if atom.success])
    np.testing.assert_allclose(placed, (flow - states.mean(0)) @ axes, atol=1e-3)
    said = shown_text(at)
    assert (
        f"Its axes carry {100 * shares[0]:.0f} % + {100 * shares[1]:.0f} % of the variance" in said
    )
    assert "they took no part in the fit" in said


def test_trustworthiness_beside_the_picture_is_scikit_learns(small_run: Path) -> None:
    from sklearn.manifold import trustworthiness

    at = open_app(LINK, page=PAGE)
    states = unit_states(small_run)
    expected = trustworthiness(states, principal_components(states, 2)[0], n_neighbors=10)
    trust, kept, seeds, points = at.metric
    labels = ["Trustworthiness", "Neighbours kept", "Other seeds", "Points"]
    assert [m.label for m in at.metric] == labels and seeds.value == "same map"
    # Equal states (the same first word) tie; ties are ranked in our own way.
    assert float(trust.value) == pytest.approx(expected, abs=0.01)
    drawn = decode(component(at, "map").bytes)
    places = np.stack([drawn.x, drawn.y], axis=1)
    assert points.value == str(len(places))
    # Ties again: a neighbour as near as the tenth counts wherever a library puts it.
    near = [neighbours(space) for space in (states, places)]
    shares = [len(a & b) / 10 for a, b in zip(*near, strict=True)]
    assert int(kept.value.split()[0]) == pytest.approx(100 * np.mean(shares), abs=3)


def neighbours(points: np.ndarray) -> list[set[int]]:
    """The ten nearest of each point, itself left out."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
    return [set(row) for row in found.tolist()]


def test_quality_is_unknown_with_too_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    from hara_viz.ui import map_form

    monkeypatch.setitem(map_form._DEFAULTS, "cap", 3)
    monkeypatch.setattr(map_form, "_CAPS", (3, 500))
    at = open_app(LINK, page=PAGE)
    assert [m.value for m in at.metric] == ["unknown", "unknown", "same map", "3"]
    assert "fewer than 4 points" in shown_text(at)


def test_the_scale_is_that_of_the_heatmap_though_points_are_left_out(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hara_viz.ui import map_form

    monkeypatch.setitem(map_form._DEFAULTS, "cap", 20)
    monkeypatch.setattr(map_form, "_CAPS", (20, 500))
    at = open_app(LINK, page=PAGE)
    domain = decode(component(at, "map").bytes).colouring.domain
    _, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    assert domain is not None and credit.novelty is not None
    np.testing.assert_allclose(domain, np.nanquantile(credit.novelty, [0.02, 0.98]), rtol=1e-5)


def test_anchors_of_the_rollouts_in_focus_are_marked_on_their_nearest_tokens() -> None:
    at = open_app(LINK, page=PAGE)
    assert decode(component(at, "map").bytes).anchors == ()
    assert "16 evenly spaced places along its length, not states" in shown_text(at)
    at = open_app(LINK | {"rollout": "4"}, page=PAGE)
    frame = decode(component(at, "map").bytes)
    assert [anchor.number for anchor in frame.anchors] == list(range(16))
    length = sum(cell.n_tokens for cell in frame.rollouts[4].cells)
    for point, number in frame.anchors:
        assert frame.rollouts[frame.row[point]].sample == 4
        # No token of the rollout is nearer to the anchor's place.
        place = number / 15 * (length - 1)
        assert abs(int(frame.token[point]) - place) <= 0.5 + 1e-5
    assert "Numbered squares: anchors" in shown_text(at)


def test_anchors_are_counted_among_own_tokens_and_named_when_there_are_none() -> None:
    text, ids = "abcdef", (1, 2, 3, 4, 5, 6)
    rollout = Rollout(
        problem_id="p",
        prompt_text="",
        sample=0,
        completion_text=text,
        completion_ids=ids,
        sampled_mask=(False, True, True, False, True, True),
    )
    assert anchor_tokens(rollout, CreditConfig(n_anchors=4)) == [1, 2, 4, 5]
    assert anchor_tokens(rollout, CreditConfig(n_anchors=1)) == [1]
    assert anchor_tokens(rollout, CreditConfig(solver="exact")) == []
    prompt = CreditConfig(anchors="prompt", structure="state")
    assert anchor_tokens(rollout, prompt) == []
    assert "which a run does not keep" in anchor_note(prompt, 1, 0)
    state = CreditConfig(structure="state")
    assert "16 of its own tokens" in anchor_note(state, 1, 16)
    assert "no token nearest to one is among the points" in anchor_note(state, 1, 0)


def test_colours_change_and_points_stay() -> None:
    at = open_app(LINK, page=PAGE)
    before = decode(component(at, "map").bytes)
    checked(at.selectbox(key="map.colour").select("outcome").run())
    after = decode(component(at, "map").bytes)
    np.testing.assert_array_equal(before.x, after.x)
    assert (before.name, after.colouring.categories) == (after.name, ("right", "wrong"))
    checked(at.selectbox(key="map.colour").select("entropy").run())
    assert selection(at).signal == "entropy" and at.query_params["signal"] == "entropy"
    assert decode(component(at, "map").bytes).colouring.label == "Entropy"
    checked(at.selectbox(key="map.colour").select("position").run())
    values = decode(component(at, "map").bytes).colouring.values
    assert (values.min(), values.max()) == (0.0, 1.0)


def test_steps_stand_for_their_tokens(small_run: Path) -> None:
    at = open_app(LINK, page=PAGE)
    checked(at.selectbox(key="map.points").select("step").run())
    frame = decode(component(at, "map").bytes)
    group, credit = recompute(small_run, PENS.problem_id, CreditConfig())
    assert frame.span.sum() == sum(len(r.completion_ids) for r in group.rollouts)
    assert len(frame.x) == sum(len(set(r.reasoning_step or ())) for r in group.rollouts)
    first = credit.novelty[: int(frame.span[0])].mean()
    assert frame.colouring.values[0] == pytest.approx(float(first), rel=1e-5)


def test_a_cap_is_kept_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from hara_viz.ui import map_form

    monkeypatch.setitem(map_form._DEFAULTS, "cap", 20)
    monkeypatch.setattr(map_form, "_CAPS", (20, 500))
    at = open_app(LINK, page=PAGE)
    frame = decode(component(at, "map").bytes)
    assert len(frame.x) == 20 and set(frame.row) == set(range(6))
    assert "20 of 91 points are shown, evenly over rollouts" in plain(shown_text(at))


def test_a_lasso_lists_its_texts_and_leads_to_them() -> None:
    at = open_app(LINK, page=PAGE)
    name = decode(component(at, "map").bytes).name
    trigger(at, "map", "lasso", {"name": name, "points": [2, 1, 10_000, -3, 20]})
    shown = table(at, "lasso.table")
    frame = decode(component(at, "map").bytes)
    rows = [frame.rollouts[frame.row[i]].sample for i in (1, 2, 20)]
    assert list(shown["rollout"]) == rows
    assert list(shown["token"]) == [int(frame.token[i]) for i in (1, 2, 20)]
    words = next(t.value for t in at.dataframe if "times" in t.value)
    assert sum(words["times"].tolist()) == 3
    steps = table_of(at, "reasoning step")
    assert sum(steps["points in it"].tolist()) == 3
    first = frame.rollouts[frame.row[1]].cells
    sentence = "".join(cell.text for cell in first)
    assert any(sentence.strip().startswith(text) for text in steps["reasoning step"])
    click_row(at, "lasso.table", 2)
    assert (selection(at).sample, selection(at).token) == (rows[2], int(frame.token[20]))


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        {"name": "x"},
        {"name": 1, "points": ["a"]},
        {"name": "elsewhere", "points": [1]},
    ],
)
def test_a_lasso_that_makes_no_sense_shows_nothing(said: object) -> None:
    at = open_app(LINK, page=PAGE)
    trigger(at, "map", "lasso", said)
    with pytest.raises(KeyError):
        table(at, "lasso.table")


def test_space_shows_all_points_with_inert_text() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id}, page=PAGE)
    checked(at.selectbox(key="map.dimensions").select(3).run())
    (chart,) = at.get("plotly_chart")
    assert "<" not in chart.proto.spec
    assert "&lt;script&gt;" in chart.proto.spec


def test_a_run_without_states_names_the_command() -> None:
    at = open_app({"run": "no-states", "problem": PENS.problem_id}, page=PAGE)
    assert "hara-viz states RUN --model MODEL" in shown_text(at)


def test_hostile_text_is_never_markdown() -> None:
    at = open_app({"run": "small", "problem": HOSTILE.problem_id}, page=PAGE)
    markup = [*at.markdown, *at.caption, *at.info, *at.warning]
    rendered = "\n".join(str(element.value) for element in markup)
    for text, _ in HOSTILE_TEXTS:
        for word in text.split():
            assert word not in rendered or word.isalnum()
    texts = {cell.text for r in decode(component(at, "map").bytes).rollouts for cell in r.cells}
    assert "<script>document.title='owned'</script>" in texts


@pytest.mark.slow
def test_umap_comes_from_a_process_of_its_own_while_pca_is_shown() -> None:
    at = open_app(LINK, page=PAGE)
    by_pca = decode(component(at, "map").bytes)
    checked(at.selectbox(key="map.method").select("umap").run())
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and "UMAP of" not in shown_text(at):
        assert "PCA of" in shown_text(at)
        time.sleep(2)
        checked(at.run())
    frame = decode(component(at, "map").bytes)
    assert "UMAP of 91 tokens" in shown_text(at)
    assert "by UMAP's transform" in shown_text(at)
    assert not np.allclose(frame.x, by_pca.x)

    # The same points under two other seeds: on request, as a figure.
    assert "Other seeds" not in [m.label for m in at.metric]
    checked(at.button(key="map.seeds").click().run(timeout=240))
    (seeds,) = [m.value for m in at.metric if m.label == "Other seeds"]
    shares = [int(part.split()[0]) for part in seeds.split(" · ")]
    assert len(shares) == 2 and all(20 < share <= 100 for share in shares)


def test_the_text_beside_the_map_is_that_of_the_rollouts_page() -> None:
    at = open_app(LINK, page=PAGE)
    beside = component(at, "map.text")
    trigger(at, "map.text", "pick", {"sample": 4, "token": 3, "linked": True})
    assert (selection(at).sample, selection(at).token) == (4, 3)
    trigger(at, "map.text", "view", {"signal": "entropy"})
    assert decode(component(at, "map").bytes).colouring.label == "Entropy"
    there = component(open_app(LINK), "heatmap")
    assert (beside.bytes, beside.component_name) == (there.bytes, there.component_name)


def test_paths_of_chosen_rollouts_are_drawn_and_kept_in_the_link() -> None:
    at = open_app(LINK, page=PAGE)
    frame = decode(component(at, "map").bytes)
    numbers = [rollout.sample for rollout in frame.rollouts]
    assert frame.paths == ()
    checked(at.multiselect(key="map.paths").set_value([numbers[4], numbers[1]]).run())
    assert decode(component(at, "map").bytes).paths == (1, 4)
    assert at.query_params["paths"] == f"{numbers[1]}-{numbers[4]}"
    # A click with ctrl takes one away again, or adds one.
    for row, left in ((1, (4,)), (0, (0, 4))):
        trigger(at, "map", "path", {"name": frame.name, "sample": numbers[row]})
        assert decode(component(at, "map").bytes).paths == left
    assert at.multiselect(key="map.paths").value == [numbers[0], numbers[4]]

    said = [plain(w.value) for w in open_app(LINK | {"paths": f"{numbers[4]}-77"}).warning]
    assert said == ["The link asks for paths of rollouts that this group has not: '77'."]
    again = open_app(LINK | {"paths": str(numbers[4])}, page=PAGE)
    assert decode(component(again, "map").bytes).paths == (4,)


@pytest.mark.parametrize("said", [None, {"name": "x", "sample": 1}, {"sample": "1"}, {"sample": 1}])
def test_a_path_that_makes_no_sense_is_not_drawn(said: object) -> None:
    at = open_app(LINK, page=PAGE)
    trigger(at, "map", "path", said)
    assert selection(at).paths == ()
