"""The language head on chosen positions, in slices: logits of all positions never exist at once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hara_viz.errors import ModelError
from hara_viz.models.policy import Policy

SLICE_BYTES = 256 * 1024 * 1024
"""The most memory for one slice of float32 logits."""


class LanguageHead:
    """What a model does after its last hidden state: projection, scales, soft cap.

    The form is checked once against the model's own logits, so a family with another kind of head
    is found out before it gives wrong numbers.
    """

    def __init__(self, policy: Policy) -> None:
        self.projection: Any = policy.model.get_output_embeddings()
        config = policy.text_config
        self.cap: float | None = getattr(config, "final_logit_softcapping", None)
        self.scale = (getattr(config, "logit_scale", None) or 1.0) / (
            getattr(config, "logits_scaling", None) or 1.0
        )
        self._check(policy)

    def logits(self, hidden: Tensor) -> Tensor:
        """[N, D] -> [N, V] float32."""
        logits = self.projection(hidden).float() * self.scale
        return logits if self.cap is None else torch.tanh(logits / self.cap) * self.cap

    def score(self, hidden: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of `ids` [N] and entropy [N], given the hidden states before them."""
        n_vocab = self.projection.weight.shape[0]
        rows = max(1, SLICE_BYTES // (4 * n_vocab))
        logprobs, entropies = [], []
        for piece, targets in zip(hidden.split(rows), ids.split(rows), strict=True):
            all_logprobs = self.logits(piece).log_softmax(-1)
            logprobs.append(all_logprobs.gather(-1, targets[:, None])[:, 0])
            entropies.append(entropy_of(all_logprobs))
        return torch.cat(logprobs), torch.cat(entropies)

    @torch.inference_mode()
    def _check(self, policy: Policy) -> None:
        ids = torch.tensor([[policy.pad_id, 0, 1, 2]], device=policy.device)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "use_cache": False}
        mine = self.logits(policy.backbone(**inputs).last_hidden_state[0])
        theirs = policy.model(**inputs).logits[0].float()
        # Batched and sliced products differ in rounding; another head differs in kind.
        worst = (mine.log_softmax(-1) - theirs.log_softmax(-1)).abs().max()
        if not worst < 0.05:
            raise ModelError(
                f"the head of {type(policy.model).__name__} is of a kind that is not known here "
                f"(log-probabilities differ by {float(worst):.3g}); please report the model"
            )


def entropy_of(logprobs: Tensor) -> Tensor:
    """Entropy, in nats, of distributions [..., V] given by their log-probabilities.

    A model may cut tokens itself (-inf), and 0 * -inf would be NaN.
    """
    return (-(logprobs.exp() * logprobs.clamp(min=-1e4)).sum(-1)).clamp(min=0.0)
