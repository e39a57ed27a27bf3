# Every target sets up what it needs; only Python 3.11 or newer must be installed.
# uv is used if it is installed, venv and pip otherwise.

PYTHON ?= python3
ARGS ?=
JOBS ?= 2
VERSIONS ?= v1.35.8 v1.36.4 v1.37.1
PY := .venv/bin/python

# The tests start many interpreters; without bytecode each would compile every module again.
export PYTHONDONTWRITEBYTECODE :=

# Recipes use relative paths, so that the path of this folder may contain spaces.
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# uv does not read pip's settings; these are meant for both.
empty :=
comma := ,
ifdef PIP_FIND_LINKS
export UV_FIND_LINKS ?= $(subst $(empty) $(empty),$(comma),$(strip $(PIP_FIND_LINKS)))
endif
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif
ifdef PIP_NO_INDEX
export UV_NO_INDEX ?= $(PIP_NO_INDEX)
endif

# A .venv that uv created has no pip.
with_pip = $(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip --default-pip >/dev/null

# The distributions of this repository, editable, each with the extras that its tests need. One
# command installs all, so that each finds its siblings.
DISTRIBUTIONS := --editable 'packages/kubeloop[compression,metrics,operator,protobuf,socks,tracing]' \
  --editable packages/kubeloop-testing --editable packages/kubeloop-cli

# $(call install,WHAT,FOR): install packages and requirements, at the pinned versions.
define install
@echo 'setting up .venv for $(2), once; this takes a minute or two'; \
if command -v uv >/dev/null 2>&1; then \
  uv pip install --quiet --python $(PY) --constraint constraints.txt $(1); \
else \
  $(with_pip); $(PY) -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt $(1); \
fi
endef

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

.PHONY: test
test: .venv/.ready ## run the tests; ARGS="-k word" selects some
	$(PY) tools/run_tests.py $(ARGS)

.PHONY: test-assets
test-assets: assets ## run the tests that `make test` skips without the programs of `make assets`
	$(PY) tools/run_tests.py $(ARGS) \
	  $$(sed -n '/^\[without-assets\]/,/^\[/s/ |.*//p' tests/expected_skips.txt)

.PHONY: test-alone
test-alone: .venv/.ready ## run each test file in its own process; JOBS=4, ARGS=packages/kubeloop-cli/tests/cli
	$(PY) tools/run_alone.py --jobs $(JOBS) $(ARGS)

# Without tools/run_tests.py: a test that fails in this order, and passes alone, has to fail here.
.PHONY: test-random
test-random: .venv/.ready ## run the tests in a random order; SEED=7 repeats the order of a run
	$(PY) -m pytest --shuffle "$${SEED:-$$(date +%s)}" $(ARGS)

.PHONY: check
check: .venv/.ready ## check format, lint, words, types and import contracts; changes nothing
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) tools/stop_words.py
	$(PY) tools/private_reaches.py
	$(PY) -m mypy
	.venv/bin/lint-imports

.PHONY: format
format: .venv/.ready ## format the sources and apply safe fixes of the linter
	$(PY) -m ruff check --fix-only --quiet .
	$(PY) -m ruff format .

.PHONY: hooks
hooks: .venv/.ready ## check format, lint and words of the changed files at every `git commit`
	$(PY) -m pre_commit install

.PHONY: names
names: .venv/.ready ## write the public names to packages/*/public_names.txt
	$(PY) tools/public_names.py

.PHONY: reference
reference: .venv/.ready ## write docs/reference from the sources; ARGS=--check only compares
	$(PY) tools/reference_pages.py $(ARGS)

.PHONY: words
words: .venv/.ready ## list the words that the glossary replaces
	$(PY) tools/stop_words.py

.PHONY: assets
assets: .venv/.ready ## build or copy etcd, kube-apiserver and kubectl into ~/.cache/kubeloop, once
	$(PY) tools/assets.py $(if $(VERSION),--version $(VERSION))

.PHONY: test-real
test-real: assets ## run conformance, faults, streams and examples against kube-apiserver
	$(PY) tools/run_tests.py tests/conformance tests/campaign/test_real_campaign.py tests/kubelet \
	  tests/examples packages/kubeloop/tests/runtime/test_conversion_asked.py \
	  tests/peers/test_controller_manager.py --kube envtest $(ARGS)

# The files that test kubeloop's own client; the others describe the pinned kube-apiserver.
.PHONY: test-versions
test-versions: assets ## test the client with the Kubernetes versions that versioning.md names
	@for version in $(VERSIONS); do \
	  folder=$$($(PY) tools/assets.py --version $$version); \
	  echo "== kube-apiserver $$version"; \
	  KUBEBUILDER_ASSETS="$$folder" $(PY) tools/run_tests.py --kube envtest \
	    tests/conformance/test_edits.py tests/conformance/test_patches.py tests/kubelet \
	    tests/campaign/test_real_campaign.py packages/kubeloop/tests/runtime/test_conversion_asked.py $(ARGS); \
	done

.PHONY: test-peers
test-peers: assets .venv/.ready ## run other clients' tests on both servers; ARGS="kopf kr8s"
	$(PY) tools/peers.py $(ARGS)

