"""Fingerprints: equal weights, equal fingerprint, however they are sharded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from hara_viz.models.layouts import read_header

BLOCK = 1 << 16
BLOCKS = 64
"""Up to BLOCK * BLOCKS (4 MiB) of a tensor are hashed; of a larger one, as many spread blocks.

Training moves every part of a tensor, so a spread sample tells two checkpoints apart; an edit of a
few numbers in the middle of a large tensor can go unseen. A model of 8 billion parameters takes
about a second.
"""


def weights_fingerprint(files: Sequence[Path]) -> str:
    """16 hex digits over names, dtypes, shapes and content of all tensors, in order of name.

    A GGUF file is hashed as one block of bytes.
    """
    parts: list[tuple[str, str]] = []
    for path in files:
        with path.open("rb") as file:
            if path.suffix != ".safetensors":
                size = path.stat().st_size
                parts.append(("", _digest(file, 0, size, BLOCKS * 16)))
                continue
            header, start = read_header(path)
            for name, record in header.items():
                first, end = record["data_offsets"]  # pyright: ignore[reportGeneralTypeIssues]
                content = _digest(file, start + first, start + end, BLOCKS)
                parts.append((name, f"{record['dtype']}{record['shape']}{content}"))
    return _short("\n".join(f"{name}\t{content}" for name, content in sorted(parts)))


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """16 hex digits over what each id stands for and which ids are special."""
    vocab = sorted((index, token) for token, index in tokenizer.get_vocab().items())
    special = sorted(i for i, t in tokenizer.added_tokens_decoder.items() if t.special)
    return _short(repr((vocab, special)))


def combine(*fingerprints: str) -> str:
    """Fingerprint of several things together, such as a base and its adapter."""
    return _short("+".join(fingerprints))


def _digest(file: BinaryIO, start: int, end: int, blocks: int) -> str:
    """Hash of the bytes, or of `blocks` evenly spread blocks (first and last among them)."""
    digest, size = hashlib.blake2b(digest_size=16), end - start
    if size <= blocks * BLOCK:
        file.seek(start)
        digest.update(file.read(size))
        return digest.hexdigest()
    for i in range(blocks):
        file.seek(start + (size - BLOCK) * i // (blocks - 1))
        digest.update(file.read(BLOCK))
    return digest.hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
