"""What we rely on in TRL, in one place, checked whenever a trainer is made.

TRL has no hook for token advantages: we override the methods below, which it may rename or reorder
in any release. A trainer that silently went on with uniform advantages would be worse than one
that refuses to start, so whatever is missing is an error that names it.
"""

from __future__ import annotations

import inspect
from typing import Any

from hara_viz.errors import InvalidInputError

TESTED = "trl>=1.16,<1.17"
"""The releases that the tests of this room ran with; the `trl` extra installs them."""

METHODS: dict[str, tuple[str, ...]] = {
    "_generate_and_score_completions": ("inputs",),
    "_calculate_rewards": ("inputs", "prompts", "completions", "completion_ids_list"),
    "_get_per_token_logps_and_entropies": (
        "model", "input_ids", "attention_mask", "logits_to_keep", "batch_size", "compute_entropy",
    ),
    "_compute_loss": ("model", "inputs"),
    "training_step": ("model", "inputs", "num_items_in_batch"),
}  # fmt: skip
"""Methods that we override or call, and the parameters that we name, in order."""

ATTRIBUTES = (
    "accelerator", "args", "state", "_metrics", "reward_weights", "reward_func_names",
    "num_generations", "max_completion_length", "temperature", "eos_token_ids", "_tokenizer",
    "importance_sampling_level", "loss_type", "scale_rewards", "beta",
)  # fmt: skip
"""Attributes of a trainer that we read."""

BATCH = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "advantages")
"""What `_generate_and_score_completions` must return."""


def check_class(trainer: type) -> None:
    """Refuse a trainer class whose methods are not those that we know.

    Raises:
        InvalidInputError: a method is gone or takes other parameters.
    """
    for name, expected in METHODS.items():
        method = getattr(trainer, name, None)
        if method is None:
            raise _moved(f"{trainer.__name__} has no method {name}")
        known = tuple(inspect.signature(method).parameters)[1:]
        if known[: len(expected)] != expected:
            raise _moved(f"{name} takes {', '.join(known)}; expected {', '.join(expected)}")


def check_instance(trainer: Any) -> None:
    """Refuse a trainer that lacks an attribute we read.

    Raises:
        InvalidInputError: an attribute is gone.
    """
    missing = [name for name in ATTRIBUTES if not hasattr(trainer, name)]
    if missing:
        raise _moved(f"a trainer has no {', '.join(missing)}")


def check_batch(batch: dict[str, Any], *, scored: bool) -> None:
    """Refuse a batch in which we would not find what we take.

    Args:
        batch: what `_generate_and_score_completions` returned.
        scored: whether `_calculate_rewards` was heard on the way.

    Raises:
        InvalidInputError: something is gone, or the advantages are no longer one a rollout.
    """
    missing = [name for name in BATCH if name not in batch]
    if missing:
        raise _moved(f"a batch has no {', '.join(missing)}")
    if not scored:
        raise _moved("a batch was scored without _calculate_rewards")
    if batch["advantages"].dim() != 1:
        raise _moved(f"advantages have the shape {tuple(batch['advantages'].shape)}, expected [B]")


def _moved(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"this version of TRL is not the one that HarA was fitted to: {what}; install "
        f'"{TESTED}" (pip install "hara-viz[trl]")'
    )
