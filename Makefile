# One command from a fresh clone: `make release`. Needs Python 3.11 to 3.13, make and a package index; nothing outside this folder is written.
# The newest Python of this machine that the lock files are for; `make PYTHON=/path/to/python3.12 …` takes another.
PYTHON ?= $(shell for found in python3.13 python3.12 python3.11 python3; do $$found -c $(IS_OURS) 2>/dev/null && echo $$found && break; done)
IS_OURS := 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# What the site, notebooks and the tests in a browser need besides.
DOCS_READY    := $(VENV)/.ready-docs
BROWSER_READY := $(VENV)/.ready-browser
DEMO   := var/demo
# Tests run in a process a core; those of one file stay together, and share what they prepare. Long files begin (tests/conftest.py).
SIDE_BY_SIDE := -n auto --dist loadfile --no-loadscope-reorder
# Laws on a quarter of their examples, or with THOROUGH=yes on all of them; also full-size runs; these by themselves.
LAWS := $(if $(THOROUGH),--hypothesis-profile=all)
WHOLE := -m "not exhaustive" $(LAWS)
FULL_SIZE := -m "slow and not exhaustive" $(LAWS)
# With MEASURED=yes the tests of ROOMS are measured, full-size runs too, and run nowhere else.
OTHER_ROOMS = $(if $(MEASURED),$(addprefix --ignore=,$(ROOMS)))
UNIVERSAL := --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header
MAKEFLAGS += --no-print-directory

# Nothing of the user's: no caches, settings or Airflow of the home folder.
export UV_CACHE_DIR := $(CURDIR)/$(VENV)/cache
export UV_NO_CONFIG := 1
export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

HASHED := --require-hashes --no-deps --only-binary :all:
LOUDNESS := $(shell test -t 2 || echo --quiet)  # a terminal sees how far it is

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-all lock release up down test tests test-all test-beyond test-faults test-stack mutants coverage docs docs-pages findings sbom vulnerabilities bench-cta bench-attack bench-rounding bench-suppression bench-rival bench-linked bench-readers compare lint clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment in .venv, from the lock files; does nothing when it is there

