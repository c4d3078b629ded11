"""The tokenizer half of a checkpoint: what its prompts look like, without loading the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hara_viz.errors import HaraError
from hara_viz.models.layouts import Kind, detect_layout
from hara_viz.models.load import explained
from hara_viz.models.loaders import has_tokenizer, load_tokenizer, named_base
from hara_viz.models.quiet import quiet_transformers


@dataclass(frozen=True, eq=False, slots=True)
class PromptReader:
    """A checkpoint's tokenizer and chat template."""

    tokenizer: Any

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids` with special tokens written out and no space touched."""
        return self.tokenizer.decode(
            list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )


def load_reader(
    path: str | Path,
    *,
    revision: str | None = None,
    base: str | None = None,
    roots: Sequence[Path] | None = None,
    allow_pickle: bool = False,
) -> PromptReader:
    """Load what renders prompts; the arguments are those of `load_policy`.

    Raises:
        MissingInputError, FormatError: Not a checkpoint, or an unfinished one.
        UnsafeError: It needs code of its own, or is pickled.
        ModelError: transformers could not load its tokenizer.
    """
    layout = detect_layout(path, allow_pickle=allow_pickle)
    with quiet_transformers():
        try:
            if layout.kind is Kind.ADAPTER and not has_tokenizer(layout):
                path, revision = (base, None) if base else named_base(layout, roots)
                layout = detect_layout(path, allow_pickle=allow_pickle)
            return PromptReader(load_tokenizer(path, layout, revision, {}))
        except HaraError:
            raise
        except Exception as error:  # the libraries raise of every kind on a broken file
            raise explained(path, layout, error) from error
