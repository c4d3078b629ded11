"""GGUF files through transformers: dequantised, and parsed once instead of once per question."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def dequantised() -> dict[str, Any]:
    """Arguments that make `from_pretrained` unpack every weight, for all architectures alike.

    Since 5.2x some architectures would keep packed blocks, which need kernels of their own and
    whose hidden states differ from one device to the next.
    """
    import transformers

    config = getattr(transformers, "GgufConfig", None)
    return {} if config is None else {"quantization_config": config(dequantize=True)}


@contextmanager
def parsed_once() -> Iterator[None]:
    """Let transformers reuse the parsed file and the map of tensor names while it loads.

    It parses the whole file, vocabulary included, for the config, for the weights and for the
    tokenizer, and builds the map of names anew for each module: together most of the loading time.
    """
    import gguf

    reader, names = gguf.GGUFReader, gguf.get_tensor_name_map
    cached: Any = gguf
    cached.GGUFReader = functools.cache(reader)
    cached.get_tensor_name_map = functools.cache(names)
    try:
        yield
    finally:
        cached.GGUFReader, cached.get_tensor_name_map = reader, names
