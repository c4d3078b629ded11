"""`python -m hara_viz.cli` is `hara-viz`."""

from hara_viz.cli import main

main()
