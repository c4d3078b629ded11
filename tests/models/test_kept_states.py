"""States kept while sampling are those that teacher forcing reads afterwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from hara_viz.models import Completion, Policy, SampleRequest, sample, teacher_force
from hara_viz.types import SamplingConfig
from tests.models.test_memory import crowded, rows_of

Requests = Callable[..., list[SampleRequest]]
SAMPLING = SamplingConfig(group_size=3, max_new_tokens=7, seed=4)


def drawn(policy: Policy, requests: list[SampleRequest], **options: object) -> list[Completion]:
    sampling = options.pop("sampling", SAMPLING)
    return list(sample(policy, requests, sampling, **options))  # pyright: ignore


@pytest.mark.parametrize("deterministic", [False, True])
def test_they_are_what_teacher_forcing_reads(
    policy: Policy, make_requests: Requests, deterministic: bool
) -> None:
    layers = tuple(range(policy.info.n_layers + 1))
    sampling = dataclasses.replace(SAMPLING, deterministic=deterministic)
    requests = make_requests(policy, sampling, 3)
    kept = drawn(policy, requests, sampling=sampling, layers=layers, max_rows=5)
    read = teacher_force(
        policy, [c.request.prompt.ids for c in kept], [c.ids for c in kept], layers
    )
    for b, completion in enumerate(kept):
        assert completion.states is not None
        for layer in layers:
            torch.testing.assert_close(
                completion.states[layer], read.states[layer].rows(b), atol=2e-4, rtol=1e-3
            )


def test_keeping_them_changes_no_draw(llama: Policy, make_requests: Requests) -> None:
    requests = make_requests(llama, SAMPLING)
    plain, kept = drawn(llama, requests), drawn(llama, requests, layers=(-1,))
    assert [c.ids for c in kept] == [c.ids for c in plain]
    assert all(c.states is None for c in plain)
    assert all(c.states is not None and len(c.states) == 1 for c in kept)


def test_rows_that_lost_their_cache_say_so(llama: Policy, make_requests: Requests) -> None:
    requests = make_requests(llama, SAMPLING)
    kept = drawn(crowded(llama, 4, rows_of), requests, layers=(-1,))
    whole = drawn(llama, requests, layers=(-1,))
    assert [c.ids for c in kept] == [c.ids for c in whole]
    for found, expected in zip(kept, whole, strict=True):
        if found.states is not None:
            assert expected.states is not None
            assert len(found.states[0]) == len(found.ids)
            torch.testing.assert_close(found.states[0], expected.states[0], atol=2e-4, rtol=1e-3)


def test_a_completion_up_to_the_last_position_is_read_whole(
    llama: Policy, make_requests: Requests
) -> None:
    (request, *_) = make_requests(llama, SAMPLING)
    room = len(request.prompt.ids) + 4
    short = dataclasses.replace(llama)
    short.__dict__["max_positions"] = room
    (completion,) = drawn(short, [request], layers=(-1,))
    assert len(completion.ids) <= 4
    assert completion.states is not None and len(completion.states[0]) == len(completion.ids)
