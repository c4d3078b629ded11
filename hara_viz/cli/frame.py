"""The frame of the command: its verbs, loaded on demand, and what the user sees when one fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hara_viz import __version__
from hara_viz.errors import HaraError
from hara_viz.text.terminal import plain

VERBS = {
    "sample": "Sample grouped rollouts from a checkpoint, verify them, keep their states.",
    "states": "Fill in hidden states, log-probabilities, or the log-ratio to a checkpoint.",
    "import": "Import another framework's rollout dumps as a run.",
    "score": "Judge a run again with another reward; the old verdicts are kept.",
    "credit": "Compute token-level credit of a run (no model needed) and keep it.",
    "annotate": "Put a verdict right, bookmark or note a rollout; list what was said.",
    "show": "Print pass rates, advantages and the most novel spans of a run.",
    "export": "Write a page, a picture, weights for a trainer, tables or a dataset.",
    "compare": "Compare runs on the same problems: curves, paired tests, a report.",
    "jobs": "List, stop and resume the jobs that the app or you started.",
    "app": "Open the app in the browser.",
}
INTERRUPTED = 130

# Typer has its own copy of click's exceptions since 0.25 and click's before: take what it raises.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
CommandError: type[Exception] = UsageError.__bases__[0]


class VerbGroup(TyperGroup):
    """Shows all verbs without loading them; turns every failure into one sentence."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands.update({name: TyperCommand(name, help=text) for name, text in VERBS.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The real command instead of the line that stands for it in the help."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in VERBS:
            module = "import_" if name == "import" else name  # a keyword of Python
            command = typer.main.get_command(import_module(f"hara_viz.cli.{module}").app)
        return name, command, rest

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; ends with `SystemExit`, whatever happens."""
        words = list(sys.argv[1:] if args is None else args)
        # Wherever it stands: who meets an error appends --debug to the line just typed.
        options = words[: words.index("--")] if "--" in words else words
        debug = "--debug" in options
        if debug:
            words.remove("--debug")
        try:
            status = super().main(words, prog_name or "hara-viz", complete_var, False, **extra)
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        except Exception as error:
            if debug:
                raise
            status = _explain(error)
        sys.exit(status if isinstance(status, int) else 0)


def _explain(error: Exception) -> int:
    """Print what went wrong as one sentence; returns the exit code."""
    if isinstance(error, HaraError):
        return _fail(str(error), 2)
    if isinstance(error, CommandError):
        message = getattr(error, "format_message", error.__str__)()
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "hara-viz"
        return _fail(f"{message.rstrip('.')} ('{path} --help' lists what it takes)", 2)
    if isinstance(error, BrokenPipeError):  # `hara-viz show | head`
        sys.stdout = None  # pyright: ignore[reportAttributeAccessIssue]
        return 1
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return _fail(f"the system refused: {error.strerror or error}{where}", 1)
    what = f"{type(error).__name__}: {error}"
    return _fail(f"this is a fault of hara-viz, {what}; --debug shows where", 1)


def _fail(sentence: str, code: int) -> int:
    # Sentences quote files and model output: no control codes, and one line.
    sys.stderr.write(f"hara-viz: {plain(sentence)}\n")
    return code


app = typer.Typer(
    cls=VerbGroup,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hara-viz {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def frame(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback when something fails.")
    ] = False,
) -> None:
    """See, token by token, where the credit of an RLVR rollout goes and why."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
