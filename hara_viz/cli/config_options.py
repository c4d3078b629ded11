"""A config dataclass as options of a verb: names, choices, defaults and help are read off it.

So a new field of `CreditConfig` is an option by itself, and the command never says anything else
than the class does. Field types that are understood: float, int, str, `Literal`, a pair of floats
(written 0.2,3.0), a whole number or a word (16 or auto), a level or shares of levels (token, or
token=0.5,step=0.5).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from hara_viz.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field, as an option shows and reads it."""

    name: str
    choices: tuple[str, ...]
    """Words that it may be; empty: no words."""
    numbers: type[int] | type[float] | None
    """The kind of number that it may be, if any."""
    is_pair: bool
    takes_shares: bool
    default: Any
    help: str

    @property
    def option(self) -> str:
        """As it is typed: "--weight-range"."""
        return "--" + self.name.replace("_", "-")

    @property
    def metavar(self) -> str:
        """What stands after the option in the help."""
        if self.is_pair:
            return "LOW,HIGH"
        number = {int: "N", float: "X", None: ""}[self.numbers]
        shares = "LEVEL=SHARE,…" if self.takes_shares else ""
        return "|".join(part for part in (*self.choices, number, shares) if part)

    def read(self, text: str) -> Any:
        """The field's value.

        Raises:
            InvalidInputError: the text is of another form (ranges are the class's own business).
        """
        if text in self.choices:
            return text
        try:
            if self.is_pair:
                low, high = text.split(",")
                return float(low), float(high)
            if self.takes_shares and "=" in text:
                shares = (part.partition("=") for part in text.split(","))
                return {level: float(share) for level, _, share in shares}
            if self.numbers is not None:
                return self.numbers(text)
        except ValueError:
            pass
        raise InvalidInputError(f"{self.option} is {text!r}; it must be {self._expected()}")

    def _expected(self) -> str:
        forms = {int: "a whole number", float: "a number", None: ""}
        number = "two numbers such as 0.2,3.0" if self.is_pair else forms[self.numbers]
        shares = "shares such as token=0.5,step=0.5" if self.takes_shares else ""
        return " or ".join(part for part in (", ".join(self.choices), number, shares) if part)


def config_fields(config: type) -> tuple[ConfigField, ...]:
    """All fields of a config class with defaults, in its order."""
    hints, helps, defaults = get_type_hints(config), _field_docs(config), config()
    return tuple(
        _field(f.name, hints[f.name], getattr(defaults, f.name), helps.get(f.name, ""))
        for f in fields(config)
    )


def with_config_options(function: Callable[..., None], config: type) -> Callable[..., None]:
    """`function(…, **settings)` with its settings spelt out as options, None where not given."""
    signature = inspect.signature(function, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, _option(field, config.__name__)],
        )
        for field in config_fields(config)
    ]

    def command(**values: Any) -> None:
        function(**values)

    command.__doc__ = function.__doc__
    command.__annotations__ = {p.name: p.annotation for p in (*own, *options)}
    command.__signature__ = inspect.Signature([*own, *options])  # pyright: ignore[reportFunctionMemberAccess]
    return command


def read_settings(settings: Mapping[str, str | None], config: type) -> dict[str, Any]:
    """The fields that were given, read; the rest keep the class's defaults."""
    by_name = {field.name: field for field in config_fields(config)}
    return {n: by_name[n].read(text) for n, text in settings.items() if text is not None}


def _option(field: ConfigField, panel: str) -> Any:
    shown = field.default
    if isinstance(shown, tuple):
        shown = ",".join(str(part) for part in shown)
    return typer.Option(
        field.option,
        metavar=field.metavar,
        help=f"{field.help} (default: {shown})".strip(),
        show_default=False,
        rich_help_panel=panel,
    )


def _field(name: str, hint: Any, default: Any, help_text: str) -> ConfigField:
    kinds = _alternatives(hint)
    words = tuple(value for kind in kinds for value in _words(kind))
    if isinstance(default, str) and default not in words:
        words = (*words, default)
    return ConfigField(
        name=name,
        choices=words,
        numbers=float if float in kinds else int if int in kinds else None,
        is_pair=isinstance(default, tuple),
        takes_shares=any(_is_mapping(kind) for kind in kinds),
        default=default,
        help=help_text,
    )


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union, else the hint alone."""
    if get_origin(hint) is Literal or not get_args(hint) or _is_mapping(hint):
        return (hint,)
    if get_origin(hint) is tuple:
        return (hint,)
    return tuple(kind for part in get_args(hint) for kind in _alternatives(part))


def _words(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(str(value) for value in get_args(kind))
    if _is_mapping(kind):  # a level alone is a share of 1
        return _words(get_args(kind)[0]) if get_args(kind) else ()
    return ()


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _field_docs(config: type) -> dict[str, str]:
    """The string under each field of the class body, which Python itself does not keep."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(config))).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    docs: dict[str, str] = {}
    for before, node in pairwise(body):
        if not (isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs[before.target.id] = " ".join(str(node.value.value).split())
    return docs
