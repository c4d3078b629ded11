"""Teacher forcing against one plain forward pass per sequence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from hara_viz.errors import InvalidInputError, ModelError, ShapeError
from hara_viz.models import Policy, SampleRequest, head, sample, teacher_force
from hara_viz.models.head import LanguageHead
from hara_viz.types import SamplingConfig

PROMPTS = [[5, 9, 77], [4, 8, 15, 16, 23, 42, 108, 250, 3, 7], [60], [11, 12]]
COMPLETIONS = [[100, 30, 0], [44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54], [], [7]]


def solo(policy: Policy, prompt: list[int], completion: list[int]) -> tuple[torch.Tensor, ...]:
    """Log-probabilities, entropy and all states of one sequence, no padding, all logits."""
    with torch.no_grad():
        out = policy.model(torch.tensor([[*prompt, *completion]]), output_hidden_states=True)
    start, n_tokens = len(prompt), len(completion)
    logprobs = out.logits[0, start - 1 : start - 1 + n_tokens].double().log_softmax(-1)
    chosen = logprobs.gather(1, torch.tensor(completion, dtype=torch.long)[:, None])[:, 0]
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    states = torch.stack([h[0, start : start + n_tokens] for h in out.hidden_states])
    return chosen, entropy, states


def test_batched_equals_solo(policy: Policy) -> None:
    layers = tuple(range(policy.info.n_layers + 1))
    found = teacher_force(policy, PROMPTS, COMPLETIONS, layers)
    for b, (prompt, completion) in enumerate(zip(PROMPTS, COMPLETIONS, strict=True)):
        logprobs, entropy, states = solo(policy, prompt, completion)
        torch.testing.assert_close(found.logprobs[b].double(), logprobs, atol=1e-4, rtol=0)
        torch.testing.assert_close(found.entropy[b].double(), entropy, atol=1e-4, rtol=0)
        for layer in layers:
            torch.testing.assert_close(
                found.states[layer].rows(b), states[layer], atol=1e-4, rtol=1e-4
            )


def test_layers_are_numbered_and_the_last_is_after_the_norm(llama: Policy) -> None:
    found = teacher_force(llama, PROMPTS, COMPLETIONS, (-1, 0, 1))
    assert [(s.layer, s.after_norm) for s in found.states] == [(0, False), (1, False), (2, True)]
    embedding = llama.model.get_input_embeddings().weight[COMPLETIONS[0]]
    assert torch.equal(found.states[0].rows(0), embedding)
    assert found.states[0].offsets.tolist() == [0, 3, 14, 14, 15]
    assert teacher_force(llama, PROMPTS, COMPLETIONS, ()).states == ()


def test_a_later_token_does_not_reach_back(llama: Policy) -> None:
    one = teacher_force(llama, [[5, 6]], [[7, 8, 9]])
    other = teacher_force(llama, [[5, 6]], [[7, 8, 200]])
    torch.testing.assert_close(one.states[0].states[:2], other.states[0].states[:2])
    assert not torch.allclose(one.states[0].states[2], other.states[0].states[2])


def test_it_agrees_with_what_sampling_noted(
    policy: Policy, make_requests: Callable[..., list[SampleRequest]]
) -> None:
    sampling = SamplingConfig(group_size=3, max_new_tokens=16)
    drawn = list(sample(policy, make_requests(policy, sampling, 3), sampling))
    found = teacher_force(policy, [c.request.prompt.ids for c in drawn], [c.ids for c in drawn])
    for c, logprobs, entropy in zip(drawn, found.logprobs, found.entropy, strict=True):
        assert c.logprobs == pytest.approx(logprobs.tolist(), abs=2e-4)
        assert c.entropy == pytest.approx(entropy.tolist(), abs=2e-4)


def test_small_batches_and_small_slices_change_nothing(
    llama: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = teacher_force(llama, PROMPTS, COMPLETIONS)
    monkeypatch.setattr(head, "SLICE_BYTES", 4 * 336 * 2)  # two positions at a time
    pieces = teacher_force(llama, PROMPTS, COMPLETIONS, batch_tokens=5)
    torch.testing.assert_close(torch.cat(whole.logprobs), torch.cat(pieces.logprobs))
    torch.testing.assert_close(whole.states[0].states, pieces.states[0].states)


def test_states_take_the_dtype_asked_for(llama: Policy) -> None:
    found = teacher_force(llama, PROMPTS, COMPLETIONS, states_dtype=torch.bfloat16)
    exact = teacher_force(llama, PROMPTS, COMPLETIONS)
    assert found.states[0].states.dtype == torch.bfloat16
    assert torch.equal(found.states[0].states, exact.states[0].states.bfloat16())
    with pytest.raises(ShapeError, match="float16"):
        teacher_force(llama, PROMPTS, COMPLETIONS, states_dtype=torch.float16)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompts": PROMPTS[:2]}, "2 prompts do not fit 4"),
        ({"prompts": [[], *PROMPTS[1:]]}, "prompt 0 is empty"),
        ({"prompts": [[1] * 600, *PROMPTS[1:]]}, "sequence 0 has 603 tokens.*512"),
        ({"layers": (3,)}, "layer 3 does not exist.*0 .*2"),
        ({"layers": (-4,)}, "layer -4"),
    ],
)
def test_bad_input_is_refused(llama: Policy, change: dict[str, object], message: str) -> None:
    arguments = {"prompts": PROMPTS, "completions": COMPLETIONS, "layers": (-1,), **change}
    with pytest.raises(InvalidInputError, match=message):
        teacher_force(llama, **arguments)  # pyright: ignore[reportArgumentType]


def test_a_head_of_another_kind_is_found_out(policies: dict[str, Policy]) -> None:
    gemma = policies["gemma3"]
    config = gemma.text_config
    LanguageHead(gemma)
    config.final_logit_softcapping = 2.0
    try:  # the model itself reads the config too: still the same head
        LanguageHead(gemma)
    finally:
        config.final_logit_softcapping = None
    wrapped = gemma.model.forward
    gemma.model.forward = lambda **kw: _halved(wrapped(**kw))
    try:
        with pytest.raises(ModelError, match="head of Gemma3"):
            LanguageHead(gemma)
    finally:
        gemma.model.forward = wrapped


def _halved(out: object) -> object:
    out.logits = out.logits / 2  # pyright: ignore[reportAttributeAccessIssue]
    return out
