# Everything below sets up what it needs in .venv, benchmarks in .venv-bench, and is quick when that is already there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.run-ready
DEV_READY := $(VENV)/.dev-ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
WORKERS ?= auto
BENCH ?= run.py
# Where this is set, every process reads all sources anew, which is a third of what a short command takes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-fast lint bench fuzz faults soak figures docs clean

help:
	@echo "make demo       set up, then teams and a report for a firm that is made up: half a minute"
	@echo "make test       set up, then lint, type check, and run all tests with coverage"
	@echo "make test-fast  the tests that are quick: about six minutes on two cores"
	@echo "make lint       ruff and mypy only"
	@echo "make bench      run the benchmarks beside other programs, and rewrite benchmarks/RESULTS.md: for hours"
	@echo "make fuzz       give every reader inputs that are almost right, for ten minutes; runs add up in build/fuzz.json"
	@echo "make faults     let everything fail that can at every write of every command: some 4,900 faults, an hour or two"
	@echo "make soak       random logs with known truth through the whole pipeline, for an hour"
	@echo "make figures    compute the figures of docs/paper again, and their page: about 50 minutes on two cores"
	@echo "make docs       build the documentation into site/"
	@echo "make clean      remove the virtual environments and everything built"

%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "coterie needs Python 3.11 or later; say make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $*

$(RUN_READY): requirements.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(DEV_READY): requirements-dev.txt $(RUN_READY)
	@# Most modules of what comes with these are never imported: Python compiles those that are, when they are.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	@touch $@

$(BENCH_READY): benchmarks/requirements.txt requirements.txt pyproject.toml | $(BENCH_VENV)/bin/python
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@# Not every machine has a build of pygambit before 17, and making one takes a C++ compiler and many minutes: make bench BUILD=pygambit.
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(if $(filter pygambit,$(BUILD)),,--only-binary=:all:) pygambit==16.7.0 || echo "no pygambit: not compared with"
	@touch $@

demo: $(RUN_READY)
	$(BIN)/coterie demo

lint: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" --cov --cov-report=term
	@# Simulations run a fifth longer while every line is counted, and reach none that others do not.
	$(BIN)/python -m pytest -n $(WORKERS) -m slow --dist loadgroup

test-fast: $(DEV_READY)
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

bench: $(BENCH_READY)
	@# One alone: make bench BENCH="rivals.py --games 3"; all in their shortest forms: make bench BENCH="run.py --quick".
	$(BENCH_VENV)/bin/python benchmarks/$(BENCH)

fuzz: $(DEV_READY)
	@# More of it: make fuzz FUZZ="--seconds 36000", one reader alone: make fuzz FUZZ="xlsx --executions 1000",
	@# led by what inputs reach: make fuzz FUZZ="--guided".
	PYTHONPATH=tests nice -n 19 $(BIN)/python -m fuzz $(FUZZ)

faults: $(DEV_READY)
	@# Less of it: make faults FAULTS="--every 10", one command alone: make faults FAULTS="simulate --kinds errors".
	PYTHONPATH=tests nice -n 19 $(BIN)/python -m faults $(FAULTS)

soak: $(DEV_READY)
	@# For less than an hour: make soak SOAK="--seconds 600".
	PYTHONPATH=tests nice -n 19 $(BIN)/python -m soak $(SOAK)

figures: $(DEV_READY)
	@# Finished games of this version stay in build/figures, so that an interrupted run goes on where it stopped:
	@# after a change to what they are computed with, remove build/figures/cells first.
	$(BIN)/coterie reproduce all --out build/figures
	cp build/figures/*.csv build/figures/*.png build/figures/summary.json docs/paper/figures/
	$(BIN)/python tools/paper/page.py docs/paper/figures docs/paper/results.md

docs: $(DEV_READY)
	@# Not --quiet: mkdocs then counts no warnings, and --strict does nothing.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

clean:
	rm -rf $(VENV) $(BENCH_VENV) site build dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
