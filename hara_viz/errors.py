"""Errors that a user can act on. Each is also the standard-library error it stands for.

A message names what was found, what was expected and what to do. A new error class is added only
when some caller would catch it apart from the others.
"""


class HaraError(Exception):
    """Base of all errors that HarA-Viz raises on purpose."""


class InvalidInputError(HaraError, ValueError):
    """A value, file or option that cannot be used as it is."""


class ShapeError(InvalidInputError):
    """Two arrays that must agree in shape do not."""


class ConfigError(InvalidInputError):
    """A configuration field is out of its range or names something unknown."""


class MissingInputError(HaraError, FileNotFoundError):
    """A file, directory or run that was named does not exist."""

    def __str__(self) -> str:
        # FileNotFoundError formats (errno, text) pairs; ours is always one sentence.
        return str(self.args[0]) if self.args else ""


class FormatError(InvalidInputError):
    """A file exists but is not what it claims to be."""


class SchemaError(FormatError):
    """A run was written by a newer version, or breaks the schema."""


class ModelError(HaraError, RuntimeError):
    """A checkpoint could not be loaded or run."""


class UnsafeError(HaraError, PermissionError):
    """The request would run foreign code or leave the allowed roots."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class StoreError(HaraError, OSError):
    """A run could not be written or locked: disk full, no permission, another writer."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
