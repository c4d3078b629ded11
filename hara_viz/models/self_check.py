"""Does this model give the same numbers in a padded batch as alone? Some did not."""

from __future__ import annotations

from typing import NamedTuple

import torch

from hara_viz.models.batch import DecodeBatch
from hara_viz.models.policy import Policy
from hara_viz.models.teacher import teacher_force


class PaddingCheck(NamedTuple):
    """The largest differences found between batched and solo log-probabilities, in nats."""

    right_padded: float
    """Of `teacher_force`."""
    left_padded: float
    """Of the next-token distributions in a sampling batch."""
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether both lie within the rounding of the model's dtype."""
        return max(self.right_padded, self.left_padded) <= self.tolerance


TOLERANCE = {torch.float32: 5e-3, torch.float16: 0.1, torch.bfloat16: 0.5}


def padding_self_check(policy: Policy) -> PaddingCheck:
    """Compare a short and a long sequence, batched, with each alone."""
    words = policy.tokenizer("Two plus three is five, and five plus four is nine. So we are done.")
    long = tuple(words["input_ids"]) * 3
    short = long[: max(2, len(long) // 5)]
    parts = [(ids[: len(ids) // 2], ids[len(ids) // 2 :]) for ids in (short, long)]
    together = teacher_force(policy, [p for p, _ in parts], [c for _, c in parts], ())
    right = 0.0
    for b, (prompt, completion) in enumerate(parts):
        alone = teacher_force(policy, [prompt], [completion], ())
        right = max(right, float((together.logprobs[b] - alone.logprobs[0]).abs().max()))
    return PaddingCheck(right, _left(policy, [short, long]), TOLERANCE[policy.model.dtype])


def _left(policy: Policy, sequences: list[tuple[int, ...]]) -> float:
    """Likely tokens' log-probabilities after each sequence: read apart, then a step together."""
    batches = [DecodeBatch(policy) for _ in range(3)]
    batches[0].join(sequences)
    batches[1].join(sequences[:1])
    batches[2].join(sequences[1:])
    token = torch.tensor([sequences[0][-1]], device=policy.device)
    batches[0].step(token.expand(2))
    batches[1].step(token)
    batches[2].step(token)
    together = batches[0].logits.log_softmax(-1)
    alone = torch.cat([batches[1].logits, batches[2].logits]).log_softmax(-1)
    # Unlikely tokens' logarithms magnify rounding; what is drawn lies above.
    likely = alone > -10
    return float((together - alone).abs()[likely].max())
