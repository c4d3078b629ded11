"""`CreditConfig` seen from outside: form fields and link values. Pure; no Streamlit.

Everything is read off the dataclass, so a new field shows up in the drawer and in links by itself.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError, HaraError

DEFAULT = CreditConfig()
# Field names that lead a credit setting in a link: "credit.alpha=0.7".
PREFIX = "credit."
LEVELS = ("token", "step", "rollout")


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of `CreditConfig` as a form shows it."""

    name: str
    kind: Literal["choice", "float", "int", "auto_int", "range", "levels"]
    choices: tuple[str, ...]
    """For "choice" and "levels"; empty otherwise."""
    default: Any
    help: str


@cache
def field_specs() -> dict[str, FieldSpec]:
    """All fields of `CreditConfig`, in the order of the dataclass."""
    hints = get_type_hints(CreditConfig)
    helps = _field_docs()
    specs = (
        _spec(f.name, hints[f.name], getattr(DEFAULT, f.name), helps.get(f.name, ""))
        for f in fields(CreditConfig)
    )
    return {spec.name: spec for spec in specs}


def _spec(name: str, hint: Any, default: Any, help_text: str) -> FieldSpec:
    literals = tuple(str(value) for value in _literals(hint))
    if name == "granularity":
        return FieldSpec(
            name, "levels", literals or ("token", "step", "rollout"), default, help_text
        )
    if isinstance(default, tuple):
        return FieldSpec(name, "range", (), default, help_text)
    if _mentions(hint, int) and isinstance(default, str):
        return FieldSpec(name, "auto_int", literals or (default,), default, help_text)
    if isinstance(default, str):
        return FieldSpec(name, "choice", literals, default, help_text)
    kind = "int" if isinstance(default, int) else "float"
    return FieldSpec(name, kind, (), default, help_text)


def _literals(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for part in get_args(hint) for value in _literals(part))


def _mentions(hint: Any, kind: type) -> bool:
    return hint is kind or any(_mentions(part, kind) for part in get_args(hint))


def _field_docs() -> dict[str, str]:
    """The string under each field of the class body, which Python itself throws away."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(CreditConfig)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    docs: dict[str, str] = {}
    for before, node in itertools.pairwise(body):
        if not (isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs[before.target.id] = " ".join(str(node.value.value).split())
    return docs


def to_text(value: Any) -> str:
    """A field's value as a link writes it; only characters that a URL leaves as they are."""
    if isinstance(value, Mapping):
        return "_".join(f"{level}-{share!r}" for level, share in value.items())
    if isinstance(value, tuple):
        return "..".join(repr(part) for part in value)
    return value if isinstance(value, str) else repr(value)


def from_text(name: str, text: str) -> Any:
    """The inverse of `to_text` for the field `name`; ConfigError if it cannot be read."""
    spec = field_specs().get(name)
    if spec is None:
        raise ConfigError(f"there is no credit setting {name!r}; it was left out")
    try:
        return _read(spec, text)
    except ValueError as error:
        expected = {"int": "a whole number", "range": "two numbers such as 0.2..3.0"}
        raise ConfigError(
            f"credit setting {name} is {text!r}; it must be {expected.get(spec.kind, 'a number')}"
        ) from error


def _read(spec: FieldSpec, text: str) -> Any:
    if spec.kind == "float":
        return float(text)
    if spec.kind == "int" or (spec.kind == "auto_int" and text not in spec.choices):
        return int(text)
    if spec.kind == "range":
        low, high = text.split("..")
        return float(low), float(high)
    if spec.kind == "levels" and "-" in text:
        shares = (part.partition("-") for part in text.split("_"))
        return {level: float(share) for level, _, share in shares}
    return text


def changed_fields(config: CreditConfig) -> dict[str, str]:
    """Field name -> text, for the fields that differ from the defaults."""
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    return {n: to_text(v) for n, v in values.items() if v != getattr(DEFAULT, n)}


def config_from(changes: Mapping[str, str]) -> tuple[CreditConfig, tuple[str, ...]]:
    """The config that `changed_fields` described, and a sentence for each value left out.

    Values are taken one by one, so that one bad value costs only itself.
    """
    config, notes = DEFAULT, []
    for name, text in changes.items():
        try:
            config = replace(config, **{name: from_text(name, text)})
        except HaraError as error:
            notes.append(str(error))
    return config, tuple(notes)
