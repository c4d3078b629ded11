"""Groups for the tests of components: real-looking chains of thought, cut without a tokenizer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.text import reasoning_steps
from hara_viz.types import Finish, Message, Rollout, RolloutGroup

END = "<|im_end|>"
END_ID = 1

RIGHT = r"""<think>
Okay, so the train covers 120 km in 1.5 hours, which is 80 km/h. Then it slows down by 25%, \
so the new speed is 0.75 × 80 = 60 km/h. Hmm... wait, is the second leg 90 km or 90 minutes? \
The problem says 90 km. So that takes 90 / 60 = 1.5 h.

Let me double-check: 80 - 20 = 60. Yes, that's right.
</think>

The first leg takes \(1.5\) hours and the second one

\[ t_2 = \frac{90}{60} = 1.5 \text{ h.} \]

So the whole trip takes \boxed{3} hours.""".replace("\\\n", "")
WRONG = r"""First, the speed is 120 / 1.5 = 80 km/h.

It slows down by 25%. So the new speed is 80 - 25 = 55 km/h.
The second leg takes 90 / 55 ≈ 1.64 hours.

```python
total = 1.5 + 90 / 55   # 3.136…
```
Total: about \boxed{3.14} hours 🙂 — done."""
HOSTILE = (
    "<img src=x onerror=alert(1)> \x1b[31m\u202edesrever\u202c <script>alert(2)</script> "
    "设速度为 60。שלום עולם 👩‍👩‍👧 e\u0301"
)

_TOKEN = re.compile(r"<\|\w+\|>|\s?[A-Za-z]{1,5}|\s?\d|\n+|\s?[^\sA-Za-z\d]|\s", re.DOTALL)


def tokens_of(text: str) -> list[str]:
    return _TOKEN.findall(text)


def rollout(sample: int, text: str, reward: float | None, **more: Any) -> Rollout:
    rng = np.random.default_rng(sample)
    pieces = tokens_of(text + END)
    assert "".join(pieces) == text + END
    starts = np.cumsum([0, *(len(p) for p in pieces[:-1])]).tolist()
    ids = tuple(END_ID if p == END else 100 + sum(map(ord, p)) % 50_000 for p in pieces)
    logprobs = -rng.gamma(0.6, 0.5, len(ids))
    answer = text.rfind("\\boxed{")
    span = (answer + 7, text.index("}", answer)) if answer >= 0 else (None, None)
    return Rollout(
        problem_id="0123456789abcdef",
        sample=sample,
        prompt_messages=(Message("user", "How long does the trip take?"),),
        prompt_text="How long does the trip take?",
        completion_text=text + END,
        completion_ids=ids,
        cell_start=tuple(starts),
        reasoning_step=reasoning_steps(text + END, starts),
        logprobs=tuple(logprobs.tolist()),
        entropy=tuple(rng.gamma(1.0, 0.4, len(ids)).tolist()),
        reward=reward,
        extracted_answer=None if span[0] is None else text[span[0] : span[1]],
        answer_start=span[0],
        answer_end=span[1],
        reward_reason=None if reward is None else ("match" if reward else "mismatch"),
        finish=more.pop("finish", Finish.STOP),
        **more,
    )


def small_group() -> RolloutGroup:
    long_right = RIGHT.replace(
        "</think>", ("Let me check once more. " + RIGHT[8:400]) * 4 + "</think>"
    )
    return RolloutGroup(
        (
            rollout(0, RIGHT, 1.0),
            rollout(1, WRONG, 0.0),
            rollout(2, long_right, 1.0, finish=Finish.LENGTH),
            rollout(3, HOSTILE, 0.0),
            rollout(4, "No answer here.", None),
            rollout(5, WRONG * 5, 0.0),
            replace(
                rollout(6, "", 0.0, finish=Finish.ABORT),
                completion_text="",
                completion_ids=(),
                cell_start=(),
                reasoning_step=(),
                logprobs=(),
                entropy=(),
            ),
        )
    )


def credit_for(group: RolloutGroup, config: CreditConfig | None = None) -> Credit:
    """HarA's credit on made-up states: a slow walk, so that novelty comes in stretches."""
    rng = np.random.default_rng(7)
    lengths = [len(r.completion_ids) for r in group.rollouts]
    walks = [np.cumsum(rng.normal(size=(n, 8)), axis=0) for n in lengths]
    states = np.concatenate(walks) + 2 * rng.normal(size=(sum(lengths), 8)) ** 3
    return assign_credit_packed(
        torch.tensor(states, dtype=torch.float32),
        torch.tensor([0, *np.cumsum(lengths)]),
        group.rewards,
        torch.zeros(len(group), dtype=torch.long),
        config,
    )