$(READY): requirements-dev.lock requirements.lock pyproject.toml
	@$(or $(PYTHON),python3) -c $(IS_OURS) 2>/dev/null || \
		{ echo "$(or $(PYTHON),python3) is no Python 3.11, 3.12 or 3.13. Remedy: install one, or make PYTHON=/path/to/python3.13 …" >&2; exit 1; }
	@echo "environment: .venv from requirements-dev.lock: 1.1 GB, a minute or more by the index"
	@echo "[1/3] uv, which installs"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/uv.lock
	@$(BIN)/python -m pip install --quiet $(HASHED) --requirement $(VENV)/uv.lock
	@echo "[2/3] $$(grep -c '^[a-z0-9].*==' requirements-dev.lock) packages"
	@PYTHONPATH=tests $(BIN)/python -m support.supply.as_pip pip sync $(LOUDNESS) --python $(BIN)/python --require-hashes requirements-dev.lock || \
		{ echo "uv could not. pip does, which takes longer" >&2; $(BIN)/python -m pip install $(HASHED) --requirement requirements-dev.lock; }
	@echo "[3/3] sdc"
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@rm -rf $(UV_CACHE_DIR)/*  # the packages are installed
	@touch $@

setup-all: $(READY) $(DOCS_READY) $(BROWSER_READY)  ## setup, and at once what the targets docs, test-beyond and test-stack add to it

# A new $(READY) has removed these packages.
$(VENV)/.ready-%: requirements-%.lock $(READY)
	@echo "environment: .venv, also $<"
	@PYTHONPATH=tests $(BIN)/python -m support.supply.as_pip pip install $(LOUDNESS) --python $(BIN)/python --require-hashes --no-deps --requirement $< || \
		{ echo "uv could not. pip does, which takes longer" >&2; $(BIN)/python -m pip install $(HASHED) --requirement $<; }
	@rm -rf $(UV_CACHE_DIR)/*
	@touch $@

lock: $(READY)  ## pins anew what pyproject.toml asks for, for every Python and machine; keeps the pins that still fit
	@env -u UV_NO_CONFIG $(BIN)/uv pip compile $(UNIVERSAL) pyproject.toml --extra stack --output-file requirements.lock
	@env -u UV_NO_CONFIG $(BIN)/uv pip compile $(UNIVERSAL) pyproject.toml --extra release --constraints requirements.lock --output-file requirements-sdc.lock
	@env -u UV_NO_CONFIG $(BIN)/uv pip compile $(UNIVERSAL) pyproject.toml --extra dev --constraints requirements.lock --output-file requirements-dev.lock
	@for part in docs browser; do \
		env -u UV_NO_CONFIG $(BIN)/uv pip compile $(UNIVERSAL) pyproject.toml --extra $$part --constraints requirements-dev.lock \
			--output-file requirements-$$part.lock || exit 1; done

$(DEMO)/.written: $(READY) $(wildcard sdc_tasks/demo/*.py sdc_tasks/domains/*.yaml sdc_tasks/domains/codelists/*.csv)
	@rm -rf $(DEMO)
	@$(BIN)/sdc demo $(DEMO)
	@touch $@

release: $(DEMO)/.written  ## a whole release of seeded deliveries through Airflow, in one process: var/release
	@$(BIN)/python dags/run_here.py --domain sbs --period 2024 --inbox $(DEMO)/inbox --out var/release

up: $(DEMO)/.written  ## all servers of a deployment as processes of this machine, and a first release: http://127.0.0.1:8080
	@$(BIN)/python docker/stack.py up --demo $(DEMO)/inbox

down:  ## ends what `make up` started
	@$(BIN)/python docker/stack.py down

lint: $(READY)  ## ruff, mypy, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# Type checks take one core for most of a minute; tests do not wait for them.
test: $(READY)  ## lint, SBOM and the tests, but for full-size runs: minutes; MEASURED=yes: and coverage; THOROUGH=yes: laws on all examples
	@$(MAKE) --jobs lint sbom tests

tests: $(READY)
	@$(if $(MEASURED),$(MAKE) coverage)
	@$(BIN)/pytest $(SIDE_BY_SIDE) $(LAWS) $(OTHER_ROOMS)

test-all: $(READY)  ## everything: make test, test-beyond and test-faults, laws on all their examples; hours
	@$(MAKE) test test-beyond MEASURED=yes THOROUGH=yes
	@$(MAKE) test-faults

test-beyond: setup-all  ## what make test leaves out: full-size runs, more faults, then test-stack
	@$(BIN)/pytest $(SIDE_BY_SIDE) $(FULL_SIZE) $(OTHER_ROOMS)
	@$(MAKE) test-stack

# Python 3.11 counts lines by a trace function, which makes tests half as long again and more (3.12 and later: a tenth, by
# COVERAGE_CORE=sysmon). So some rooms are measured: the unit tests, and the examples by hand of cell suppression with some of its commands.
# The floor is what they reach by themselves. All of it: make coverage ROOMS=tests
ROOMS ?= tests/unit $(wildcard $(addprefix tests/,golden/test_suppression_*.py golden/test_linked_tables.py golden/test_recoding_*.py \
	acceptance/test_cli_intervals.py acceptance/test_cli_protect.py acceptance/test_cli_suppress_linked.py))
FLOOR ?= 72
coverage: $(READY)  ## the quick tests, and that they run FLOOR percent of the lines of the program; ROOMS="…" measures others
	@rm -rf var/coverage && mkdir -p var/coverage
	@$(BIN)/coverage run -m pytest $(SIDE_BY_SIDE) $(WHOLE) $(ROOMS)
	@$(BIN)/coverage combine -q
	@$(BIN)/coverage report --fail-under=$(FLOOR) > var/coverage/report.txt || { tail -n 25 var/coverage/report.txt; exit 1; }
	@grep TOTAL var/coverage/report.txt

# It takes longer than a check of a change may.
test-faults: $(READY)  ## the whole exhaustive search: a release killed before each of its writes, 20 000 statements, every forged chain
	@$(BIN)/pytest $(SIDE_BY_SIDE) -m "exhaustive or not exhaustive" tests/faults
	@$(BIN)/pytest $(SIDE_BY_SIDE) -m exhaustive --hypothesis-profile=all --ignore=tests/faults

test-stack: $(READY) $(BROWSER_READY)  ## tests against all servers: PostgreSQL and Redis of the system (apt), Celery, REST, pages in a browser
	@$(BIN)/pytest $(wildcard tests/stack tests/browser)

docs: $(READY) $(DOCS_READY)  ## the pages of docs/ as a site, without a network: var/docs/index.html
	@$(BIN)/python docs/generate.py
	@$(BIN)/sphinx-build -q -E -W --keep-going -d var/doctrees docs var/docs
	@echo "var/docs/index.html"

docs-pages: $(READY)  ## the pages that are made from the program: domain file, command line, API; the list of findings
	@$(BIN)/python docs/generate.py
	@$(BIN)/python findings/run.py --readme

findings: $(READY)  ## what other software does that one would guess otherwise, from a package index, half an hour; ARGS="NAME …"
	@$(BIN)/python findings/run.py $(ARGS)

mutants: $(READY)  ## changes that each take a guarantee away: does a test notice? tests/mutants/RESULTS.md; ARGS="--module attack"
	@PYTHONPATH=tests $(BIN)/python -m mutants.run $(ARGS)

sbom: $(READY)  ## what is in a release and under which licences, held against the lock, as CycloneDX: var/sbom.json
	@PYTHONPATH=tests $(BIN)/python -m support.supply.sbom var/sbom.json

vulnerabilities: $(READY)  ## known ones among the pins, offline: OSV=FOLDER with advisories of OSV (JSON)
	@PYTHONPATH=tests $(BIN)/python -m support.supply.vulnerabilities "$(OSV)"

bench-cta: $(READY)  ## CTA beside plain solvers on named tables, hours in all: tests/benchmarks/RESULTS.md; ARGS="--help"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.run $(ARGS)

bench-attack: $(READY)  ## audits and safe bases on named releases: tests/benchmarks/ATTACK.md; ARGS="--quick", ARGS="--help"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.attack_run $(ARGS)

bench-rounding: $(READY)  ## rounding on named tables, up to census size: tests/benchmarks/ROUNDING*.md; ARGS="--quick", ARGS="--help"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.rounding_run $(ARGS)

bench-suppression: $(READY)  ## every method of cell suppression on named tables: tests/benchmarks/SUPPRESSION.md; ARGS="--limit 20"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.suppression_run $(ARGS)

bench-rival: $(READY)  ## cell suppression of 60 random tables beside pytauargus, an hour or two: tests/benchmarks/SUPPRESSION_RIVAL.md; ARGS="--every 10"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.suppression_rival_run $(ARGS)

bench-linked: $(READY)  ## tables of one statistic decided together and one after the other, minutes: tests/benchmarks/TOGETHER.md; ARGS="--orders 1"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.together_run $(ARGS)

bench-readers: $(READY)  ## every reader of deliveries on a million records, minutes: tests/benchmarks/READERS.md; ARGS="--share 0.01"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.readers_run $(ARGS)

compare: $(READY)  ## methods of this program and of others on 48 tables, judged alike, ten minutes: docs/comparison.md; ARGS="--only even"
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.compare_run $(ARGS)

clean:  ## removes what was made, but not the environment
	@rm -rf var build *.egg-info .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
