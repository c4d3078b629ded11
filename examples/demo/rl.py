"""GRPO on the demo's problems, with one advantage a rollout or with HarA's credit a token.

What is left out, and why: no KL term (the reward cannot be gamed here), one update a batch (so the
ratio of new to old policy is 1 and nothing is clipped), no value model. The loss is DAPO's: the
mean over all tokens of the batch, so long rollouts are not discounted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from examples.demo.policy import MAX_NEW_TOKENS
from examples.demo.problems import DemoProblem
from examples.demo.sampler import sample
from examples.demo.tokenizer import prompt_ids
from hara_viz.credit import CreditConfig, assign_credit_packed

ANSWER = re.compile(r"\\boxed\{(\d+)\}")
CHECKED = ("check", "Check", "another way")
METHODS = ("grpo", "hara")
GROUPS_AT_A_TIME = 8
CREDIT = CreditConfig(tolerance=0.05, max_iterations=10)
"""The default method, solved less exactly: on rollouts of this model the weights of the two solves
correlate at 0.95, and a batch takes a seventh of the time."""


@dataclass
class Batch:
    """Rollouts of several problems, `group_size` in a row for each."""

    prompts: list[list[int]]
    completions: list[list[int]]
    rewards: Tensor
    """[B] 1 for a right answer, else 0."""
    group_index: Tensor
    """[B] the problem's number in the batch."""

    def take(self, rows: Tensor) -> Batch:
        """These rows alone."""
        return Batch(
            [self.prompts[row] for row in rows.tolist()],
            [self.completions[row] for row in rows.tolist()],
            self.rewards[rows],
            self.group_index[rows],
        )


@dataclass
class Figures:
    """What is logged of one training step."""

    reward: float
    mixed: float
    """Share of the groups with at least two right and two wrong rollouts."""
    length: float
    entropy: float
    checked: float
    """Share of the rollouts that check their answer or solve in a second way."""
    seconds: dict[str, float] = field(default_factory=dict)


def reward_of(text: str, gold: int) -> float:
    """1 if the last boxed number is the gold answer."""
    answers = ANSWER.findall(text)
    return float(bool(answers) and int(answers[-1]) == gold)


def roll_out(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, problems: Sequence[DemoProblem],
    group_size: int, generator: torch.Generator,
) -> tuple[Batch, list[str]]:  # fmt: skip
    """Sample a group for each problem; also returns the texts."""
    asked = [problem for problem in problems for _ in range(group_size)]
    prompts = [prompt_ids(tokenizer, problem.question) for problem in asked]
    completions = sample(model, prompts, MAX_NEW_TOKENS, generator)
    texts = tokenizer.batch_decode(completions, skip_special_tokens=True)
    rewards = [reward_of(text, p.gold) for text, p in zip(texts, asked, strict=True)]
    index = torch.arange(len(problems)).repeat_interleave(group_size)
    return Batch(prompts, completions, torch.tensor(rewards), index), texts


def read_back(
    model: LlamaForCausalLM, batch: Batch, pad: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Read the rollouts once more, with gradient.

    Returns:
        Log-probabilities [N] and entropies [N] of the completions' tokens, packed; the states
        [N, D] after reading each of them (last layer, after the final norm, no gradient);
        offsets [B+1].
    """
    rows = [p + c for p, c in zip(batch.prompts, batch.completions, strict=True)]
    width = max(map(len, rows))
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    starts = torch.tensor([len(prompt) for prompt in batch.prompts])[:, None]
    lengths = torch.tensor([len(completion) for completion in batch.completions])
    column = torch.arange(width)[None]
    own = (column >= starts) & (column < starts + lengths[:, None])
    states = model.model(input_ids=ids, use_cache=False).last_hidden_state
    before = own.roll(-1, dims=1)  # the column from which each own token is predicted
    logprobs = model.lm_head(states[before]).log_softmax(dim=-1)
    taken = logprobs.gather(1, ids[own][:, None])[:, 0]
    entropy = -(logprobs.detach().exp() * logprobs.detach()).sum(dim=-1)
    offsets = torch.cat((torch.zeros(1, dtype=torch.long), lengths.cumsum(0)))
    return taken, entropy, states[own].detach(), offsets


def group_advantages(rewards: Tensor, group_size: int) -> Tensor:
    """A_r [B] = (r - mean) / (std + 1e-4) over the rollout's group; 0 where all are alike."""
    groups = rewards.view(-1, group_size)
    centred = groups - groups.mean(dim=1, keepdim=True)
    return (centred / (groups.std(dim=1, keepdim=True) + 1e-4)).flatten()


def token_advantages(
    method: str, batch: Batch, advantages: Tensor, states: Tensor, offsets: Tensor
) -> Tensor:
    """The advantage of each token [N]: its rollout's own, or reweighted by HarA's novelty."""
    if method == "grpo":
        return advantages.repeat_interleave(offsets.diff())
    credit = assign_credit_packed(
        states, offsets, batch.rewards, batch.group_index, CREDIT,
        baseline_advantages=advantages,
    )  # fmt: skip
    return credit.advantages


def train_step(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, optimizer: torch.optim.Optimizer,
    problems: Sequence[DemoProblem], method: str, group_size: int, generator: torch.Generator,
) -> Figures:  # fmt: skip
    """Sample, judge, assign credit, take one step of gradient."""
    watch = Stopwatch()
    batch, texts = roll_out(model, tokenizer, problems, group_size, generator)
    watch.lap("sample")
    advantages = group_advantages(batch.rewards, group_size)
    n_tokens = sum(map(len, batch.completions))
    entropies: list[Tensor] = []
    optimizer.zero_grad()
    # A few groups at a time: less padding, and a group without signal is not read at all.
    for rows in chunks(advantages.view(-1, group_size), GROUPS_AT_A_TIME):
        part = batch.take(rows)
        logprobs, entropy, states, offsets = read_back(model, part, tokenizer.pad_token_id)
        entropies.append(entropy)
        watch.lap("read")
        weighted = token_advantages(method, part, advantages[rows], states, offsets)
        watch.lap("credit")
        # The ratio of new to old policy is 1, but its gradient is that of the log-probability.
        ratio = (logprobs - logprobs.detach()).exp()
        (-(ratio * weighted).sum() / n_tokens).backward()
        watch.lap("update")
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    watch.lap("update")
    n_right = batch.rewards.view(-1, group_size).sum(dim=1)
    return Figures(
        reward=batch.rewards.mean().item(),
        mixed=((n_right >= 2) & (n_right <= group_size - 2)).float().mean().item(),
        length=n_tokens / len(texts),
        entropy=torch.cat(entropies).mean().item() if entropies else 0.0,
        checked=sum(any(mark in text for mark in CHECKED) for text in texts) / len(texts),
        seconds={stage: round(seconds, 2) for stage, seconds in watch.seconds.items()},
    )


def chunks(advantages_P_G: Tensor, size: int) -> list[Tensor]:
    """Row numbers of the groups that carry a signal, `size` groups at a time."""
    n_groups, group_size = advantages_P_G.shape
    rows = torch.arange(n_groups * group_size).view(n_groups, group_size)
    live = rows[(advantages_P_G != 0).any(dim=1)]
    return [part.flatten() for part in live.split(size)] if len(live) else []


class Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now
