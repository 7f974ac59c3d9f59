# Every target sets up what it needs; nothing has to be installed by hand but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)

.PHONY: demo test test-all check bench docs clean

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'fedbandit needs Python 3.11 or newer: run make PYTHON=/path/to/python3.11'; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

demo: $(VENV)/installed  ## what federation is good for, in half a minute
	$(BIN)/fedbandit demo

test: $(VENV)/installed-dev  ## all tests but the long ones
	$(BIN)/python -m pytest -n $(CORES) -m 'not slow'

test-all: $(VENV)/installed-dev  ## the long ones too
	$(BIN)/python -m pytest -n $(CORES)

check: $(VENV)/installed-dev  ## lint, format, types, import rules
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-dev  ## speed and memory, with the floor beside each row
	$(BIN)/python -m benchmarks

docs: $(VENV)/installed-docs  ## the documentation as a site, in site/
	$(BIN)/mkdocs build --strict

clean:  ## everything that make made
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
