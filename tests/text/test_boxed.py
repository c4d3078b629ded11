from __future__ import annotations

import time

import pytest

from hara_viz.text.boxed import boxed_spans


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        (r"so \boxed{42}.", ["42"]),
        (r"\boxed{\frac{1}{2}} and \boxed{\sqrt{2}}", [r"\frac{1}{2}", r"\sqrt{2}"]),
        (r"\boxed {7} \fbox{8}", ["7", "8"]),
        (r"\boxed{\{1, 2\}}", [r"\{1, 2\}"]),
        (r"\boxed{\boxed{5}}", [r"\boxed{5}", "5"]),
        (r"\boxed{42", []),
        (r"} \boxed{3} {", ["3"]),
        (r"boxed{3}", []),
        ("", []),
    ],
)
def test_contents_of_closed_boxes(text: str, contents: list[str]) -> None:
    assert [text[s.start : s.end] for s in boxed_spans(text)] == contents


def test_many_unclosed_boxes_cost_one_pass() -> None:
    began = time.perf_counter()
    assert boxed_spans(r"\boxed{" * 100_000) == ()
    assert time.perf_counter() - began < 2
