"""HarA inside TRL's GRPOTrainer: token advantages in place of one a rollout.

    trainer = HaraGRPOTrainer(
        model=…, reward_funcs=…, args=GRPOConfig(…), train_dataset=…,
        credit=CreditConfig(alpha=0.5), record=Recording(path="runs/mine"),
    )
    trainer.train()

All of TRL stays TRL's: sampling, reward weights, scaling and aggregation (its own advantages are
the baseline A_r), the loss, logging. What changes is that the loss is given [B, C] advantages, and
that sequence-level importance ratios pass their gradient token by token (`sequence_ratio`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from trl.trainer.grpo_trainer import GRPOTrainer

from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.integrations import trl_seam
from hara_viz.integrations.recorder import Recording
from hara_viz.integrations.trl_batch import Scored, check_outcome_reward, read_batch
from hara_viz.integrations.trl_credit import (
    NEEDS_LOGPROBS,
    SEQUENCE_LEVEL,
    STATES_DTYPES,
    CreditChoices,
    TrlCredit,
)
from hara_viz.integrations.trl_record import ROW

__all__ = ["HaraCreditMixin", "HaraGRPOTrainer", "Recording"]

_Base = GRPOTrainer if TYPE_CHECKING else object


class HaraCreditMixin(_Base):
    """HarA's credit for a subclass of GRPOTrainer: `class Mine(HaraCreditMixin, MyTrainer)`.

    Args:
        credit: the choices; None: the defaults.
        layers: layers whose states are read; credit takes the highest, a recording keeps all.
        states_dtype: "bfloat16" or "float32": states are cast to it before credit is computed and
            stored in it, so that credit can be computed again from a recorded run.
        outcome_reward: the reward function whose value decides right or wrong; None: the weighted
            sum of all, as TRL takes it.
        record: what is recorded; None: nothing.

    Raises:
        InvalidInputError: an argument that cannot be used, or a release of TRL that is not known.
    """

    def __init__(
        self,
        *args: Any,
        credit: CreditConfig | None = None,
        layers: Sequence[int] = (-1,),
        states_dtype: str = "bfloat16",
        outcome_reward: str | None = None,
        record: Recording | None = None,
        **kwargs: Any,
    ) -> None:
        if states_dtype not in STATES_DTYPES:
            known = ", ".join(STATES_DTYPES)
            raise InvalidInputError(f"states_dtype is {states_dtype!r}; choose one of {known}")
        trl_seam.check_class(GRPOTrainer)
        super().__init__(*args, **kwargs)
        trl_seam.check_instance(self)
        check_outcome_reward(self.reward_func_names, outcome_reward)
        choices = CreditChoices(
            config=credit or CreditConfig(),
            layers=layers,
            states_dtype=states_dtype,
            outcome_reward=outcome_reward,
            record=record,
        )
        self._hara = TrlCredit(self, choices)
        self._scored: Scored | None = None
        self._loss_inputs: dict[str, Any] | None = None

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """As TRL's; opens the record first: a path that cannot be used must cost no sampling."""
        resume = args[0] if args else kwargs.get("resume_from_checkpoint")
        self._hara.open_record(resume=bool(resume))
        try:
            result = super().train(*args, **kwargs)
            self._hara.write_pending()
            self._hara.finish_record()
            return result
        finally:
            self._hara.close_record()

    def training_step(self, *args: Any, **kwargs: Any) -> Tensor:
        """As TRL's, timed."""
        began = time.perf_counter()
        output = super().training_step(*args, **kwargs)
        self._hara.after_pass(time.perf_counter() - began)
        return output

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any
    ) -> Tensor:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        self._scored = Scored(inputs, prompts, completion_ids_list, rewards)
        return rewards

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        self._scored = None
        output = super()._generate_and_score_completions(inputs)
        assert self.model is not None
        if not self.model.training:  # an evaluation has no optimizer to feed
            return output
        trl_seam.check_batch(output, scored=self._scored is not None)
        assert self._scored is not None  # checked just now
        batch = read_batch(output, self._scored)
        output["advantages"] = self._hara.advantages(batch, self._reference_logprobs(output))
        output[ROW] = torch.arange(len(batch.prompt_ids), device=batch.mask.device)
        return output

    def _compute_loss(self, model: Any, inputs: Any) -> Tensor:
        if inputs["advantages"].dim() == 1:  # an evaluation
            return super()._compute_loss(model, inputs)
        level = self.importance_sampling_level
        self._loss_inputs = {**inputs, SEQUENCE_LEVEL: level == "sequence"}
        self.importance_sampling_level = "token"
        try:
            return super()._compute_loss(model, self._loss_inputs)
        finally:
            self.importance_sampling_level = level
            self._loss_inputs = None

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if self._loss_inputs is not None:
            self._hara.see_loss(self._loss_inputs, found[0], found[1])
        return found

    def _reference_logprobs(self, output: dict[str, Any]) -> tuple[Tensor, Tensor] | None:
        """log π and entropy [B, C] of a batch that was just drawn, where a rival reads them."""
        if self._hara.config.signal not in NEEDS_LOGPROBS:
            return None
        with torch.no_grad():
            logprobs, entropy, _ = self._get_per_token_logps_and_entropies(
                self.model,
                torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1),
                torch.cat([output["prompt_mask"], output["completion_mask"]], dim=1),
                output["completion_ids"].shape[1],
                batch_size=self.args.per_device_train_batch_size,
                compute_entropy=True,
            )
        assert entropy is not None  # it was asked for
        return logprobs, entropy


class HaraGRPOTrainer(HaraCreditMixin, GRPOTrainer):
    """`trl.GRPOTrainer` with HarA's credit; its further arguments are `HaraCreditMixin`'s."""
