"""Outcome classes of real and planted rollouts, as the transport room takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.fidelity_parts.kept_runs import DEMO, checkpoint, kept_runs
from benchmarks.ot_parts.planted import Group, planted
from hara_viz.store import Run
from hara_viz.types import RolloutGroup, is_success


@dataclass(frozen=True, slots=True)
class TestedClass:
    """The rollouts of one outcome, in the states of one layer."""

    source: str
    """Which run, or "planted"."""
    cluster: str
    """Equal for the layers of one class: they are not independent of each other."""
    layer: int | None
    group: Group
    prompt: Tensor | None = None
    """[S, D] states of the shared prompt, unit length, where they are known."""

    @property
    def n_tokens(self) -> int:
        """N, over all rollouts."""
        return sum(len(h) for h in self.group.features)


def planted_classes(n: int) -> Iterator[TestedClass]:
    """Stages at paces of their own, with few directions (as real states have) or many."""
    for seed in range(n):
        lengths = [40 + 8 * ((seed + r) % 4) for r in range(4)]
        group = planted(lengths, 64, seed=seed, spectrum=1.25 if seed % 2 else 0.0)
        yield TestedClass("planted", f"planted/{seed}", None, group)


def real_classes(groups_of_each: int) -> Iterator[TestedClass]:
    """Classes of at least two rollouts, of the first groups of every run and of all its layers."""
    for name, run in kept_runs():
        prompts = _PromptStates(name)
        for number, key in enumerate(run.keys()[:groups_of_each]):
            group = run.load_group(key)
            for success in (True, False):
                rows = [
                    row
                    for row, rollout in enumerate(group.rollouts)
                    if is_success(rollout.reward, run.info.success_threshold) == success
                    and len(rollout.completion_ids) > 0
                ]
                if len(rows) < 2:
                    continue
                cluster = f"{name}/{number}/{'correct' if success else 'incorrect'}"
                for layer in run.layers:
                    states = _states(run, group, rows, layer)
                    yield TestedClass(name, cluster, layer, states, prompts.of(group, layer))


def unit(states: Tensor) -> Tensor:
    """Rows of unit length in float32, the default `normalize`."""
    return torch.nn.functional.normalize(states.float(), dim=-1)


def _states(run: Run, group: RolloutGroup, rows: list[int], layer: int) -> Group:
    states = run.load_states(group.key, layer)
    assert states is not None  # the runs were made so
    features = [unit(states.rows(row)) for row in rows]
    return Group(features, [torch.arange(len(h)) / max(len(h) - 1, 1) for h in features])


class _PromptStates:
    """States of the prompts of a demo run; None for other runs."""

    def __init__(self, name: str) -> None:
        self._path: Path | None = checkpoint(name) if name in DEMO else None
        self._model: Any = None
        self._known: dict[object, tuple[Tensor, ...]] = {}

    def of(self, group: RolloutGroup, layer: int) -> Tensor | None:
        ids = group.rollouts[0].prompt_ids
        if self._path is None or not ids:
            return None
        if self._model is None:
            from transformers import AutoModelForCausalLM

            self._model = AutoModelForCausalLM.from_pretrained(self._path, dtype=torch.float32)
        if group.key not in self._known:
            with torch.no_grad():
                found = self._model(torch.tensor([ids]), output_hidden_states=True)
            self._known = {group.key: found.hidden_states}
        return unit(self._known[group.key][layer][0])
