# make run    opens the page
# make test   checks everything, as CI does
#
# Another Python than the one called python3: make run PYTHON=python3.13

PYTHON ?= python3
bin := .venv/bin

# Else each of the servers, workers and commands that the tests start would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE

run: .venv/run.stamp
	@$(bin)/headlight

test: .venv/test.stamp
	@$(bin)/python -m tests.browser.chromium
	@$(bin)/python -m tests.javascript.node
	$(bin)/ruff format --check
	$(bin)/ruff check
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	$(bin)/pytest --numprocesses=auto --dist=worksteal

# The stamps hold what was installed against pyproject.toml. With the test extras in place, the page needs nothing more.
.venv/run.stamp: extras := .
.venv/test.stamp: extras := .[test]
.venv/%.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Headlight needs Python 3.11 or newer, and this one is " + sys.version.split()[0] + ". Name another: make $* PYTHON=python3.13")'
	@test -x $(bin)/pip || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (the first time takes a few minutes) ..."
	@$(bin)/pip install --quiet --disable-pip-version-check --editable '$(extras)'
	@touch $@

.PHONY: run test
