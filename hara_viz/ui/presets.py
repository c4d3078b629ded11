"""Named credit configurations. Pure; no Streamlit."""

from __future__ import annotations

from dataclasses import replace

from hara_viz.credit import CreditConfig
from hara_viz.ui.fields import DEFAULT

PRESETS: dict[str, CreditConfig] = {
    "GRPO (uniform)": replace(DEFAULT, signal="uniform"),
    "HarA": DEFAULT,
    "HarA step level": replace(DEFAULT, granularity="step"),
    "SHEAR": replace(DEFAULT, signal="shear"),
    "Entropy": replace(DEFAULT, signal="entropy"),
}
CUSTOM = "Custom"


def preset_of(config: CreditConfig) -> str:
    """The name of the preset that `config` equals, or CUSTOM."""
    return next((name for name, preset in PRESETS.items() if preset == config), CUSTOM)
