# `make demo` and `make test` need nothing but a python3 (3.11 or newer) with its venv module; see `make help`.
VENV := .venv
BIN := $(VENV)/bin
PACKAGING := pyproject.toml reproductions/pyproject.toml reproductions/version.py
PYTEST_ARGS ?= -n 2 --dist loadgroup
N ?= 100000
SEED ?= 1
ONLY ?=
OLDER ?= tests/sums tests/inference tests/reward_models tests/estimators/test_normaliser.py
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test nightly fast lint format types layers docs compiled pytest older mutants fuzz versions canary tables chromium java postgres clean
# Tests start many processes: what is compiled of the sources is kept, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## Simulate a log, judge two new rankers from it, write the report
	$(BIN)/offrank demo

# What does not reach folds and intervals needs no older processor.
test: $(VENV)/.installed-dev ## Everything that CI checks, the tests last
	$(MAKE) --no-print-directory -j3 --output-sync=target lint docs compiled $$($(BIN)/python -m tests.older)
	$(MAKE) --no-print-directory pytest

fast: lint ## While you work: style, types, layers and the tests that matter most, in a minute
	$(BIN)/pytest -q -n 2 -m "not slow and not browser" @tests/fast.txt

lint: $(VENV)/.installed-dev ## Style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev ## Put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-dev ## Build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Otherwise the first test of each worker compiles it, at the same time.
compiled: $(VENV)/.installed-dev
	folder=$$(mktemp -d) && cd $$folder && $(abspath $(BIN))/offrank demo --quiet && rm -r $$folder

pytest: $(VENV)/.installed-dev chromium java postgres ## Only the tests; PYTEST_ARGS="-n 0 -k ips" picks some
	$(BIN)/pytest $(if $(OFFRANK_TESTS),--durations 50) $(PYTEST_ARGS)

nightly: export OFFRANK_TESTS := whole
nightly: test ## All tests, those too that are too long for each push, and what took longest

older: $(VENV)/.installed-dev ## Folds and intervals as an older processor computes them; OLDER=tests/clicks picks others
	PYTHON=$(abspath $(BIN)/python) scripts/as-older-processor $(BIN)/pytest -q $(PYTEST_ARGS) $(OLDER)

mutants: $(VENV)/.installed-dev ## Change a line of the code at a time: do its tests notice? (an hour)
	$(BIN)/python scripts/mutants.py

fuzz: $(VENV)/.installed-dev ## Judge N=100000 random logs on all cores, beside an oracle (10,000 in some two minutes); SEED=2 draws others
	$(BIN)/python -m tests.fuzz --cases $(N) --seed $(SEED)

versions: java ## Do the core tests pass with the oldest and the newest libraries, on each Python that is here? (an hour)
	scripts/versions

canary: java ## The same with pre-releases of everything
	scripts/versions --set pre

tables: $(VENV)/.installed-dev ## Make every table of docs/tables anew, on this commit (days); ONLY="judged runs" picks some
	$(BIN)/python benchmarks/tables.py --only "$(ONLY)"

chromium:
	@scripts/ensure-chromium

java:
	@scripts/ensure-java

postgres:
	@scripts/ensure-postgres

clean: ## Remove the environment, caches and builds
	rm -rf $(VENV) site build dist .*_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp is as old as the newest install from the present files. Both packages are installed: offrank and offrank-papers.
# What builds them is there once: an environment for each build takes longer than the build.
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
define installed
	scripts/ensure-venv $(VENV)
	$(INSTALL) hatchling editables
	$(INSTALL) --no-build-isolation --no-deps --editable . --editable reproductions
endef

$(VENV)/.installed: $(PACKAGING) scripts/ensure-venv
	$(installed)
	$(INSTALL) offrank offrank-papers
	touch $@

$(VENV)/.installed-dev: $(PACKAGING) scripts/ensure-venv
	$(installed)
	$(INSTALL) 'offrank[dev,docs]' offrank-papers
	touch $@ $(VENV)/.installed
