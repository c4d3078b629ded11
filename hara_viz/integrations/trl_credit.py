"""Our own work in a training step of TRL's: states, text, credit, figures, record.

`hara_viz.integrations.trl` says when each is done; here is how.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from hara_viz.credit import CreditConfig
from hara_viz.integrations.batch_credit import (
    NEEDS_STATES,
    CreditInputs,
    credit_rows,
    pad_rows,
)
from hara_viz.integrations.policy_states import completion_states, resolve_layers
from hara_viz.integrations.recorder import RecordedRow, Recording, RunRecorder
from hara_viz.integrations.rollout_rows import CompletionText, TextCutter
from hara_viz.integrations.sequence_ratio import old_logprobs_of_sequence
from hara_viz.integrations.shared_groups import Deal
from hara_viz.integrations.step_metrics import peak_memory_gib, step_figures, step_sums
from hara_viz.integrations.trl_batch import GeneratedBatch, outcome_rewards
from hara_viz.integrations.trl_record import ROW, DrawnBatch, PendingBatch, run_info

STATES_DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}
NEEDS_LOGPROBS = frozenset({"entropy", "surprisal"})
SEQUENCE_LEVEL = "hara_sequence_level"
"""An entry of a loss's inputs: the ratio is asked for per sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditChoices:
    """What a user asks of the trainer; see `HaraCreditMixin`."""

    config: CreditConfig
    layers: Sequence[int]
    states_dtype: str
    outcome_reward: str | None
    record: Recording | None


