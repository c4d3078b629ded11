"""The `hara-viz` command. Thin: it reads options, calls one function of `backend`, prints.

frame      the verbs (loaded when they are called), errors as one sentence, exit codes
progress   a `Report` that draws a progress bar, or plain lines where there is no terminal
<verb>     one file a verb, each with an `app`

Exit codes: 0 done · 1 our fault or the machine's · 2 bad input · 130 stopped with Ctrl-C.
"""


def main() -> None:
    """Entry point of the `hara-viz` script."""
    from hara_viz.cli.frame import app

    app()
