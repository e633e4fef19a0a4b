# Everything runs in .venv, which is made from requirements.lock when that or pyproject.toml has changed.
PYTHON ?= python3
PROFILE ?= everyday
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PYTEST := $(BIN)/pytest --hypothesis-profile=$(PROFILE) -n auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

.PHONY: demo test lint fast slow format docs bench bench-small fuzz fuzz-release lock clean
.NOTPARALLEL:

demo: $(READY)  ## analyse a real program and show what its reflective calls reach
	$(BIN)/heliograph demo

test: lint fast slow  ## everything that must hold

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Heliograph needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lint: $(READY)  ## style, types, the layers of the folders
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

fast: $(READY)  ## tests that take seconds
	$(PYTEST) -m "not slow"

slow: $(READY)  ## whole archives, whole programs, other implementations
	$(PYTEST) -m slow --durations=40

format: $(READY)  ## lay the code out
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY)  ## renew the README's generated tables
	$(BIN)/cog -r README.md

bench: $(READY)  ## time, memory and reach beside another analyser
	$(BIN)/python -m tests.benchmarks

bench-small: $(READY)  ## the same for one small program
	$(BIN)/python -m tests.benchmarks.small

fuzz: $(READY)  ## damaged files, as many as a commit has to pass, beside the JVM
	$(BIN)/python -m tests.fuzz

fuzz-release: $(READY)  ## as many as a release has to pass; goes on where it stopped
	$(BIN)/python -m tests.fuzz --release

lock: $(READY)  ## renew the pinned versions (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --fork-strategy fewest \
	  --generate-hashes --custom-compile-command "make lock" --upgrade --quiet -o requirements.lock

clean:  ## all that was made here
	rm -rf $(VENV) build *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
