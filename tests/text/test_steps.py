"""Reasoning steps on chains of thought in the styles of several model families."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.text.steps import reasoning_steps, split_steps
from hara_viz.text.think import think_regions


def steps_of(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_steps(text)]


DEEPSEEK = r"""<think>
Okay, so I need to find 3.5% of 1,200.50. Hmm... wait! Is it 42? Let me check, e.g. with approx. 3.

First, 0.035 * 1200.5 = 42.0175. So that's right.
</think>

The answer is \(x = 4. 2\). Thus:
\[
x = 42. \text{ Done. }
\]
**Final Answer:** \boxed{42}."""

QWEN = r"""To solve this, follow these steps:

1. Compute $a. b$ first. Then stop.
2. **Step 2.** Use $$y = 1.5$$ here.

```python
x = 1. 
print("A. B")

y = 2
```
So 5! = 120. It costs $5. He pays $10."""


def test_a_deepseek_chain() -> None:
    assert steps_of(DEEPSEEK) == [
        "<think>\nOkay, so I need to find 3.5% of 1,200.50.",
        " Hmm... wait!",
        " Is it 42?",
        " Let me check, e.g. with approx. 3.\n\n",
        "First, 0.035 * 1200.5 = 42.0175.",
        " So that's right.\n</think>\n\n",
        "The answer is \\(x = 4. 2\\).",
        " Thus:\n",
        "\\[\nx = 42. \\text{ Done. }\n\\]\n",
        "**Final Answer:** \\boxed{42}.",
    ]


def test_a_qwen_chain_with_lists_and_code() -> None:
    assert steps_of(QWEN) == [
        "To solve this, follow these steps:\n\n",
        "1. Compute $a. b$ first.",
        " Then stop.\n",
        "2. **Step 2.** Use ",
        "$$y = 1.5$$",
        " here.\n\n",
        '```python\nx = 1. \nprint("A. B")\n\ny = 2\n```\n',
        "So 5! = 120.",
        " It costs $5.",
        " He pays $10.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no end", ["no end"]),
        ("One. Two.", ["One.", " Two."]),
        ("lower. case too. ok", ["lower.", " case too.", " ok"]),
        ("Dr. Smith vs. Mr. X in the U.S. Navy", ["Dr. Smith vs. Mr. X in the U.S. Navy"]),
        ("i.e. this, cf. Fig. 3. Next", ["i.e. this, cf. Fig. 3.", " Next"]),
        ("n! + k! is even. Yes", ["n! + k! is even.", " Yes"]),
        ("wait... so it is", ["wait... so it is"]),
        ("wait... So it is", ["wait...", " So it is"]),
        ("我们有四。所以答案是五！对", ["我们有四。", "所以答案是五！", "对"]),
        ('He said "Go." Then left.', ['He said "Go."', " Then left."]),
        ("a\n\n\nb\n", ["a\n\n\n", "b\n"]),
        ("---\nBegin. End", ["---\nBegin.", " End"]),
        ("text\n---\n", ["text\n---\n"]),
        ("done.</think>The end.", ["done.</think>", "The end."]),
        ("x = 1\\\\[4pt] y = 2. So", ["x = 1\\\\[4pt] y = 2.", " So"]),
        ("cut in \\[ x = 1. 2\nstill", ["cut in ", "\\[ x = 1. 2\nstill"]),
        ("cut in $x = 1. 2", ["cut in $x = 1.", " 2"]),
        ("see `a. B` now. Ok", ["see `a. B` now.", " Ok"]),
        ("```\nopen. ended\n\nmore. code", ["```\nopen. ended\n\nmore. code"]),
        (
            "\\begin{align*}\na &= 1. \\\\\nb &= 2\n\\end{align*}\nSo.",
            ["\\begin{align*}\na &= 1. \\\\\nb &= 2\n\\end{align*}\n", "So."],
        ),
        ("\\begin{tabular}\na. B\n\\end{tabular}", None),
    ],
)
def test_boundaries(text: str, expected: list[str] | None) -> None:
    if expected is None:  # an environment of prose is read line by line
        assert len(steps_of(text)) > 1
    else:
        assert steps_of(text) == expected


@given(
    st.text(
        alphabet=st.sampled_from("ab1 .!?\n$`\\[]()<>/*…。é🙂"),
        max_size=80,
    )
)
def test_steps_cover_the_text(text: str) -> None:
    spans = split_steps(text)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(a < b for a, b in spans)


@given(st.text(max_size=60), st.data())
def test_token_numbers_rise_without_gaps(text: str, data: st.DataObject) -> None:
    starts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    numbers = reasoning_steps(text, starts)
    assert len(numbers) == len(starts)
    assert sorted(set(numbers)) == list(range(len(set(numbers))))
    assert list(numbers) == sorted(numbers)


def test_a_space_token_belongs_to_the_sentence_it_opens() -> None:
    text = "One. Two.\nThree"
    #        One  .  Two  .  \n  Three
    starts = (0, 3, 4, 8, 9, 10)
    assert reasoning_steps(text, starts) == (0, 0, 1, 1, 1, 2)


def test_a_token_across_a_boundary_belongs_to_its_first_letter() -> None:
    text = "One.\n Two. \n\nThree"
    #        One  .\n  " Two" "." " "  \n\nThree
    starts = (0, 3, 5, 9, 10, 11)
    assert reasoning_steps(text, starts) == (0, 0, 1, 1, 1, 2)


@pytest.mark.parametrize(
    "piece", ["\\(", "$a ", "`", "` ", "$$ a\n\n", "\\[ a\n\n", "```\n", ". ", "<think></think>"]
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    began = time.perf_counter()
    spans = split_steps(piece * (40_000 // len(piece)))
    assert time.perf_counter() - began < 5
    assert spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <think>b</think> c", ["<think>b</think>"]),
        ("<think>never closed", ["<think>never closed"]),
        ("opened in the prompt</think> c", ["opened in the prompt</think>"]),
        ("x</think>y<think>z", ["x</think>", "<think>z"]),
        ("<think>a</think>b<think>c</think>", ["<think>a</think>", "<think>c</think>"]),
        ("[THINK]a[/THINK]b", ["[THINK]a[/THINK]"]),
        ("<reasoning>a</reasoning><answer>b</answer>", ["<reasoning>a</reasoning>"]),
        ("<|channel|>analysis<|message|>a<|end|>b<|end|>", None),
        ("no marks, a < b and c > d, <|end|>", []),
        ("<think>says </thinking> in it</think>!", ["<think>says </thinking> in it</think>"]),
    ],
)
def test_think_regions(text: str, expected: list[str] | None) -> None:
    shown = [text[a:b] for a, b in think_regions(text)]
    if expected is None:
        expected = ["<|channel|>analysis<|message|>a<|end|>"]
    assert shown == expected
