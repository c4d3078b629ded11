"""The demo's sampler, warm-up and reinforcement learning, on models of a few thousand weights."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from examples.demo.policy import load_checkpoint, new_policy, save_checkpoint
from examples.demo.problems import draw_problem
from examples.demo.rl import Batch, group_advantages, read_back, reward_of, token_advantages
from examples.demo.sampler import sample
from examples.demo.tokenizer import build_tokenizer, prompt_ids

TOKENIZER = build_tokenizer()
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def policy() -> LlamaForCausalLM:
    return new_policy(TOKENIZER, seed=0)


def some_prompts(n: int) -> list[list[int]]:
    rng = random.Random(1)
    return [prompt_ids(TOKENIZER, draw_problem(rng).question) for _ in range(n)]


def test_greedy_sampling_is_the_models_own_argmax(policy: LlamaForCausalLM) -> None:
    prompts = some_prompts(5)
    assert len({len(prompt) for prompt in prompts}) > 1
    completions = sample(policy, prompts, 12, torch.Generator().manual_seed(0), temperature=1e-4)
    for prompt, completion in zip(prompts, completions, strict=True):
        ids = torch.tensor([prompt + completion])
        with torch.inference_mode():
            logits = policy(input_ids=ids).logits[0, len(prompt) - 1 : -1]
        assert logits.argmax(dim=-1).tolist() == completion


def test_a_rollout_ends_with_its_first_end_token(policy: LlamaForCausalLM) -> None:
    eager = new_policy(TOKENIZER, seed=0)
    with torch.no_grad():  # the end token becomes likely: rows leave the batch at many lengths
        row = eager.get_input_embeddings().weight[TOKENIZER.eos_token_id]
        row += 3 * eager.get_input_embeddings().weight.std() * torch.randn(row.shape)
    completions = sample(eager, some_prompts(40) * 4, 40, torch.Generator().manual_seed(0))
    lengths = {len(completion) for completion in completions}
    assert len(lengths) > 5
    for completion in completions:
        assert TOKENIZER.eos_token_id not in completion[:-1]
        assert completion[-1] == TOKENIZER.eos_token_id or len(completion) == 40


def test_reading_back_gives_the_models_log_probabilities(policy: LlamaForCausalLM) -> None:
    prompts = some_prompts(3)
    completions = sample(policy, prompts, 9, torch.Generator().manual_seed(2))
    batch = Batch(prompts, completions, torch.zeros(3), torch.zeros(3, dtype=torch.long))
    taken, entropy, states, offsets = read_back(policy, batch, TOKENIZER.pad_token_id)
    assert states.shape == (int(offsets[-1]), policy.config.hidden_size)
    assert (entropy > 0).all()
    for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        out = policy(input_ids=torch.tensor([prompt + completion]), output_hidden_states=True)
        expected = out.logits[0].log_softmax(-1)[len(prompt) - 1 : -1]
        expected = expected.gather(1, torch.tensor(completion)[:, None])[:, 0]
        own = slice(int(offsets[i]), int(offsets[i + 1]))
        torch.testing.assert_close(taken[own], expected, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(
            states[own], out.hidden_states[-1][0, len(prompt) :].detach(), atol=1e-5, rtol=1e-4
        )


def test_advantages_of_a_group() -> None:
    advantages = group_advantages(torch.tensor([1.0, 0, 0, 0, 1, 1, 1, 1]), 4)
    # mean 1/4, standard deviation (n - 1) 1/2
    torch.testing.assert_close(
        advantages, torch.tensor([1.5, -0.5, -0.5, -0.5, 0, 0, 0, 0]), atol=1e-3, rtol=0
    )


def test_plain_grpo_gives_each_token_its_rollouts_advantage() -> None:
    batch = Batch([[1], [1]], [[2, 3], [4]], torch.tensor([1.0, 0]), torch.zeros(2).long())
    advantages = torch.tensor([0.7, -0.7])
    given = token_advantages("grpo", batch, advantages, torch.zeros(3, 4), torch.tensor([0, 2, 3]))
    assert given.tolist() == pytest.approx([0.7, 0.7, -0.7])


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("So \\boxed{12} pens.", 1.0),
        ("\\boxed{3}\n\\boxed{12}", 1.0),
        ("\\boxed{12} \\boxed{3}", 0.0),
        ("12", 0.0),
        ("\\boxed{}", 0.0),
    ],
)
def test_reward(text: str, reward: float) -> None:
    assert reward_of(text, 12) == reward


def test_a_checkpoint_survives(policy: LlamaForCausalLM, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "checkpoint-7", policy, TOKENIZER, 7)
    loaded, tokenizer = load_checkpoint(tmp_path / "checkpoint-7")
    assert json.loads((tmp_path / "checkpoint-7/trainer_state.json").read_text()) == {
        "global_step": 7
    }
    assert tokenizer.get_vocab() == TOKENIZER.get_vocab()
    for name, tensor in policy.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], tensor, atol=1e-2, rtol=1e-2)
    assert list(tmp_path.iterdir()) == [tmp_path / "checkpoint-7"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["grpo", "hara"])
def test_two_steps_of_training_and_two_more(method: str, tmp_path: Path) -> None:
    def train(*arguments: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "examples.train_demo", *arguments, "--out", str(tmp_path),
             "--problems", "2", "--group-size", "4"],
            cwd=ROOT, check=True, timeout=300,
        )  # fmt: skip

    train("warmup", "--warmup-steps", "4", "--warmup-examples", "200")
    assert (tmp_path / "start" / "checkpoint-0" / "model.safetensors").exists()
    train(method, "--steps", "2")
    with (tmp_path / method / "log.jsonl").open("a") as log:  # killed after step 3
        log.write('{"step": 3}\n')
    train(method, "--steps", "4")
    lines = (tmp_path / method / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4]
    assert "reward" in json.loads(lines[2])
    assert (tmp_path / method / "checkpoint-2" / "model.safetensors").exists()
    assert (tmp_path / method / "checkpoint-4" / "model.safetensors").exists()
