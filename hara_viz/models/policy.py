"""A loaded checkpoint: the model, its tokenizer, and what the rest of the house asks of them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from hara_viz.errors import InvalidInputError
from hara_viz.types import CheckpointInfo

if TYPE_CHECKING:
    from hara_viz.models.head import LanguageHead

# Ends of a turn that some checkpoints leave out of their generation config. `<|end|>` is not among
# them: where it matters (Phi) the config names it, and elsewhere it ends a part of a turn.
TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end_of_turn|>")


@dataclass(frozen=True, eq=False, kw_only=True)
class Policy:
    """A causal language model in evaluation mode, with its tokenizer."""

    model: Any
    """A transformers causal language model; no parameter asks for gradients."""
    tokenizer: Any
    info: CheckpointInfo
    device: torch.device
    eos_ids: frozenset[int]
    """Every id that ends a completion: the tokenizer's, the generation config's, turn ends."""

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids that are markers, not text."""
        return frozenset(self.info.special_ids)

    @property
    def pad_id(self) -> int:
        """An id to fill masked places with; what it is never matters."""
        pad = self.tokenizer.pad_token_id
        return pad if pad is not None else min(self.eos_ids, default=0)

    @property
    def backbone(self) -> Any:
        """The model without its language head: ids in, hidden states out."""
        return self.model.get_decoder()

    @cached_property
    def head(self) -> LanguageHead:
        """The language head, checked against the model's own logits when first used."""
        from hara_viz.models.head import LanguageHead  # it knows this class

        return LanguageHead(self)

    @cached_property
    def text_config(self) -> Any:
        """The config of the language model (a multimodal config holds it one level down)."""
        return self.model.config.get_text_config(decoder=True)

    @cached_property
    def max_positions(self) -> int | None:
        """The most tokens a sequence may have; None = the config sets no limit."""
        return getattr(self.text_config, "max_position_embeddings", None)

    @cached_property
    def forward_arguments(self) -> frozenset[str]:
        """Names that the model's `forward` takes."""
        return frozenset(inspect.signature(self.model.forward).parameters)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids` with special tokens written out and no space touched."""
        return self.tokenizer.decode(
            list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def resolve_layers(self, layers: Sequence[int]) -> tuple[int, ...]:
        """Non-negative indices of hidden states; -1 means the last, after the final norm.

        Raises:
            InvalidInputError: A layer that the model does not have, or none at all.
        """
        n_states = self.info.n_layers + 1
        for layer in layers:
            if not -n_states <= layer < n_states:
                raise InvalidInputError(
                    f"layer {layer} does not exist: this model has hidden states 0 (embeddings) to "
                    f"{self.info.n_layers} (last, after the final norm); -1 names the last"
                )
        return tuple(sorted({layer % n_states for layer in layers}))


def end_ids(tokenizer: Any, model: Any) -> frozenset[int]:
    """Every id that ends a completion, from all places that name one."""
    named: list[Any] = [
        tokenizer.eos_token_id,
        getattr(model.generation_config, "eos_token_id", None),
        getattr(model.config, "eos_token_id", None),
    ]
    ids = {i for entry in named for i in (entry if isinstance(entry, list | tuple) else [entry])}
    ids |= {tokenizer.get_added_vocab().get(token) for token in TURN_ENDS}
    return frozenset(int(i) for i in ids if i is not None)


def marker_ids(tokenizer: Any) -> frozenset[int]:
    """Ids of the tokenizer's special tokens, those added without a name of their own included."""
    flagged = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    return frozenset(flagged | set(tokenizer.all_special_ids))
