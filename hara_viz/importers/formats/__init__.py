"""The layouts that are known, in the order in which they are tried; narrow ones first.

A new layout is a file with a `FORMAT` and a line here.
"""

from hara_viz.errors import InvalidInputError
from hara_viz.importers.foreign import Format
from hara_viz.importers.formats import (
    generic,
    nemo_rl,
    open_instruct,
    prime_rl,
    relax,
    roll,
    skyrl,
    trl,
    verifiers,
    verl,
)

FORMATS: tuple[Format, ...] = (
    trl.FORMAT,
    verl.FORMAT,
    prime_rl.FORMAT,
    verifiers.FORMAT,
    nemo_rl.FORMAT,
    open_instruct.FORMAT,
    skyrl.FORMAT,
    relax.FORMAT,
    roll.FORMAT,
    generic.FORMAT,
)


def format_named(name: str) -> Format | None:
    """The layout of this name; None for "auto".

    Raises:
        InvalidInputError: there is none.
    """
    if name == "auto":
        return None
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    if name == "openrlhf":
        raise InvalidInputError(
            "OpenRLHF writes no rollouts to files; save them in its training loop as one JSON "
            "object each (prompt, completion, reward, step) and use --format generic"
        )
    if name == "slime":
        raise InvalidInputError(
            "slime's dumps are pickles, which can run code when they are read; load them where you "
            "trust them, write one JSON object per sample and use --format generic"
        )
    known = ", ".join(format_.name for format_ in FORMATS)
    raise InvalidInputError(f"there is no format {name!r}; choose auto or one of {known}")
