"""A batch on its way into the run: what is known when it was drawn, then what its loss carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.integrations.batch_credit import RowCredit
from hara_viz.integrations.recorder import RecordedRow, Recording
from hara_viz.integrations.rollout_rows import (
    CompletionText,
    TextCutter,
    base_rollout,
    finish_of,
    problem_of,
    verdict,
)
from hara_viz.integrations.shared_groups import Deal
from hara_viz.integrations.trl_batch import GeneratedBatch
from hara_viz.types import (
    CheckpointInfo,
    Rollout,
    RunInfo,
    SamplingConfig,
    Series,
    TrainingInfo,
    is_success,
)

ROW = "hara_row"
"""A column of the batch: each row's number before TRL shuffles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBatch:
    """B rollouts with their credit, before any loss."""

    batch: GeneratedBatch
    found: RowCredit
    rewards: Tensor
    """[world_size · B] what decided the outcome."""
    texts: Sequence[CompletionText]
    """Empty: not cut yet."""
    states: Sequence[Sequence[Tensor]]
    """Per layer, one [T_r, D] per row, in the stored dtype; empty: none were read."""
    deal: Deal
    global_step: int


class PendingBatch:
    """Waits on the CPU for the first pass over a batch, then knows its rows.

    Args:
        drawn: the batch.
        recording: what is kept of it.
        cutter: of its text.
        trainer: whose batch it is; only settings are read.
        config: what its credit was computed with.
    """

    def __init__(
        self, drawn: DrawnBatch, recording: Recording, cutter: TextCutter, trainer: Any,
        config: CreditConfig,
    ) -> None:  # fmt: skip
        shape, found = drawn.batch.mask.shape, drawn.found
        self._recording, self._cutter, self._trainer = recording, cutter, trainer
        self._scored, self._prompt_ids = drawn.batch.scored, drawn.batch.prompt_ids
        self._texts, self._deal, self._step = drawn.texts, drawn.deal, drawn.global_step
        self._threshold = config.success_threshold
        self._rewards = drawn.rewards.tolist()
        self._parts = drawn.batch.scored.rewards_per_func.tolist()
        self._baseline = drawn.batch.baseline.tolist()
        self._own = [drawn.batch.own(row).cpu() for row in range(shape[0])]
        self._weights = [values.cpu() for values in found.of_rows(found.credit.weights)]
        self._advantages = [values.cpu() for values in found.of_rows(found.credit.advantages)]
        # Copied at once: on an accelerator the loss needs the room.
        self._states = [self._kept_states(row, drawn.states) for row in range(shape[0])]
        self.coefficients = torch.full(shape, torch.nan)
        self.logprobs = torch.full(shape, torch.nan)
        self.entropy = torch.full(shape, torch.nan)

    def take(self, name: str, rows: Tensor, values: Tensor) -> None:
        """Keep per-token values [b, C] of rows [b] of the batch."""
        getattr(self, name)[rows.cpu()] = values.detach().float().cpu()

    def rows(self) -> list[RecordedRow]:
        """The rows, ready for the recorder."""
        return [
            RecordedRow(
                row=self._deal.own_rows[row],
                rollout=self._rollout(row),
                states=self._states[row],
            )
            for row in range(len(self._own))
        ]

    def _rollout(self, row: int) -> Rollout:
        ids, own = list(self._scored.completion_ids[row]), self._own[row]
        text = self._texts[row] if self._texts else self._cutter.cut(ids)
        place, trainer = self._deal.own_rows[row], self._trainer
        problem = problem_of(
            self._scored.examples[row], self._scored.prompts[row], self._recording.gold_column
        )
        return base_rollout(
            problem,
            self._prompt_ids[row],
            ids,
            text,
            self._cutter,
            global_step=self._step,
            sampled_mask=None if bool(own.all()) else tuple(own.tolist()),
            recorded_advantage=self._baseline[row],
            recorded_advantages=_spread(self._advantages[row], own),
            recorded_weights=_spread(self._weights[row], own),
            advantage_rule=f"{trainer_version()}, scale_rewards {trainer.scale_rewards}",
            finish=finish_of(ids, trainer.eos_token_ids, trainer.max_completion_length),
            **self._of_loss(row, own, trainer.temperature),
            **verdict(
                self._rewards[place],
                self._parts[place],
                trainer.reward_func_names,
                text,
                ids,
                self._cutter.special_ids,
            ),
        )

    def _of_loss(self, row: int, own: Tensor, temperature: float) -> dict[str, Any]:
        """Columns that the loss alone knows; None where it never came to this row."""
        n_tokens = len(own)
        logprobs = _known(self.logprobs[row, :n_tokens], own)
        return {
            "recorded_coefficients": _known(self.coefficients[row, :n_tokens], own, outside=0.0),
            "logprobs": logprobs,
            # TRL divides by the temperature; at 1 they are the model's own.
            "logprobs_kind": ("raw" if temperature == 1 else "trainer") if logprobs else None,
            "entropy": _known(self.entropy[row, :n_tokens], own),
        }

    def _kept_states(
        self, row: int, states: Sequence[Sequence[Tensor]]
    ) -> tuple[Tensor, ...] | None:
        kept = self._recording.states
        if kept == "none" or not states or (kept == "mixed" and not self._is_mixed(row)):
            return None
        return tuple(layer[row].cpu() for layer in states)

    def _is_mixed(self, row: int) -> bool:
        deal = self._deal
        group = deal.group_of(deal.own_rows[row])
        members = slice(group * deal.group_size, (group + 1) * deal.group_size)
        outcomes = {is_success(reward, self._threshold) for reward in self._rewards[members]}
        return len(outcomes - {None}) == 2


