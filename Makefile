# Everything on a fresh machine: only Python 3.11+, a C++ compiler and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup browser demo test test-slow coverage fuzz lint pytest bench reproduce clean

help:
	@echo "make demo       unfold a rolled sheet; write map, model and page to demo-output/"
	@echo "make test       check style, types and imports; run all tests except the slow ones"
	@echo "make test-slow  run only the slow tests"
	@echo "make coverage   run the tests of make test and list the lines that none of them reaches"
	@echo "make fuzz       run property tests with new examples for MINUTES=60 in JOBS processes (all cores)"
	@echo "make lint       only check style, types and imports"
	@echo "make bench      measure time and memory beside peers; tables go to benchmarks/results/"
	@echo "make reproduce  run the experiments of the papers into experiment-output/ (hours; POINTS=120: minutes)"
	@echo "make setup      only create $(VENV)"
	@echo "make clean      remove $(VENV), demo-output/ and caches"

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml setup.py $(shell find src -name "*.pyx" -o -name "*.h")
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "isofold needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev --editable ".[all]"
	@touch $@

# The report page is tested in a real browser. Root on Debian gets one here; elsewhere install
# Chromium or Chrome, or else these tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install chromium; } \
	|| echo "No Chromium found: the tests of the report page will be skipped."

demo: setup
	$(BIN)/isofold demo demo-output --force

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One process for every core: threads of BLAS would be too many, and those of OpenMP must not spin
# while they wait. Compiled tests are kept for the next run, also where Python writes no such files.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE PYTHONDONTWRITEBYTECODE= \
	$(BIN)/python -m pytest -n auto --dist worksteal

pytest: setup browser
	$(PYTEST)

test: lint pytest

test-slow: setup browser
	$(PYTEST) -m slow

# Counting lines makes tests markedly slower, and nothing depends on the count.
coverage: setup browser
	$(PYTEST) --cov --cov-report=term

MINUTES ?= 60
JOBS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count())')
fuzz: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz.py --minutes $(MINUTES) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

bench: setup
	$(BIN)/python -m benchmarks

# POINTS=120 rehearses all experiments in minutes: the same tables from few points.
reproduce: setup
	$(BIN)/python -m experiments --out experiment-output $(if $(POINTS),--points $(POINTS))

clean:
	rm -rf $(VENV) demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
