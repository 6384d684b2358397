# Two commands for a fresh machine: `make book` and `make test`. Both make a virtual environment in
# .venv and install pinned packages first; a second run finds that done.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# CONSTRAINTS=/dev/null takes the newest of everything instead of the pins.
CONSTRAINTS ?= constraints.txt
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS)
INPUTS := pyproject.toml constraints.txt
JOBS ?= 2

.PHONY: help book test lint notebooks bench pins clean
.DEFAULT_GOAL := help

help:
	@echo "make book       execute every stale chapter and render the book to _build/html"
	@echo "make test       lint, then all tests with coverage"
	@echo "make lint       ruff and mypy"
	@echo "make notebooks  write the paired .ipynb beside each chapter"
	@echo "make bench      benchmarks, peers in the same run"
	@echo "make pins       write constraints.txt and environment.yml from what is installed"
	@echo "make clean      remove _build and caches (.venv stays)"

book: $(VENV)/.installed
	$(BIN)/matpcr book --jobs $(JOBS)

test: lint
	$(BIN)/python -m pytest --cov-fail-under=90

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

notebooks: $(VENV)/.installed
	$(BIN)/matpcr notebooks

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

pins: $(VENV)/.installed-test $(VENV)/.installed-bench
	$(BIN)/python .ci/pins.py

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find notebooks -name '*.ipynb' -delete
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Error: $(PYTHON) is missing or older than 3.11; name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.installed: $(INPUTS) | $(BIN)/python
	@echo "installing (a few minutes the first time)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-test $(VENV)/.installed-bench: $(VENV)/.installed-%: $(INPUTS) | $(VENV)/.installed
	@echo "installing what '$*' needs"
	@$(PIP_INSTALL) --editable '.[$*]'
	@touch $@
