"""Sampling: right distribution, right numbers, and draws that do not hang on their neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from hara_viz.errors import InvalidInputError
from hara_viz.models import (
    Completion,
    Policy,
    SampleRequest,
    load_policy,
    render_prompt,
    sample,
)
from hara_viz.models.prompt import RenderedPrompt
from hara_viz.types import Finish, Message, Progress, SamplingConfig
from tests.tiny_models import write_planted_checkpoint

Requests = Callable[..., list[SampleRequest]]
PLANTED = torch.tensor([-30.0, -30.0, -30.0, 2.0, 1.5, 1.0, 0.5, 0.0, -0.5, -1.0])


def by_name(completions: Sequence[Completion]) -> dict[tuple[str, int], Completion]:
    return {(c.request.problem_id, c.request.sample): c for c in completions}


def naive_logits(policy: Policy, prompt: Sequence[int], ids: Sequence[int]) -> torch.Tensor:
    """[T, V]: logits before each token of `ids`, by one plain forward pass without padding."""
    with torch.no_grad():
        out = policy.model(torch.tensor([[*prompt, *ids]]))
    return out.logits[0, len(prompt) - 1 : -1].double()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """A policy whose next token never depends on what came before: ids 3 to 9 as in PLANTED."""
    path = tmp_path_factory.mktemp("planted")
    return load_policy(write_planted_checkpoint(path, PLANTED, eos_ids=[0]), device="cpu")


def draw_counts(policy: Policy, **settings: Any) -> Counter[int]:
    sampling = SamplingConfig(group_size=60, max_new_tokens=50, seed=5, **settings)
    prompt = render_prompt(policy, [Message("user", "x")], sampling)
    requests = [SampleRequest("p", 0, s, prompt) for s in range(60)]
    return Counter(i for c in sample(policy, requests, sampling, max_rows=60) for i in c.ids)


@pytest.mark.parametrize(
    ("settings", "support"),
    [
        ({}, [3, 4, 5, 6, 7, 8, 9]),
        ({"temperature": 0.5}, [3, 4, 5, 6, 7, 8, 9]),
        ({"temperature": 2.0}, [3, 4, 5, 6, 7, 8, 9]),
        ({"top_k": 3}, [3, 4, 5]),
        ({"top_p": 0.6}, [3, 4]),  # 0.401 + 0.243 crosses 0.6
        ({"min_p": 0.2}, [3, 4, 5, 6]),  # exp(-1.5) = 0.22 is in, exp(-2) = 0.14 is out
    ],
)
def test_draws_follow_the_closed_form(
    planted: Policy, settings: dict[str, float], support: list[int]
) -> None:
    counts = draw_counts(planted, **settings)
    assert set(counts) == set(support)
    logits = PLANTED[support].double() / settings.get("temperature", 1.0)
    expected = logits.softmax(0) * 3000
    observed = torch.tensor([counts[i] for i in support], dtype=torch.float64)
    chi_square = float(((observed - expected) ** 2 / expected).sum())
    # Chance of more than this: one in a thousand (chi-square, 1 to 6 degrees of freedom).
    bound = {1: 10.83, 2: 13.82, 3: 16.27, 6: 22.46}[len(support) - 1]
    assert chi_square < bound


def test_logprobs_and_entropy_are_of_the_raw_model(planted: Policy) -> None:
    sampling = SamplingConfig(group_size=4, max_new_tokens=20, temperature=0.5, top_k=2)
    prompt = render_prompt(planted, [Message("user", "x")], sampling)
    full = torch.full((336,), -40.0, dtype=torch.float64)
    full[:10] = PLANTED
    entropy = torch.distributions.Categorical(logits=full).entropy().item()
    for c in sample(planted, [SampleRequest("p", 0, s, prompt) for s in range(4)], sampling):
        expected = full.log_softmax(0)[list(c.ids)]
        torch.testing.assert_close(torch.tensor(c.logprobs).double(), expected, atol=1e-4, rtol=0)
        assert c.entropy == pytest.approx([entropy] * len(c.ids), abs=1e-4)
        assert c.logprobs_kind == "raw"


def test_logprobs_match_a_plain_forward_pass(policy: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=3, max_new_tokens=24, temperature=0.8)
    for c in sample(policy, make_requests(policy, sampling), sampling, max_rows=5):
        logits = naive_logits(policy, c.request.prompt.ids, c.ids)
        expected = logits.log_softmax(-1).gather(1, torch.tensor(c.ids)[:, None])[:, 0]
        entropy = torch.distributions.Categorical(logits=logits).entropy()
        torch.testing.assert_close(torch.tensor(c.logprobs).double(), expected, atol=2e-4, rtol=0)
        torch.testing.assert_close(torch.tensor(c.entropy).double(), entropy, atol=2e-4, rtol=0)


@pytest.mark.parametrize("max_rows", [1, 3, 5, 64])
def test_a_rollout_does_not_hang_on_its_neighbours(
    policy: Policy, make_requests: Requests, max_rows: int
) -> None:
    sampling = SamplingConfig(group_size=4, max_new_tokens=24, seed=1)
    requests = make_requests(policy, sampling)
    reference = by_name(list(sample(policy, requests, sampling, max_rows=16)))
    some = [r for r in requests if r.sample != 2 and r.problem_id != "problem-1"]
    for name, c in by_name(list(sample(policy, some, sampling, max_rows=max_rows))).items():
        assert c.ids == reference[name].ids
        assert c.logprobs == pytest.approx(reference[name].logprobs, abs=2e-4)


def test_samples_differ_and_seeds_differ(llama: Policy, make_requests: Requests) -> None:
    draws: set[tuple[int, ...]] = set()
    for seed in (0, 1):
        sampling = SamplingConfig(group_size=4, max_new_tokens=16, seed=seed)
        draws |= {c.ids for c in sample(llama, make_requests(llama, sampling, 1), sampling)}
    assert len(draws) == 8


def test_deterministic_mode_is_bit_equal_whatever_is_asked_beside(
    policy: Policy, make_requests: Requests
) -> None:
    sampling = SamplingConfig(group_size=3, max_new_tokens=16, deterministic=True)
    requests = make_requests(policy, sampling)
    everything = by_name(list(sample(policy, requests, sampling)))
    alone = list(sample(policy, [requests[4]], sampling))
    assert len(alone) == 1 and alone[0] == everything["problem-1", 1]


def test_greedy_takes_the_likeliest_token_each_time(
    policy: Policy, make_requests: Requests
) -> None:
    sampling = SamplingConfig(group_size=1, max_new_tokens=12, temperature=0)
    for c in sample(policy, make_requests(policy, sampling), sampling):
        logits = naive_logits(policy, c.request.prompt.ids, c.ids)
        assert logits.argmax(-1).tolist() == list(c.ids)


def test_repetition_penalty_counts_prompt_and_completion(
    llama: Policy, make_requests: Requests
) -> None:
    sampling = SamplingConfig(
        group_size=2, max_new_tokens=12, temperature=0, repetition_penalty=1.7
    )
    for c in sample(llama, make_requests(llama, sampling), sampling, max_rows=3):
        logits = naive_logits(llama, c.request.prompt.ids, c.ids)
        for t, token in enumerate(c.ids):
            seen = list({*c.request.prompt.ids, *c.ids[:t]})
            row = logits[t].clone()
            row[seen] = torch.where(row[seen] > 0, row[seen] / 1.7, row[seen] * 1.7)
            assert int(row.argmax()) == token


def test_both_end_ids_stop_and_are_kept(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=32, max_new_tokens=40)
    completions = list(sample(llama, make_requests(llama, sampling, 3), sampling))
    ended = [c for c in completions if c.finish is Finish.STOP]
    assert {c.ids[-1] for c in ended} == {0, 2}  # the pad id is one of them
    for c in completions:
        assert not set(c.ids[:-1]) & {0, 2}
        assert (c.finish is Finish.STOP) == (c.ids[-1] in {0, 2})
        assert c.finish is Finish.STOP or len(c.ids) == 40


def test_a_stop_string_ends_the_text_even_across_tokens(
    planted: Policy,
) -> None:
    sampling = SamplingConfig(group_size=20, max_new_tokens=200, stop=("$%", "\"'"))
    prompt = render_prompt(planted, [Message("user", "x")], sampling)
    texts = [
        (planted.decode(c.ids), c.finish)
        for c in sample(planted, [SampleRequest("p", 0, s, prompt) for s in range(20)], sampling)
    ]
    assert Finish.STOP in {finish for _, finish in texts}
    for text, finish in texts:
        first = min((text.find(s) for s in ("$%", "\"'") if s in text), default=-1)
        assert (finish is Finish.STOP) == (first >= 0)
        assert first < 0 or first == len(text) - 2


def test_groups_come_out_whole_and_in_order(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=5, max_new_tokens=20)
    requests = make_requests(llama, sampling)
    completions = list(sample(llama, reversed_groups(requests), sampling, max_rows=7))
    names = [(c.request.problem_id, c.request.sample) for c in completions]
    assert sorted(names) == sorted((r.problem_id, r.sample) for r in requests)
    for start in range(0, len(names), 5):
        assert len({problem for problem, _ in names[start : start + 5]}) == 1
        assert [s for _, s in names[start : start + 5]] == [0, 1, 2, 3, 4]


def reversed_groups(requests: list[SampleRequest]) -> list[SampleRequest]:
    return list(reversed(requests))


def test_a_prompt_without_room_is_data_not_a_crash(
    policies: dict[str, Policy], make_requests: Requests
) -> None:
    gpt2 = policies["gpt2"]  # reads 256 tokens
    sampling = SamplingConfig(group_size=2, max_new_tokens=30)
    full = RenderedPrompt("x", tuple([65] * 256), False)
    tight = RenderedPrompt("x", tuple([65] * 250), False)
    requests = [SampleRequest("full", 0, 0, full), SampleRequest("tight", 0, 0, tight)]
    found = by_name(list(sample(gpt2, requests + make_requests(gpt2, sampling, 1), sampling)))
    assert found["full", 0].finish is Finish.ABORT and found["full", 0].ids == ()
    assert "256" in (found["full", 0].error or "")
    assert len(found["tight", 0].ids) <= 6
    assert len(found) == 4


def test_requests_that_clash_are_refused(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=2, max_new_tokens=4)
    requests = make_requests(llama, sampling, 2)
    with pytest.raises(InvalidInputError, match="twice"):
        list(sample(llama, [*requests, requests[0]], sampling))
    other = SampleRequest("problem-0", 0, 9, requests[-1].prompt)
    with pytest.raises(InvalidInputError, match="several prompts"):
        list(sample(llama, [*requests, other], sampling))


def test_progress_reaches_the_total_and_may_stop_the_work(
    llama: Policy, make_requests: Requests
) -> None:
    sampling = SamplingConfig(group_size=3, max_new_tokens=8)
    heard: list[Progress] = []
    list(sample(llama, make_requests(llama, sampling, 2), sampling, heard.append))
    assert heard[-1].done == heard[-1].total == 6
    assert heard[-1].figures["tokens_per_second"] > 0

    class Stopped(Exception):
        pass

    def stop(progress: Progress) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        list(sample(llama, make_requests(llama, sampling, 2), sampling, stop))