def run_info(
    trainer: Any, recording: Recording, config: CreditConfig, layer: int | None,
    cutter: TextCutter, n_layers: int, outcome_reward: str | None,
) -> RunInfo:  # fmt: skip
    """The header of a recorded run. It names no fingerprint: weights change from step to step."""
    args, model_config = trainer.args, trainer.model.config.get_text_config()
    name = str(getattr(trainer.model.config, "_name_or_path", "") or "model")
    return RunInfo(
        checkpoint=CheckpointInfo(
            path=name,
            n_layers=n_layers,
            hidden_size=model_config.hidden_size,
            dtype=str(trainer.model.dtype).removeprefix("torch."),
            special_ids=tuple(sorted(cutter.special_ids)),
        ),
        series=Series(id=recording.series or Path(recording.path).name, method=config.signal),
        sampling=SamplingConfig(
            group_size=trainer.num_generations,
            max_new_tokens=trainer.max_completion_length,
            temperature=trainer.temperature,
            top_p=args.top_p,
            top_k=args.top_k or 0,
            min_p=args.min_p or 0.0,
            repetition_penalty=args.repetition_penalty,
            seed=args.seed,
        ),
        reward=outcome_reward or " + ".join(trainer.reward_func_names),
        success_threshold=config.success_threshold,
        seed=args.seed,
        versions=_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        training=TrainingInfo(
            trainer=trainer_version(),
            credit=config.to_json(),
            method_version=METHOD_VERSION,
            layer=layer,
            loss_type=trainer.loss_type,
            importance_sampling_level=trainer.importance_sampling_level,
            scale_rewards=trainer.scale_rewards,
            beta=trainer.beta,
        ),
    )


@cache
def trainer_version() -> str:
    """TRL and its version."""
    return f"trl {version('trl')}"


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("hara-viz", "torch", "transformers", "trl", "accelerate"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _spread(values: Tensor, own: Tensor) -> tuple[float, ...]:
    """Values of the own tokens as values of all, 0 elsewhere."""
    full = torch.zeros(len(own))
    full[own] = values.float()
    return tuple(full.tolist())


def _known(values: Tensor, own: Tensor, outside: float = torch.nan) -> tuple[float, ...] | None:
    """Values per token; None if any own token's is unknown, or if there is none."""
    if not bool(own.any()) or bool(values[own].isnan().any()):
        return None
    return tuple(torch.where(own, values, outside).tolist())
