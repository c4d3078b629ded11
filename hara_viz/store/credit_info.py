"""Which credit a run keeps: fingerprints, and `credit/<fingerprint>/config.json`."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hara_viz.credit.config import METHOD_VERSION, CreditConfig
from hara_viz.errors import FormatError, HaraError, MissingInputError
from hara_viz.store import layout
from hara_viz.store.reader import Run
from hara_viz.store.schema import SCHEMA_VERSION
from hara_viz.store.states import describe_states, states_folder
from hara_viz.store.text_json import to_json

_FILE_NAME = "config.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditInfo:
    """One credit that a run keeps, and all that its numbers hang on besides the rollouts."""

    config: CreditConfig
    layer: int | None
    """None: a signal that reads no states."""
    source: str | None = None
    """Fingerprint of the checkpoint whose states were used; None: the run's own."""
    states: str = ""
    """How the states were stored: norm, dtype, projection."""
    rewards_version: str | None = None
    method_version: int = METHOD_VERSION

    @property
    def fingerprint(self) -> str:
        """16 hex digits; the same while the run grows, another when any input changes."""
        text = to_json({**asdict(self), "config": self.config.to_json()})
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe_credit(
    run: Run, config: CreditConfig, layer: int | None, *, source: str | None = None
) -> CreditInfo:
    """The credit that a config gives on a run as it is now.

    Raises:
        MissingInputError: The run has no states of the layer.
    """
    states, source = "", None if layer is None else run.source_of(source)
    if layer is not None:
        folder = states_folder(run.path, layer, source)
        parts = layout.list_parts(folder, ".safetensors")
        if not parts:
            held = ", ".join(map(str, run.layers_of(source))) or "none"
            raise MissingInputError(
                f"{run.path} holds no states of layer {layer} (layers held: {held}); fill them in "
                "with `hara-viz states`"
            )
        states = describe_states(folder / f"{parts[0]}.safetensors")
    return CreditInfo(
        config=config,
        layer=layer,
        source=source,
        states=states,
        rewards_version=run.rewards_version,
    )


def list_credit(run: Run) -> tuple[CreditInfo, ...]:
    """What the run keeps; credit of a newer version, or damaged, is left out."""
    folder = run.path / layout.CREDIT
    found: list[CreditInfo] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        try:
            found.append(read_info(path))
        except HaraError:  # a cache: it is computed again under its new name
            continue
    return tuple(found)


def credit_folder(run: Path, fingerprint: str) -> Path:
    """Where a credit lies.

    Raises:
        FormatError: The fingerprint, which may come from a link, is none.
    """
    if not re.fullmatch(r"[0-9a-f]{16}", fingerprint):
        raise FormatError(f"{fingerprint!r} is not the fingerprint of a credit")
    return run / layout.CREDIT / fingerprint


def info_to_json(info: CreditInfo) -> str:
    """The content of `config.json`."""
    document = {
        "schema_version": SCHEMA_VERSION,
        **asdict(info),
        "config": json.loads(info.config.to_json()),
    }
    return to_json(document, indent=2) + "\n"


def read_info(folder: Path) -> CreditInfo:
    """Read `config.json`.

    Raises:
        MissingInputError, FormatError: It is missing, damaged, or of a newer version.
    """
    path = folder / _FILE_NAME
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
        document.pop("schema_version")
        config = CreditConfig.from_json(json.dumps(document.pop("config")))
        info = CreditInfo(config=config, **document)
    except FileNotFoundError:
        raise MissingInputError(f"{folder} keeps no credit; compute it again") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{path} is damaged or newer ({error}); compute it again") from error
    if info.fingerprint != folder.name:
        raise FormatError(f"{path} belongs to the credit {info.fingerprint}; compute it again")
    return info


def info_path(run: Path, fingerprint: str) -> Path:
    """Where `config.json` of a credit lies."""
    return credit_folder(run, fingerprint) / _FILE_NAME
