"""When memory runs out: batches shrink, nothing is lost, and the end is a sentence."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from hara_viz.errors import ModelError
from hara_viz.models import Completion, Policy, SampleRequest, rows, sample, teacher_force
from hara_viz.models.memory import is_out_of_memory, release
from hara_viz.types import SamplingConfig

Requests = Callable[..., list[SampleRequest]]


class Crowded(torch.nn.Module):
    """A model on a device that holds at most `limit` of some measure of the input."""

    def __init__(self, model: Any, limit: int, measure: Callable[[torch.Tensor], int]) -> None:
        super().__init__()
        self.inner, self.limit, self.measure = model, limit, measure
        self.seen: list[int] = []

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, input_ids: torch.Tensor, **arguments: Any) -> Any:
        self.seen.append(self.measure(input_ids))
        if self.seen[-1] > self.limit:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")
        return self.inner(input_ids=input_ids, **arguments)

    def get_decoder(self) -> Any:
        return Crowded(self.inner.get_decoder(), self.limit, self.measure)


def crowded(policy: Policy, limit: int, measure: Callable[[torch.Tensor], int]) -> Policy:
    found = dataclasses.replace(policy, model=Crowded(policy.model, limit, measure))
    found.__dict__["forward_arguments"] = policy.forward_arguments
    return found


def by_name(
    policy: Policy, requests: list[SampleRequest], sampling: SamplingConfig
) -> dict[tuple[str, int], Completion]:
    drawn = sample(policy, requests, sampling)
    return {(c.request.problem_id, c.request.sample): c for c in drawn}


def rows_of(ids: torch.Tensor) -> int:
    return ids.shape[0]


def test_sampling_shrinks_and_keeps_every_draw(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=4, max_new_tokens=24, seed=2)
    requests = make_requests(llama, sampling)
    expected = by_name(llama, requests, sampling)
    tight = crowded(llama, 5, rows_of)
    found = list(sample(tight, requests, sampling, max_rows=16))
    assert len(found) == 16 and max(tight.model.seen) > 5
    for c in found:
        reference = expected[c.request.problem_id, c.request.sample]
        assert c.ids == reference.ids and c.finish == reference.finish
        assert c.logprobs == pytest.approx(reference.logprobs, abs=2e-4)


def test_what_the_failed_pass_held_is_freed() -> None:
    class Held:
        pass

    def failing_pass() -> None:
        tensors = Held()  # as a forward pass holds activations
        found.append(weakref.ref(tensors))
        raise torch.OutOfMemoryError

    found: list[weakref.ref[Held]] = []
    try:
        failing_pass()
    except torch.OutOfMemoryError as error:
        assert found[0]() is not None
        release(torch.device("cpu"), error)
        assert found[0]() is None


def test_one_row_too_many_is_an_error_with_a_remedy(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=2, max_new_tokens=8)
    with pytest.raises(ModelError, match=r"even one rollout .* smaller dtype"):
        list(sample(crowded(llama, 0, rows_of), make_requests(llama, sampling), sampling))


def test_deterministic_mode_never_changes_its_batch(llama: Policy, make_requests: Requests) -> None:
    sampling = SamplingConfig(group_size=4, max_new_tokens=8, deterministic=True)
    with pytest.raises(ModelError, match="deterministic"):
        list(sample(crowded(llama, 2, rows_of), make_requests(llama, sampling), sampling))


def test_other_errors_of_the_model_are_not_taken_for_full_memory(llama: Policy) -> None:
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert is_out_of_memory(RuntimeError("[enforce fail at alloc_cpu.cpp] can't allocate memory"))
    assert not is_out_of_memory(RuntimeError("shape mismatch"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_teacher_forcing_halves_its_batches(llama: Policy) -> None:
    prompts = [[5, 6, 7 + i] for i in range(6)]
    completions = [[10 + i, 11, 12, 13][: 1 + i % 4] for i in range(6)]
    expected = teacher_force(llama, prompts, completions, (1, 2))
    found = teacher_force(crowded(llama, 14, torch.numel), prompts, completions, (1, 2))
    for mine, theirs in zip(found.logprobs, expected.logprobs, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=0)
    for mine, theirs in zip(found.states, expected.states, strict=True):
        torch.testing.assert_close(mine.states, theirs.states, atol=1e-5, rtol=1e-5)
    with pytest.raises(ModelError, match="one sequence of"):
        teacher_force(crowded(llama, 4, torch.numel), prompts, completions)


def test_an_unknown_cache_is_sampled_in_batches_that_stay(
    llama: Policy, make_requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampling = SamplingConfig(group_size=3, max_new_tokens=16)
    requests = make_requests(llama, sampling)
    expected = by_name(llama, requests, sampling)
    monkeypatch.setattr(rows, "MOVABLE", set())
    found = list(sample(llama, requests, sampling, max_rows=5))
    assert len(found) == 12
    for c in found:
        assert c.ids == expected[c.request.problem_id, c.request.sample].ids