class TrlCredit:
    """Credit for one trainer."""

    def __init__(self, trainer: Any, choices: CreditChoices) -> None:
        self.trainer = trainer
        self.config = choices.config
        self.recording = choices.record
        self.choices = choices
        self.n_layers: int = trainer.model.config.get_text_config().num_hidden_layers
        credit_reads = self.config.signal in NEEDS_STATES
        record_reads = self.recording is not None and self.recording.states != "none"
        reads = credit_reads or record_reads
        self.layers = resolve_layers(choices.layers, self.n_layers) if reads else ()
        self.layer = max(self.layers) if credit_reads else None
        self.cutter = TextCutter.of_tokenizer(trainer._tokenizer, trainer.eos_token_ids)
        self.cuts_text = "step" in self.config.shares()
        """Whether credit reads the text; else it is cut beside the training, for the record."""
        self._recorder: RunRecorder | None = None
        self._pending: PendingBatch | None = None
        self._passes = 0
        """Micro-batches seen of the batch at hand."""
        self._seconds: dict[str, float] = {}
        """Of the batch at hand, by stage."""

    # --- A batch: from rollouts to advantages.

    def advantages(self, batch: GeneratedBatch, reference: tuple[Tensor, Tensor] | None) -> Tensor:
        """Token advantages [B, C] of a batch that was just drawn.

        Args:
            batch: this process's rows.
            reference: log π and entropy [B, C] under the policy that drew it, where a signal
                reads them.
        """
        self.write_pending()  # a batch that TRL gave up before its first pass was over
        self._passes, self._seconds = 0, {}
        with self._timed("states"):
            states = self._states(batch)
        with self._timed("text"):
            ids = batch.completion_ids
            texts = [self.cutter.cut(row) for row in ids] if self.cuts_text else []
        with self._timed("solver"):
            drawn = self._drawn(batch, states, texts, reference)
        self._log(step_figures(self._summed(step_sums(drawn.found, self.config))))
        if self.recording is not None:
            with self._timed("record"):
                self._pending = PendingBatch(
                    drawn, self.recording, self.cutter, self.trainer, self.config
                )
            if reference is not None:
                rows = torch.arange(len(ids))
                self._pending.take("logprobs", rows, reference[0])
                self._pending.take("entropy", rows, reference[1])
        return pad_rows(drawn.found.of_rows(drawn.found.credit.advantages), batch.mask)

    def _states(self, batch: GeneratedBatch) -> list[list[Tensor]]:
        if not self.layers:
            return []
        return completion_states(
            self.trainer.model,  # as TRL's own scoring without gradient
            batch.prompt_ids,
            batch.completion_ids,
            self.layers,
            rows_at_a_time=self.trainer.args.per_device_train_batch_size,
            dtype=STATES_DTYPES[self.choices.states_dtype],
            device=self.trainer.accelerator.device,
            autocast=self.trainer.accelerator.autocast,
        )

    def _drawn(
        self, batch: GeneratedBatch, states: list[list[Tensor]], texts: list[CompletionText],
        reference: tuple[Tensor, Tensor] | None,
    ) -> DrawnBatch:  # fmt: skip
        trainer, accelerator = self.trainer, self.trainer.accelerator
        deal = Deal(
            n_local=len(batch.prompt_ids),
            group_size=trainer.num_generations,
            rank=accelerator.process_index,
            world_size=accelerator.num_processes,
        )
        rewards = outcome_rewards(
            batch.scored,
            trainer.reward_weights,
            trainer.reward_func_names,
            self.choices.outcome_reward,
        )
        found = credit_rows(
            self._inputs(batch, states, texts, reference),
            accelerator.gather(batch.mask.sum(1)).tolist(),
            rewards,
            accelerator.gather(batch.baseline),
            deal,
            self.config,
        )
        return DrawnBatch(
            batch=batch, found=found, rewards=rewards, texts=texts, states=states, deal=deal,
            global_step=trainer.state.global_step,
        )  # fmt: skip

    def _inputs(
        self, batch: GeneratedBatch, states: list[list[Tensor]], texts: list[CompletionText],
        reference: tuple[Tensor, Tensor] | None,
    ) -> CreditInputs:  # fmt: skip
        """What the credit reads, over own tokens only; nothing that would be sent in vain."""
        own = [batch.own(row) for row in range(len(batch.prompt_ids))]
        read = [] if self.layer is None else states[self.layers.index(self.layer)]
        logprobs, entropy = reference or (None, None)
        return CreditInputs(
            states=[s[mask] for s, mask in zip(read, own, strict=True)] if read else None,
            reasoning_step=[
                torch.tensor(text.reasoning_step, device=mask.device)[mask]
                for text, mask in zip(texts, own, strict=True)
            ]
            if texts
            else None,
            logprobs=None if logprobs is None else _of_rows(logprobs, batch.mask),
            entropy=None if entropy is None else _of_rows(entropy, batch.mask),
        )

    # --- Its losses.

    def see_loss(self, inputs: dict[str, Any], logprobs: Tensor, entropy: Tensor) -> None:
        """Between the forward pass of a loss and the loss itself; may change its `inputs`."""
        old = inputs.get("old_per_token_logps")
        if inputs[SEQUENCE_LEVEL]:
            mask = inputs["completion_mask"] * inputs.get("tool_mask", 1)
            inputs["old_per_token_logps"] = old_logprobs_of_sequence(logprobs, old, mask)
        pending, rows = self._pending, inputs[ROW]
        if pending is None or self._passes >= self.trainer.args.steps_per_generation:
            return
        pending.take("logprobs", rows, logprobs if old is None else old)
        if old is None:  # else the policy has moved since it drew the tokens
            pending.take("entropy", rows, entropy)
        accelerator = self.trainer.accelerator
        scaler = getattr(accelerator, "scaler", None)
        # Gradients are averaged over processes, and scaled before that in float16.
        scale = accelerator.num_processes * (scaler.get_scale() if scaler else 1.0)
        if logprobs.requires_grad:
            logprobs.register_hook(lambda grad: pending.take("coefficients", rows, -grad / scale))

    def after_pass(self, seconds: float) -> None:
        """A micro-batch is through; after the last one of the first pass its record is written."""
        self._passes += 1
        self._seconds["step"] = self._seconds.get("step", 0.0) + seconds
        if self._passes == self.trainer.args.steps_per_generation:
            self.write_pending()
            self._log_times()

    # --- Its record.

    def open_record(self, *, resume: bool) -> None:
        """Begin to record, if that was asked for."""
        if self.recording is None or not self.trainer.accelerator.is_main_process:
            return
        info = run_info(
            self.trainer, self.recording, self.config, self.layer, self.cutter, self.n_layers,
            self.choices.outcome_reward,
        )  # fmt: skip
        self._recorder = RunRecorder(
            self.recording.path, info, self.layers, self.n_layers,
            states_dtype=self.choices.states_dtype, resume=resume,
        )  # fmt: skip

    def write_pending(self) -> None:
        """Write the batch that waits, on the main process; all processes must come here."""
        pending, self._pending = self._pending, None
        if pending is None or self.recording is None:
            return
        with self._timed("record"):
            if self.trainer.accelerator.num_processes > 1:
                gathered = _gathered(pending.rows())
            else:
                gathered = pending.rows
            if self._recorder is not None and gathered is not None:
                self._recorder.write(gathered, self.trainer.num_generations)

    def finish_record(self) -> None:
        """Mark the run complete."""
        if self._recorder is not None:
            self._recorder.finish()

    def close_record(self) -> None:
        """Let others write."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    # --- Its figures.

    def _log_times(self) -> None:
        """Seconds by stage and their shares of the first pass over the batch, drawing included."""
        spent = self._seconds
        own = spent["states"] + spent["text"] + spent["solver"]
        # What was written after the step's clock had stopped belongs to the step all the same.
        whole = max(spent["step"] + spent.get("record", 0.0), 1e-9)
        figures = {
            "hara/solver_seconds": spent["solver"],
            "hara/solver_share": spent["solver"] / whole,
            "hara/credit_share": own / whole,
            "hara/peak_memory_gib": peak_memory_gib(self.trainer.accelerator.device),
        }
        if self.recording is not None:
            figures["hara/record_share"] = spent.get("record", 0.0) / whole
        self._log(figures)

    def _log(self, figures: dict[str, float]) -> None:
        for name, value in figures.items():
            self.trainer._metrics["train"][name].append(value)

    def _summed(self, sums: Tensor) -> Tensor:
        accelerator = self.trainer.accelerator
        if accelerator.num_processes == 1:
            return sums
        return accelerator.reduce(sums.float().to(accelerator.device), reduction="sum").double()

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - began


def _of_rows(values: Tensor, mask: Tensor) -> list[Tensor]:
    return [row[own] for row, own in zip(values, mask, strict=True)]


def _gathered(rows: list[RecordedRow]) -> Callable[[], list[RecordedRow]] | None:
    """The rows of all processes on the main one, None on the others."""
    parts: list[Any] | None = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
    dist.gather_object(rows, parts)
    return None if parts is None else lambda: [row for part in parts for row in part]
