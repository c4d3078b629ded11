"""One module per claim of speed: `python -m benchmarks.<name>` prints a table and JSON."""
