# Everything a newcomer needs: make demo, make test. Needs Python 3.11 to 3.13, git and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
UV_VERSION := 0.13.8
export PATH := $(CURDIR)/$(BIN):$(PATH)
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
	  { echo "Python 3.11 to 3.13 is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) can't make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Making the virtual environment …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python requirements.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

.PHONY: demo
demo: $(READY) ## See it work: a live table rolled out, with a planted fault and its repair
	@instar demo

.PHONY: test
test: $(READY) ## Run the tests
	pytest -m "not long"

.PHONY: test-long
test-long: $(READY) ## Run the long tests too
	pytest

.PHONY: lint
lint: $(READY) ## Run the linters and the type checker
	ruff check .
	ruff format --check .
	mypy
	lint-imports

.PHONY: up
up: $(READY) ## Start Airflow on 127.0.0.1 and print URL and login
	@instar up

.PHONY: down
down: $(READY) ## Stop what make up started
	@instar down

.PHONY: doctor
doctor: $(READY) ## Examine this machine, Spark, the store and Airflow
	@instar doctor

.PHONY: bench
bench: bench-overhead bench-codec bench-parts bench-catalog ## Run all benchmarks

.PHONY: bench-overhead
bench-overhead: $(READY) ## Measure what a job and a gate cost at least
	@python bench/overhead.py

.PHONY: bench-codec
bench-codec: $(READY) ## Measure the row codec against protobuf's own library
	@python -m bench.codec

.PHONY: bench-parts
bench-parts: $(READY) ## Measure reading and writing part files
	@python -m bench.parts

.PHONY: bench-catalog
bench-catalog: $(READY) ## Measure the catalog against deltalake and pyiceberg
	@python -m bench.catalog

.PHONY: lock
lock: $(READY) ## Resolve requirements.lock anew and export requirements.txt
	uv pip compile pyproject.toml --group dev --universal --no-header --no-annotate --generate-hashes --quiet -o requirements.lock
	grep -v '^ *--hash' requirements.lock | sed 's/ *\\$$//' > requirements.txt

.PHONY: proto
proto: $(READY) ## Generate code from the .proto files
	python -m grpc_tools.protoc -Ilibs --python_out=libs --pyi_out=libs $$(cd libs && find instar -name '*.proto' | sed 's#^#libs/#')

.PHONY: clean
clean: ## Stop everything and remove what was made
	@if [ -x $(BIN)/instar ]; then instar down; fi
	rm -rf $(VENV) .work
