"""The demo's tokenizer."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.demo.problems import draw_problem
from examples.demo.solutions import Noise, write_solution
from examples.demo.tokenizer import END, UNKNOWN, build_tokenizer, prompt_ids

TOKENIZER = build_tokenizer()
ASCII = st.text(st.sampled_from([chr(c) for c in range(32, 127)] + ["\n", "\t"]), max_size=60)


def decode(ids: list[int]) -> str:
    return TOKENIZER.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


@given(ASCII)
def test_any_ascii_text_survives(text: str) -> None:
    assert decode(TOKENIZER.encode(text, add_special_tokens=False)) == text


def test_the_generators_text_is_words_and_whole_numbers() -> None:
    rng = random.Random(0)
    for _ in range(300):
        problem = draw_problem(rng)
        text = write_solution(problem, rng, Noise()).text
        ids = TOKENIZER.encode(text, add_special_tokens=False)
        assert decode(ids) == text
        assert UNKNOWN not in TOKENIZER.convert_ids_to_tokens(ids)
        n_words = len(text.replace("\n", " \n ").split(" "))
        assert len(ids) < 2 * n_words


@pytest.mark.parametrize("number", [0, 7, 42, 60])
def test_a_number_is_one_token(number: int) -> None:
    for text in (f" {number}", f"{number}"):
        assert len(TOKENIZER.encode(text, add_special_tokens=False)) == 1


def test_the_prompt_is_the_chat_template() -> None:
    assert decode(prompt_ids(TOKENIZER, "How many?")) == f"<|user|>How many?{END}<|assistant|>"


def test_it_loads_as_any_tokenizer(tmp_path) -> None:
    from transformers import AutoTokenizer

    TOKENIZER.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = "Zoe has 12 pens.\n\\boxed{12}"
    assert loaded.encode(text) == TOKENIZER.encode(text)
    assert loaded.decode(loaded.encode(text)) == text
    assert loaded.eos_token == END
    messages = [{"role": "user", "content": "Hi"}]
    assert loaded.apply_chat_template(messages, tokenize=False) == f"<|user|>Hi{END}"
