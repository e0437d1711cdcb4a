# The interface of the project: what a person or CI does with it is a target here. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Quiet twice: errors are shown, warnings about the state of somebody's pip are not.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check -c constraints.txt

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP_INSTALL) -e '.[dev]'
	@touch $@

.PHONY: demo
demo: $(VENV)/ready ## compact the example transcripts offline, into build/demo
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash fixtures/demo.sh build/demo

.PHONY: ci
ci: test lint types imports check-readme ## everything that must pass

.PHONY: test
test: $(VENV)/ready ## run the tests, then try the built wheel
	@$(BIN)/pytest -n 2
	@$(MAKE) --no-print-directory wheel-test

# The wheel is tried where no source lies about: what was not packed is missed here and nowhere else.
.PHONY: wheel-test
wheel-test: $(VENV)/ready ## install the built wheel in a new environment and compact one fixture
	@fixture=$$(find "$(CURDIR)/fixtures/transcripts" -name '*.jsonl' | LC_ALL=C sort | head -n 1); \
	room=$$(mktemp -d); trap 'rm -rf "$$room"' EXIT; \
	$(BIN)/python -m build --no-isolation --wheel --outdir "$$room" > "$$room/log" 2>&1 || { cat "$$room/log"; exit 1; }; \
	$(PYTHON) -m venv "$$room/venv"; \
	"$$room/venv/bin/python" $(PIP_INSTALL) "$$room"/*.whl; \
	cd "$$room"; export HOME="$$room"; \
	venv/bin/compactor --version > version; \
	venv/bin/compactor --help > help; \
	venv/bin/compactor compact "$$fixture" -o out/ --state-dir states > log 2>&1 || { cat log; exit 1; }; \
	ls venv/lib/python3*/site-packages/compactor/{py.typed,schemas/*.json} > packed; \
	for made in version help out/"$$(basename "$$fixture")"; do \
	  test -s "$$made" || { echo "wheel-test: $$made is empty or missing" >&2; exit 1; }; \
	done

# Of conpact the constraints and the instance builder are used, so what its data set needs is not installed.
.PHONY: quality
quality: $(VENV)/ready ## measure what survives compaction (offline, three minutes)
	@$(BIN)/python $(PIP_INSTALL) --no-deps conpact==0.1.0
	@$(BIN)/python -m tests.quality

.PHONY: lint
lint: $(VENV)/ready ## style and format (ruff)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check || { $(BIN)/ruff format --diff; exit 1; }

.PHONY: types
types: $(VENV)/ready ## types (mypy, strict)
	@$(BIN)/mypy --no-error-summary

.PHONY: imports
imports: $(VENV)/ready ## who may import whom (import-linter)
	@report=$$($(BIN)/lint-imports --no-logo) || { echo "$$report"; exit 1; }

.PHONY: check-readme
check-readme: $(VENV)/ready ## what README.md shows is what really happens
	@$(BIN)/python -m tests.check_readme

.PHONY: resume-check
resume-check: $(VENV)/ready ## do the real clients resume what was compacted? (installs them from npm; not part of ci)
	@$(BIN)/python -m tests.resume_check

.PHONY: live-check
live-check: $(VENV)/ready ## does a real model write summaries? (asks $$COMPACTOR_BASE_URL for $$COMPACTOR_MODEL; not part of ci)
	@$(BIN)/python -m tests.live_check

.PHONY: bench
bench: $(VENV)/ready ## measure speed and what a summary keeps
	@$(BIN)/python -m tests.bench

.PHONY: clean
clean: ## remove what was built, except the environment
	@rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find compactor fixtures tests -name __pycache__ -type d -exec rm -rf {} +