.PHONY: golden
golden: .venv/.ready ## run the golden cases with client-go (needs Go); ARGS=--check only compares
	$(PY) -m tests.golden $(ARGS)

.PHONY: record
record: assets ## record kube-apiserver's responses to the cases of tests/conformance/cases
	$(PY) -m tests.conformance $(ARGS)

.PHONY: soak
soak: .venv/.ready ## run the property tests and simulations for long: 1,000 faults, runs and seeds
	HYPOTHESIS_PROFILE=soak SOAK_FAULTS=$${SOAK_FAULTS:-1000} SOAK_RUNS=$${SOAK_RUNS:-1000} \
	  $(PY) -m pytest -m 'hypothesis or campaign' --timeout=3600 $(ARGS)

.PHONY: bench
bench: .venv/.bench ## compare with other clients; ARGS="--only wire --markdown"
	$(PY) -m bench $(ARGS)

.PHONY: bench-full
bench-full: .venv/.bench ## run all benchmarks for longer, with plots in build/bench
	$(PY) -m bench --full $(ARGS)

.PHONY: demo
demo: .venv/.demo ## run the demo: a server, a controller and a broken watch, live in the terminal
	@exec $(PY) -m kubeloop_cli demo $(ARGS)

.PHONY: docs
docs: .venv/.docs ## build the documentation site into build/site
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --site-dir build/site

.PHONY: pictures
pictures: .venv/.ready ## create the pictures in docs/pictures again
	$(PY) tools/demo_picture.py docs/pictures/demo.svg
	$(PY) tools/browser.py
	$(PY) tools/screenshots.py

.PHONY: test-browser
test-browser: .venv/.ready ## test the inspector's page in headless Chromium; installs it if possible
	$(PY) tools/browser.py
	$(PY) tools/run_tests.py tests/browser $(ARGS)

.PHONY: dist
dist: .venv/.ready ## build wheels and sdists, and test each in an empty environment
	rm -rf dist
	for package in packages/*; do $(PY) -m build --outdir dist "$$package"; done
	$(PY) tools/smoke.py dist

.PHONY: generate
generate: assets ## generate models and clients from kube-apiserver; ARGS=--check only compares
	PYTHONPATH=tools $(PY) -m kubeloop_generate $(ARGS)
	$(PY) tools/generate_blocking.py $(ARGS)

.PHONY: go-types
go-types: assets ## write what only Kubernetes' Go sources say (needs Go); ARGS=--check only compares
	PYTHONPATH=tools $(PY) -m kubeloop_generate.go_sources $(ARGS)

.PHONY: round-trips
round-trips: .venv/.ready ## record what the Go types make of random objects (needs Go)
	$(PY) tools/go_round_trips.py packages/kubeloop-testing/tests/testing/server/round_trips.json

.PHONY: new-release
new-release: .venv/.ready ## pin another version of Kubernetes (needs Go): VERSION=v1.38.0
	$(PY) tools/new_release.py $(VERSION)

.PHONY: lock
lock: .venv/.ready ## pin the newest versions of all dependencies in constraints.txt
	@command -v uv >/dev/null 2>&1 || { $(with_pip); $(PY) -m pip install --quiet uv; }
	PATH="$$PATH:.venv/bin" uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --no-annotate --no-header --no-emit-index-url --all-extras \
	  --no-emit-package kubeloop --no-emit-package kubeloop-testing \
	  packages/*/pyproject.toml requirements/*.txt --output-file constraints.txt

.PHONY: clean
clean: ## remove .venv, caches and build output
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find packages tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +

settings := $(wildcard packages/*/pyproject.toml requirements/*.txt) constraints.txt

# Order-only: the date of the interpreter says nothing about what is installed.
.venv/.ready: $(settings) | .venv/bin/python
	$(call install,$(DISTRIBUTIONS) --requirement requirements/dev.txt,the tests)
	@touch $@ .venv/.demo

# The demo starts sooner without the tools of the tests.
.venv/.demo: $(settings) | .venv/bin/python
	$(call install,--editable packages/kubeloop --editable packages/kubeloop-testing \
	  --editable packages/kubeloop-cli,the demo)
	@touch $@

.venv/.bench: .venv/.ready
	$(call install,--requirement requirements/bench.txt,the benchmarks)
	@touch $@

.venv/.docs: .venv/.ready
	$(call install,--requirement requirements/docs.txt,the documentation)
	@touch $@

.venv/bin/python:
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "kubeloop needs Python 3.11 or newer, and $(PYTHON) is" \
	    "$$('$(PYTHON)' --version 2>/dev/null || echo 'not installed')" \
	    "(choose another: make PYTHON=/path/to/python3.13)" >&2; exit 1; }
	@echo "setting up .venv: $$('$(PYTHON)' --version)"
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --clear --python "$$(command -v '$(PYTHON)')" .venv; \
	else \
	  '$(PYTHON)' -m venv --clear .venv || { \
	    echo "$(PYTHON) cannot create a virtual environment (on Debian and Ubuntu: install" \
	      "python3-venv; or install uv)" >&2; rm -rf .venv; exit 1; }; \
	fi
