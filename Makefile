# Two commands matter: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := runs/demo

.PHONY: demo test setup lint types contract doctest examples unit fast explore hostile perf clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "foresee needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(READY)
	rm -rf $(DEMO)
	$(BIN)/foresee search nasbench201 --searcher evolution --evaluations 500 --max-params 600k \
	  --seed 1 --engine processes --out $(DEMO)

test: lint types contract doctest examples unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

contract: $(READY)
	$(BIN)/lint-imports

doctest: $(READY)
	$(BIN)/pytest -q -p no:cacheprovider --doctest-modules src/foresee -n 2

examples: $(READY)
	$(BIN)/python -m pytest -q tests/examples

unit: $(READY)
	$(BIN)/pytest -q -n 2 --dist worksteal --ignore tests/examples

# The core without the slow tests, for while you work.
fast: $(READY)
	$(BIN)/pytest -q -n 2 -m 'not slow and not browser' --ignore tests/examples

# Every property on many new examples; before a release.
explore: $(READY)
	FORESEE_EXPLORE=20 $(BIN)/pytest -q -n 2 --dist worksteal -m hypothesis --ignore tests/examples

# Hostile input and faults for HOSTILE_MINUTES (60), seed HOSTILE_SEED (0), HOSTILE_KINDS or all; see docs/reliability.md.
hostile: $(READY)
	$(BIN)/python -m hostile

# Speed and memory beside the straightforward implementation and beside earlier runs; see perf/README.md.
perf: $(READY)
	$(BIN)/python -m perf

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache .hypothesis
