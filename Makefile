# make demo   set everything up and run the demonstration
# make test   set everything up and run the whole test suite
# make quick  the test suite without the slow tests
# make check  lint, types, import contracts, documentation examples
# make bench  the benchmarks, written to docs/performance.md
# make dist   build the distribution, check what is in it, and run the demonstration from it in a fresh environment

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
JOBS ?= 2

.PHONY: demo test quick check format bench clean

demo: $(VENV)/.core
	$(BIN)/rldp demo

test: $(VENV)/.dev
	$(BIN)/pytest -n $(JOBS) --durations=5

quick: $(VENV)/.dev
	$(BIN)/pytest -n $(JOBS) -m "not slow"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q --doctest-modules src/rldp --doctest-glob='*.md' README.md docs

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/rivals.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/release.py

.PHONY: dist
dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	touch $(VENV)/.core $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[test,dev,bench]'
	touch $@

$(VENV)/.dist: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --editable '.[dist]'
	touch $(VENV)/.core $@

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
