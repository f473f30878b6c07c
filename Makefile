# make demo   set everything up and run the demonstration
# make test   set everything up and run the whole test suite
# make test-spark  the tests that start Spark, which needs Java 17
# make quick  the test suite without the slow tests, two cases of each; CASES=1000 runs all
# make test-js  the JavaScript client: types, tests in Node and in a browser, damaged files against Python's reader; needs Node 20
# make docs   build the site from docs/ and examples/ into build/docs; every example is run
# make check  lint, types, import contracts, plain English, documentation examples
# make test-browser  the pages in a real browser, Chromium; pictures go to build/pictures
# make bench  the benchmarks, written to docs/performance.md
# make bench-side  beside other people's methods, written to docs/side-by-side.md; its data are named in benchmarks/preprocessing_tables.py
# make bench-spark  the benchmark of Spark, written to docs/clients.md
# make reproduction  the paper's figures and claims, written to docs/reproduction.md
# make promises  what every promise costs, written to docs/promises.md; goes on where it was stopped
# make dist   build the distribution, check what is in it, and run the demonstration from it in a fresh environment
#
# The same results everywhere:
# make kernels  numerical tests under each OpenBLAS kernel that the processor can run beside its own
# make oldest   numerical tests with the lowest Python and libraries that pyproject.toml allows, by nox and uv
# make pythons  numerical tests under each other Python that pyproject.toml names and that is at hand, by nox
# They run two cases of each test, so that all three take about three minutes on two cores.
#
# Before a release:
# make faults  plant the faults of tests/faults.toml, one at a time, and see that the tests notice each
# make faults-js  the same for the JavaScript client and clients/javascript/tests/faults.json
# make mutations  ten thousand changed protocol files, of which the judge must accept none that claims what is false

PYTHON ?= python3
VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
# The pip of an older Python does not know dependency groups.
PIP_WITH_GROUPS := 'pip>=25.1'
INSTALL = $(BIN)/python -m pip install --quiet $(PIP_WITH_GROUPS) && $(BIN)/python -m pip install --quiet
# The extras that the tests are about.
TESTED := .[paper,dask,report,sklearn]
JOBS ?= 2
CASES ?= 2
NUMERICAL := -n $(JOBS) -q -m 'numerical and not slow' --cases $(CASES)
# The rooms whose numbers linear algebra computes.
LINEAR := tests/designer tests/theory tests/measures tests/test_sets.py

# The tests start Python a hundred times, and make starts them under many kernels: keep compiled modules.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-spark quick kernels oldest pythons faults mutations check docs format bench reproduction clean

demo: $(VENV)/.core
	$(BIN)/rldp demo

test: $(VENV)/.dev
	$(BIN)/pytest -n $(JOBS) --durations=5

# Where there is no Chromium, pytest says so and skips. RLDP_PICTURES=docs/figures makes those of the documentation anew.
.PHONY: test-browser
test-browser: $(VENV)/.browser
	$(BIN)/pytest -m browser tests/browser -rs --durations=5

test-spark: $(VENV)/.spark
	$(BIN)/pytest --spark -m spark -rs

quick: $(VENV)/.dev
	$(BIN)/pytest -n $(JOBS) -m "not slow" --cases $(CASES)

.PHONY: test-js
test-js: $(VENV)/.dev
	@command -v npm > /dev/null || { echo "make test-js needs Node 20 or later, with npm" >&2; exit 1; }
	cd clients/javascript && npm ci && npm run check && npm test
	$(BIN)/python clients/javascript/tests/fuzz.py

kernels: $(VENV)/.dev
	$(BIN)/python tools/kernels.py $(BIN)/pytest $(NUMERICAL) $(LINEAR)

oldest pythons: $(VENV)/.dev
	$(BIN)/nox -s $@ -- $(NUMERICAL)

faults: $(VENV)/.dev
	$(BIN)/python tools/faults.py --jobs $(JOBS)

.PHONY: faults-js
faults-js:
	cd clients/javascript && npm ci && npm run faults

mutations: $(VENV)/.dev
	RLDP_MUTATED_FILES=10000 $(BIN)/pytest -n $(JOBS) tests/judge/test_mutations.py tests/test_chain_promises.py

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_words.py
	$(BIN)/pytest -q --doctest-modules src/rldp --ignore=src/rldp/spark.py --ignore=src/rldp/clients/spark.py --doctest-glob='*.md' --ignore-glob='docs/*.py' README.md docs

docs: $(VENV)/.docs
	rm -rf build/docs docs/api docs/gallery
	JOBS=$(JOBS) $(BIN)/python -m sphinx -q -W --keep-going -n -E -j $(JOBS) -d build/doctrees docs build/docs
	$(BIN)/python tools/check_site.py build/docs

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/rivals.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/credible_time.py
	$(BIN)/python benchmarks/release.py
	$(BIN)/python benchmarks/folders.py
	$(BIN)/python benchmarks/estimation.py

reproduction: $(VENV)/.dev
	$(BIN)/python benchmarks/reproduction.py

.PHONY: bench-side
bench-side: $(VENV)/.bench
	$(BIN)/python benchmarks/preprocessing.py $(if $(ADULT),--adult $(ADULT)) $(if $(COMPAS),--compas $(COMPAS)) $(if $(PUBLISHED),--published $(PUBLISHED))

.PHONY: bench-spark
bench-spark: $(VENV)/.spark
	$(BIN)/python benchmarks/spark.py

.PHONY: promises
promises: $(VENV)/.dev
	$(BIN)/python benchmarks/promises.py

.PHONY: dist
dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python tools/check_dist.py dist

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --group test --group dev --editable '$(TESTED)'
	touch $(VENV)/.core $@

$(VENV)/.browser: $(VENV)/.dev
	$(INSTALL) --group browser
	touch $@

$(VENV)/.spark: $(VENV)/.dev
	$(INSTALL) --editable '.[spark]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) --group bench
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --group docs --editable '.[plots,sklearn]'
	touch $(VENV)/.core $@

$(VENV)/.dist: pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --group dist --editable .
	touch $(VENV)/.core $@

clean:
	rm -rf clients/javascript/node_modules
	rm -rf $(VENV) .nox dist build docs/api docs/gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis
