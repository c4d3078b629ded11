"""Option texts with several values."""

from __future__ import annotations

import pytest

from hara_viz.cli.values import pairs, typed, whole_numbers
from hara_viz.errors import InvalidInputError


def test_pairs_keep_later_equals_signs() -> None:
    assert pairs("template", ["x=a", "y=b=c"]) == {"x": "a", "y": "b=c"}
    assert pairs("template", None) == {}


@pytest.mark.parametrize("texts", [["a"], ["=a"], ["a=1", "a=2"]])
def test_bad_pairs_are_refused(texts: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="--template"):
        pairs("template", texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [("false", False), ("3", 3), ("0.5", 0.5), ("null", None), ("think", "think"), ("[1]", "[1]")],
)
def test_template_values_are_typed_as_json_does(text: str, value: object) -> None:
    assert typed(text) == value
    assert type(typed(text)) is type(value)


def test_layers_are_whole_numbers() -> None:
    assert whole_numbers("layers", "-1") == (-1,)
    assert whole_numbers("layers", "12,24") == (12, 24)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        whole_numbers("layers", "1,x")
