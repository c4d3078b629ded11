from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from hara_viz.credit import CreditConfig
from hara_viz.credit.null import benjamini_hochberg, novelty_null
from hara_viz.credit.stability import novelty_stability
from hara_viz.credit.weights import standardise
from hara_viz.errors import HaraError
from tests.ot.planted import clustered_rollouts

NAN = float("nan")
T, STEP = 24, 4
STEPS = T // STEP


def packed(rollouts: list[Tensor], rewards: list[float], group: int = 0) -> dict[str, Tensor]:
    lengths = [len(h) for h in rollouts]
    return {
        "states": torch.cat(rollouts),
        "offsets": torch.tensor([0, *lengths]).cumsum(0),
        "rewards": torch.tensor(rewards),
        "group_index": torch.full((len(rollouts),), group),
        "spans": torch.cat([torch.arange(n) // STEP for n in lengths]),
    }


def many_groups(groups: list[list[Tensor]], rewards: list[float]) -> dict[str, Tensor]:
    one = packed([h for group in groups for h in group], rewards * len(groups))
    index = torch.arange(len(groups)).repeat_interleave(len(rewards))
    return one | {"group_index": index}


# --- the level: p is uniform where the null holds ---


def test_p_is_uniform_over_places_when_time_means_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    groups = [[torch.randn(T, 8, generator=generator) for _ in range(3)] for _ in range(40)]
    found = novelty_null(**many_groups(groups, [1.0, 1.0, 1.0]), null="time", n_shuffles=39)
    assert len(found.p) == 40 * 3 * STEPS
    assert float(found.p.mean()) == pytest.approx(0.51, abs=0.04)
    for level in (0.1, 0.25, 0.5, 0.75):
        assert float((found.p <= level).double().mean()) == pytest.approx(level, abs=0.06)
    assert float(found.q.min()) > 0.1  # and no discovery is made


def test_p_is_not_small_for_outcomes_that_mean_nothing() -> None:
    """A group of six has 20 labellings: p is coarse, and never too small."""
    groups = [
        [h for h in clustered_rollouts([T] * 6, noise=0.5, seed=seed)[0]] for seed in range(30)
    ]
    rewards = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    found = novelty_null(**many_groups(groups, rewards), null="outcomes", n_shuffles=60)
    for level in (0.1, 0.25, 0.5):
        assert float((found.p <= level).double().mean()) <= level + 0.05
    assert float(found.p.mean()) == pytest.approx(0.55, abs=0.08)
    assert float(found.q.min()) > 0.1


# --- the power: what was planted is found ---


def test_a_planted_stretch_is_found_against_time() -> None:
    rollouts, _ = clustered_rollouts([T] * 5, dim=32, noise=0.1, seed=1)
    generator = torch.Generator().manual_seed(3)
    strange = torch.nn.functional.normalize(torch.randn(STEP, 32, generator=generator), dim=-1)
    rollouts[3][2 * STEP : 3 * STEP] = strange
    found = novelty_null(**packed(rollouts, [1.0] * 5), null="time", n_shuffles=599)
    planted = (found.rows == 3) & (found.numbers == 2)
    assert float(found.p[planted]) == found.smallest_p
    assert (found.q <= 0.1).nonzero()[:, 0].tolist() == planted.nonzero()[:, 0].tolist()
    assert float(found.statistic[planted]) > 2 > float(found.expected[planted])


def test_what_is_novel_for_its_outcome_is_found_against_outcomes() -> None:
    """A correct rollout does what all incorrect ones do: novel in its own company alone."""
    right, _ = clustered_rollouts([T] * 5, dim=32, noise=0.1, seed=1)
    detour = torch.nn.functional.normalize(
        torch.randn(1, 32, generator=torch.Generator().manual_seed(3)), dim=-1
    )
    strange = torch.nn.functional.normalize(
        torch.randn(STEP, 32, generator=torch.Generator().manual_seed(4)), dim=-1
    )
    rollouts = [h.clone() for h in right + right]
    for row in (0, 5, 6, 7, 8, 9):
        rollouts[row][2 * STEP : 3 * STEP] = detour
    rollouts[1][4 * STEP : 5 * STEP] = strange  # odd in any company
    found = novelty_null(**packed(rollouts, [1.0] * 5 + [0.0] * 5), n_shuffles=400)
    detoured = (found.rows == 0) & (found.numbers == 2)
    odd = (found.rows == 1) & (found.numbers == 4)
    assert float(found.p[detoured]) < 0.03
    assert float(found.p[odd]) > 0.03 and float(found.statistic[odd]) > 1


# --- what it is ---


def test_the_statistic_is_the_mean_z_of_the_span() -> None:
    rollouts, _ = clustered_rollouts([T, T + 3, T - 2], noise=0.4)
    inputs = packed(rollouts, [1.0, 1.0, 1.0])
    found = novelty_null(**inputs, null="time", n_shuffles=1)
    spans = inputs.pop("spans")
    z = standardise(novelty_stability(**inputs, seeds=(0, 1)).novelty[0])
    for row, number, value in zip(found.rows, found.numbers, found.statistic, strict=True):
        own = slice(*inputs["offsets"][row : row + 2].tolist())
        expected = z[own][spans[own] == number].mean()
        torch.testing.assert_close(value, expected)


@pytest.mark.parametrize("null", ["time", "outcomes"])
def test_groups_do_not_feel_each_other_and_seeds_repeat(null: Any) -> None:
    rollouts, _ = clustered_rollouts([T] * 6, noise=0.4)
    alone = packed(rollouts, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    again = novelty_null(**alone, null=null, n_shuffles=20)
    found = novelty_null(**alone, null=null, n_shuffles=20)
    assert torch.equal(found.p, again.p) and torch.equal(found.expected, again.expected)
    other = novelty_null(**alone, null=null, n_shuffles=20, seed=1)
    assert not torch.equal(found.expected, other.expected)
    both = many_groups([rollouts, rollouts], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    first = novelty_null(**both, null=null, n_shuffles=20)
    assert torch.equal(first.p[: len(found.p)], found.p)


def test_every_distinct_labelling_is_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from hara_viz.credit import shuffles

    solved: list[int] = []
    solve = shuffles.hara_novelty

    def counted(batch: Any, groups: Any, config: Any) -> Any:
        solved.append(len(groups))
        return solve(batch, groups, config)

    monkeypatch.setattr(shuffles, "hara_novelty", counted)
    rollouts, _ = clustered_rollouts([8] * 4, noise=0.4)
    found = novelty_null(**packed(rollouts, [1.0, 1.0, 0.0, 0.0]), n_shuffles=300)
    assert sum(solved) == 6  # 4 over 2
    assert float(found.p.min()) > 0.1


def test_what_has_no_null_has_no_p() -> None:
    rollouts, _ = clustered_rollouts([T] * 4, noise=0.4)
    one_outcome = novelty_null(**packed(rollouts, [1.0] * 4), n_shuffles=3)
    assert bool(one_outcome.p.isnan().all() & one_outcome.q.isnan().all())
    lone = novelty_null(**packed(rollouts, [1.0, 0.0, 0.0, NAN]), null="time", n_shuffles=3)
    known = ~lone.p.isnan()
    assert set(lone.rows[known].tolist()) == {1, 2}
    assert bool((lone.p[known] <= 1).all() & (lone.p[known] >= lone.smallest_p).all())


def test_tokens_in_no_span_and_no_tokens_at_all() -> None:
    rollouts, _ = clustered_rollouts([T] * 3, noise=0.4)
    inputs = packed(rollouts, [1.0] * 3)
    inputs["spans"][:T] = -1
    found = novelty_null(**inputs, null="time", n_shuffles=2)
    assert set(found.rows.tolist()) == {1, 2}
    empty = novelty_null(
        torch.zeros(0, 3), torch.zeros(1, dtype=torch.long), torch.zeros(0), torch.zeros(0),
        spans=torch.zeros(0, dtype=torch.long),
    )  # fmt: skip
    assert len(empty.p) == 0


def test_benjamini_hochberg_by_hand() -> None:
    p = torch.tensor([0.03, 0.01, NAN, 0.04, 0.9], dtype=torch.float64)
    expected = torch.tensor([0.16 / 3, 0.04, NAN, 0.16 / 3, 0.9], dtype=torch.float64)
    torch.testing.assert_close(benjamini_hochberg(p), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"null": "both"}, "null is 'both'"),
        ({"n_shuffles": 0}, "n_shuffles is 0"),
        ({"config": CreditConfig(signal="entropy")}, 'signal is "entropy"'),
        ({"spans": torch.zeros(3)}, r"spans: got \(3,\)"),
    ],
)
def test_what_cannot_be_answered_is_said(options: dict[str, Any], named: str) -> None:
    rollouts, _ = clustered_rollouts([T] * 3)
    with pytest.raises(HaraError, match=named):
        novelty_null(**(packed(rollouts, [1.0] * 3) | options))
