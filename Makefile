# make run                  opens the page
# make check                format, lint, types, import contracts; of the TypeScript too
# make test                 make check, and tests that check each promise once
# make test-rest            what make test leaves out: all other tests, and all examples of property tests
# make test-all             make test, then make test-rest
# make test AREA=explore    all tests of one folder of app or model
#
# Another Python than the one called python3: make run PYTHON=python3.13

PYTHON ?= python3
bin := .venv/bin
pytest := $(bin)/pytest --numprocesses=auto --dist=worksteal
checks := types javascript-types javascript-lint javascript-bundles contracts lint format

# If it were set, each server, worker and command that the tests start would compile all Python files again.
unexport PYTHONDONTWRITEBYTECODE

run: .venv/run.stamp
	@$(bin)/headlight

# The slowest check first, and two at a time.
check: packages
	@$(MAKE) --no-print-directory --jobs=2 $(checks)

ifdef AREA
test: packages browser
	@tests=$$($(bin)/python -m tests.area $(AREA)) && $(pytest) $$tests
else
test: check browser
	$(pytest) -m "not full"
endif

test-rest: packages browser
	$(pytest) -m "full or hypothesis"

test-all: test
	@$(MAKE) --no-print-directory test-rest

types: ; $(bin)/mypy
javascript-types: ; $(bin)/python -m tests.javascript.node types
javascript-lint: ; $(bin)/python -m tests.javascript.node lint
javascript-bundles: ; $(bin)/python -m tests.javascript.node bundle-check kernel-check
contracts: ; $(bin)/lint-imports --no-logo
lint: ; $(bin)/ruff check
format: ; $(bin)/ruff format --check

packages: .venv/test.stamp
	@$(bin)/python -m tests.javascript.node

browser: .venv/test.stamp
	@$(bin)/python -m tests.browser.chromium

# A stamp is as old as the last installation; if one of its files is newer, make installs again.
constraints := --constraint tests/constraints.txt
.venv/run.stamp: extras := .
.venv/test.stamp: extras := .[test]
.venv/%.stamp: pyproject.toml tests/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Headlight needs Python 3.11 or newer, and this one is " + sys.version.split()[0] + ". Name another: make $* PYTHON=python3.13")'
	@test -x $(bin)/pip || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (the first time takes a few minutes) ..."
	@$(bin)/pip install --quiet --disable-pip-version-check $(constraints) --editable '$(extras)'
	@touch $@

.PHONY: run check test test-rest test-all packages browser $(checks)
