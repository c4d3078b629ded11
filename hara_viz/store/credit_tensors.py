"""Barycenters, plans and diagnostics of a part: `credit/<fingerprint>/part-*.safetensors`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from hara_viz.credit import Credit, GroupDiagnostics, OutcomeClass
from hara_viz.errors import FormatError
from hara_viz.ot import Barycenter
from hara_viz.store.states import write_tensors
from hara_viz.store.text_json import to_json

_BARYCENTER = ("features", "structure", "locations", "weights")
_PLANS = "plans"


def write_outcomes(path: Path, credits: Sequence[Credit | None]) -> None:
    """Write the outcome classes of all groups of a part, and what is to be said of each group."""
    tensors: dict[str, Tensor] = {}
    described: list[dict[str, Any] | None] = []
    for group, credit in enumerate(credits):
        if credit is None:
            described.append(None)
            continue
        for number, outcome in enumerate(credit.outcomes):
            tensors.update(_tensors(f"{group}/{number}", outcome))
        described.append(
            {
                "outcomes": [_describe(outcome) for outcome in credit.outcomes],
                "diagnostics": [asdict(diagnostics) for diagnostics in credit.diagnostics],
            }
        )
    write_tensors(path, tensors, {"groups": to_json(described)})


def read_outcomes(
    path: Path, group: int
) -> tuple[tuple[OutcomeClass, ...], tuple[GroupDiagnostics, ...]]:
    """The outcome classes and diagnostics of one group of a part.

    Raises:
        FormatError: The file is damaged or missing.
    """
    try:
        with safe_open(path, framework="pt") as file:
            described = json.loads(file.metadata()["groups"])[group]
            outcomes = tuple(
                _outcome(file, f"{group}/{number}", outcome)
                for number, outcome in enumerate(described["outcomes"])
            )
        diagnostics = tuple(GroupDiagnostics(**_tuples(one)) for one in described["diagnostics"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); remove {path.parent} and compute the credit again"
        ) from error
    return outcomes, diagnostics


def _tensors(name: str, outcome: OutcomeClass) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    if outcome.barycenter is not None:
        for part in _BARYCENTER:
            value: Tensor = getattr(outcome.barycenter, part)
            tensors[f"{name}/{part}"] = value.detach().to("cpu", torch.float32).contiguous()
    if outcome.plans:
        # Rows scaled to sum 1: they then use the range of half precision well.
        rows = torch.cat([plan * len(plan) for plan in outcome.plans])
        tensors[f"{name}/{_PLANS}"] = rows.detach().to("cpu", torch.float16).contiguous()
    return tensors


def _describe(outcome: OutcomeClass) -> dict[str, Any]:
    return {
        "group": outcome.group,
        "success": outcome.success,
        "rows": outcome.rows,
        "converged": outcome.converged,
        "iterations": outcome.iterations,
        "marginal_error": outcome.marginal_error,
        "changes": outcome.changes,
        "lengths": [len(plan) for plan in outcome.plans],
    }


def _outcome(file: Any, name: str, described: dict[str, Any]) -> OutcomeClass:
    stored = set(file.keys())
    values = _tuples(described)
    lengths = values.pop("lengths")
    barycenter = None
    if f"{name}/{_BARYCENTER[0]}" in stored:
        barycenter = Barycenter(*(file.get_tensor(f"{name}/{part}") for part in _BARYCENTER))
    plans: tuple[Tensor, ...] = ()
    if lengths:
        rows = file.get_tensor(f"{name}/{_PLANS}").float()
        rows = rows / rows.sum(dim=1, keepdim=True)
        plans = tuple(plan / len(plan) for plan in rows.split(lengths))
    return OutcomeClass(barycenter=barycenter, plans=plans, **values)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
