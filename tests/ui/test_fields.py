from __future__ import annotations

from dataclasses import fields, replace

import pytest

from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError
from hara_viz.ui.fields import (
    FieldSpec,
    config_from,
    field_specs,
    from_text,
    to_text,
)
from hara_viz.ui.presets import CUSTOM, PRESETS, preset_of


def test_every_field_of_the_config_has_a_form_field_with_help() -> None:
    specs = field_specs()
    assert list(specs) == [f.name for f in fields(CreditConfig)]
    for spec in specs.values():
        assert spec.help, f"{spec.name} has no docstring"
        assert spec.kind != "choice" or spec.default in spec.choices


def test_kinds_follow_the_types() -> None:
    specs = field_specs()
    assert specs["alpha"].kind == "float"
    assert specs["n_anchors"].kind == "int"
    assert specs["n_support"].kind == "auto_int"
    assert specs["weight_range"].kind == "range"
    assert specs["granularity"].kind == "levels"
    assert specs["signal"].kind == "choice"
    assert "leave_one_out" in specs["reference"].choices


@pytest.mark.parametrize("spec", field_specs().values(), ids=lambda s: s.name)
def test_defaults_and_choices_survive_the_text(spec: FieldSpec) -> None:
    for value in (spec.default, *spec.choices):
        assert from_text(spec.name, to_text(value)) == value


def test_unreadable_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="two numbers"):
        from_text("weight_range", "0.2")
    config, notes = config_from({"alpha": "0.25", "epsilon": "-1"})
    assert config == replace(CreditConfig(), alpha=0.25)
    assert len(notes) == 1 and "epsilon" in notes[0]


def test_presets_are_recognised() -> None:
    for name, config in PRESETS.items():
        assert preset_of(config) == name
    assert preset_of(replace(CreditConfig(), alpha=0.123)) == CUSTOM
