"""A config class as options: every field, its choices, its default, its help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from hara_viz.cli.config_options import config_fields, read_settings, with_config_options
from hara_viz.errors import InvalidInputError

Level = Literal["token", "step"]


@dataclass(frozen=True)
class Example:
    """A class with every kind of field that is understood."""

    alpha: float = 0.5
    """How much of it."""
    n_points: int | Literal["auto"] = "auto"
    signal: Literal["hara", "uniform"] = "hara"
    granularity: Level | Mapping[Level, float] = "token"
    weight_range: tuple[float, float] = (0.2, 3.0)
    seed: int = 0


BY_NAME = {field.name: field for field in config_fields(Example)}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("alpha", "1", 1.0),
        ("n_points", "auto", "auto"),
        ("n_points", "16", 16),
        ("signal", "uniform", "uniform"),
        ("granularity", "step", "step"),
        ("granularity", "token=0.25,step=0.75", {"token": 0.25, "step": 0.75}),
        ("weight_range", "0,2.5", (0.0, 2.5)),
        ("seed", "-3", -3),
    ],
)
def test_texts_become_values(name: str, text: str, value: object) -> None:
    read = BY_NAME[name].read(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("alpha", "half", "a number"),
        ("n_points", "1.5", "auto or a whole number"),
        ("signal", "hora", "hara, uniform"),
        ("granularity", "token=much", "shares"),
        ("weight_range", "3", "two numbers"),
    ],
)
def test_other_texts_are_refused_with_what_is_expected(name: str, text: str, expected: str) -> None:
    option = "--" + name.replace("_", "-")
    with pytest.raises(InvalidInputError, match=f"{option} is '{text}'.*{expected}"):
        BY_NAME[name].read(text)


def run_with(arguments: list[str]) -> tuple[dict[str, Any], str]:
    seen: dict[str, Any] = {}

    def verb(run: str, **settings: str | None) -> None:
        """A verb."""
        seen.update(run=run, **read_settings(settings, Example))

    app = typer.Typer()
    app.command()(with_config_options(verb, Example))
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    return seen, result.output


def test_only_what_was_given_is_handed_on() -> None:
    seen, _ = run_with(["r", "--alpha", "0.1", "--weight-range", "0.5,2"])
    assert seen == {"run": "r", "alpha": 0.1, "weight_range": (0.5, 2.0)}


def test_the_help_names_every_field_with_choices_default_and_meaning() -> None:
    _, shown = run_with(["--help"])
    for name in BY_NAME:
        assert f"--{name.replace('_', '-')}" in shown
    assert "hara|uniform" in shown
    assert "auto|N" in shown
    assert "How much of it. (default: 0.5)" in shown
    assert "(default: 0.2,3.0)" in shown
