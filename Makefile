# Every target sets up what it needs; nothing has to be installed by hand but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONSTRAINTS ?=  # a file of versions to install, as in: make CONSTRAINTS=constraints.txt test
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(strip $(CONSTRAINTS)),--constraint $(CONSTRAINTS))
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
# Tests wait for brokers, for disks, and for a kernel that another worker compiles: meanwhile one more can go on.
WORKERS = $(shell expr $(CORES) + 1)
# Bytecode is kept: tests start dozens of programs, and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
# The tests of a file share what they have started, and the quickest come last.
BY_FILE := --dist loadfile --no-loadscope-reorder

.PHONY: demo test quick test-all check bench docs changelog release clean

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'fedbandit needs Python 3.11 or newer: run make PYTHON=/path/to/python3.11'; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(INSTALL) --editable '.[docs]'
	@touch $@

demo: $(VENV)/installed  ## what federation is good for, in half a minute
	$(BIN)/fedbandit demo

test: $(VENV)/installed-dev  ## all tests but the long ones
	$(BIN)/python -m pytest -n $(WORKERS) $(BY_FILE) -m 'not slow'

quick: $(VENV)/installed-dev  ## the tests that take under a minute
	$(BIN)/python -m pytest -n $(WORKERS) $(BY_FILE) -m 'not slow and not long'

test-all: $(VENV)/installed-dev  ## the long ones too
	$(BIN)/python -m pytest -n $(CORES) $(BY_FILE)

check: $(VENV)/installed-dev  ## lint, format, types, import rules
	$(BIN)/ruff check src tests benchmarks notebooks
	$(BIN)/ruff format --check src tests benchmarks notebooks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-dev  ## speed and memory, with the floor beside each row
	$(BIN)/python -m benchmarks

docs: $(VENV)/installed-docs  ## the documentation as a site, in site/
	$(BIN)/mkdocs build --strict

$(VENV)/installed-release: $(VENV)/installed-dev
	$(INSTALL) --editable '.[release]'
	@touch $@

changelog: $(VENV)/installed-dev  ## join the fragments under the version of src/fedbandit/core/version.py
	$(BIN)/towncrier build --yes --version $$($(BIN)/python -c 'import fedbandit; print(fedbandit.__version__)')

release: $(VENV)/installed-release  ## build wheel and sdist in dist/, check them, and try the wheel in a clean environment
	rm -rf dist build/try
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/try
	build/try/bin/python -m pip install --quiet --disable-pip-version-check $(if $(strip $(CONSTRAINTS)),--constraint $(CONSTRAINTS)) dist/*.whl
	cd build/try && bin/fedbandit --version && bin/fedbandit demo
	@echo 'dist/ is ready: see CONTRIBUTING.md for what is left to do'

clean:  ## everything that make made
	rm -rf $(VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
