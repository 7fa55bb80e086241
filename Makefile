# Every target sets up what it needs in .venv/. `make demo` shows the library at work, `make test` runs the tests.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# The rooms that know no OpenTelemetry.
ROOMS := compactor dedup detector digest engine escalator extract history redaction runtime
COMMA := ,
CORE := otel_errcompact/config.py,otel_errcompact/errors.py,otel_errcompact/exceptions.py$(foreach room,$(ROOMS),$(COMMA)otel_errcompact/$(room)/*)

# The tests start many programs of their own: without it each of them would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test test-fast test-model wheel integrations e2e bench-quality lint format types layers bench docs dashboards corpus clean

help: ## Show this list.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[otlp,cli]' --group test --group lint --group dashboards --group e2e
	@touch $@

install: $(READY) ## Install the library, its command line and all tools into .venv/.

demo: install ## A scripted agent fails, reads digests, recovers and escalates.
	@$(BIN)/errcompact demo

test: install ## Run the tests; the core must be covered to 100 %, everything to 95 %.
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal -m 'not matrix'
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --include='$(CORE)' --fail-under=100
	$(BIN)/coverage report --fail-under=95

test-fast: install ## Run the tests that take no time.
	$(BIN)/pytest -n 2 -m 'not slow and not matrix'

test-model: install ## Run the model extractor on a real small model; what runs it compiles for minutes the first time.
	@# Virtual processors announce more than they can: code for the very machine may die of an illegal instruction.
	CMAKE_ARGS=-DGGML_NATIVE=OFF $(BIN)/uv pip install --quiet --python $(BIN)/python --group model
	$(BIN)/pytest -m slow tests/test_model.py

wheel: install ## Test the wheel where the checkout is not: bare, with extras, with the oldest and newest OpenTelemetry.
	$(BIN)/pytest -n 2 -m matrix

e2e: install ## Build the real programs once (needs Go), start the whole chain, ask each what arrived; the page in a browser.
	$(BIN)/python -m e2e.build
	$(BIN)/python -m e2e.browser
	@# Most of it is waiting, so that two chains fit beside each other.
	$(BIN)/pytest e2e -n 2 --dist loadfile --durations 10

integrations: install ## Test each integration in an environment of its own, and the matrix in the README.
	$(BIN)/python -m tests.integrations --oldest

lint: install ## Check style, spelling and the project file.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml

format: install ## Mend what can be mended by itself.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install ## Check the types twice, both times strictly.
	$(BIN)/mypy
	$(BIN)/pyright

layers: install ## Check that the layers flow one way.
	$(BIN)/lint-imports

bench: install ## Measure our cost beside the SDK's, and memory and hostile input.
	$(BIN)/python benchmarks/cost.py

docs: install ## Write the pages that are made from tables in the code.
	$(BIN)/python -m docs.generate

dashboards: install ## Write the dashboards and the alert rules from their definitions.
	$(BIN)/python -m dashboards

bench-quality: install ## Measure keys, tokens and what survives on labelled errors, beside other tools.
	$(BIN)/python -m benchmarks.quality

corpus: install ## Bring real tools to fail and record what they say in corpus/.
	$(BIN)/python -m corpus.provoke

clean: ## Remove everything that was made.
	rm -rf .venv .environments dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
