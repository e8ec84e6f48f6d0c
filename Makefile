# Every target works on a fresh clone: what it needs, it installs into .venv.
PYTHON ?= python3
STUDY ?= marvin_linzen_2018
KEEP ?=
RECRUITER ?= simulator
PYTHONS ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --generate-hashes --custom-compile-command "make lock"
# The search for garbage takes over a fifth of these programs' time. Without it the type check holds 1.7 in place of .9 GB. mypy would turn it on again.
KEEP_GARBAGE := import gc; gc.enable = gc.disable; gc.disable()

# Hundreds of processes are started: each module is compiled once, when it is first read, also where the environment says otherwise.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help study reproduce models takers stop test retest collect lint docs site evidence evidence-long benchmarks dist lock sbom audit clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

study: $(VENV)/.analysis  ## run the main job on simulated participants (KEEP=1: server stays on; RECRUITER=mturk, prolific, sona, direct ...)
	@$(BIN)/parallax demo $(STUDY) --recruiter $(RECRUITER) $(if $(KEEP),--keep)

reproduce: $(BIN)/python  ## make the results of a capsule again: its versions installed, the network off (CAPSULE=file.zip)
	@test -n "$(CAPSULE)" || { echo "Name the capsule: make reproduce CAPSULE=file.zip"; exit 2; }
	@rm -rf build/reproduce && mkdir -p build/reproduce && $(PYTHON) -m venv build/reproduce/venv
	@$(PYTHON) -m zipfile -e "$(CAPSULE)" build/reproduce/capsule
	@! grep -vE '^(#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+)?$$' build/reproduce/capsule/requirements.lock || \
	  { echo "requirements.lock of the capsule has the lines above, which are no plain version (NAME==VERSION): nothing is installed."; exit 2; }
	@echo "Installing the capsule's versions ..."
	@build/reproduce/venv/bin/python -m pip --disable-pip-version-check --quiet install -c build/reproduce/capsule/requirements.lock -e '.[analysis]'
	@offline="unshare --map-root-user --net"; $$offline true 2>/dev/null || { offline=; echo "The network cannot be taken away here (unshare is not allowed)."; }; \
	  $$offline build/reproduce/venv/bin/parallax archive reproduce "$(CAPSULE)" $(if $(REGISTERED),--registered $(REGISTERED))

models: $(VENV)/.lm  ## the main job with every kind of model: unigram, 5-gram, simple RNN, LSTM, multi-task
	@$(BIN)/parallax demo $(STUDY) --models

takers: $(VENV)/.lm  ## models trained here take the sessions of 100 simulated people, in six readings: one report
	@$(BIN)/parallax demo $(STUDY) --takers

stop: $(VENV)/.analysis  ## stop the server that `make study KEEP=1` left on
	@$(BIN)/parallax stop

test: $(VENV)/.dev  ## install what the tests need and run them all
	@$(BIN)/python -m tests.prerequisites
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

retest: $(VENV)/.dev  ## run once more, one by one, the tests that failed last
	@echo "FAILED AT FIRST; a test that passes now depends on what it does not control, and is to be mended:"
	@$(BIN)/python -m pytest --last-failed --last-failed-no-failures=none --exitfirst --verbose

collect: $(VENV)/.dev  ## read all tests without running one: each of their modules is compiled once
	@mkdir -p build; $(BIN)/python -m pytest --collect-only -qqq >build/collected.txt || { cat build/collected.txt; exit 1; }

lint: $(VENV)/.dev  ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -c "$(KEEP_GARBAGE); from mypy.__main__ import console_entry; console_entry()"

docs: $(VENV)/.dev  ## serve the documentation as a site, with a search box, at http://127.0.0.1:8010
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --quiet --config-file docs/site/mkdocs.yml --dev-addr 127.0.0.1:8010

site: $(VENV)/.dev  ## build the same into build/site; a broken link or an unlisted page is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -c "$(KEEP_GARBAGE); from mkdocs.__main__ import cli; cli()" build --quiet --strict --config-file docs/site/mkdocs.yml

benchmarks: $(VENV)/.dev  ## give every benchmark a short run, on tiny inputs, and run the tests' campaigns
	@$(BIN)/python -m pytest -p tests.conftest --numprocesses=auto benchmarks/tests
	@$(BIN)/python -m pytest --numprocesses=auto -m campaign

evidence: benchmarks  ## measure the headline figures anew (about an hour on two cores) and write them into the pages
	@$(BIN)/python benchmarks/figures.py headline

evidence-long: benchmarks  ## measure the long figures anew (days on two cores) and write them into the pages
	@$(BIN)/python benchmarks/figures.py long

dist: $(VENV)/.dev  ## build wheel and sdist into build/dist, and try each in a bare environment (PYTHONS="python3.11 python3.13")
	@.ci/try_distribution $(PYTHONS)

lock: $(VENV)/.dev  ## write the image's lock files anew from pyproject.toml and constraints.txt
	@$(LOCK) --extra backup --extra mturk --extra postgres --constraints constraints.txt \
	  --output-file docs/deploy/requirements.lock pyproject.toml
	@grep '^setuptools==' constraints.txt | $(LOCK) --output-file docs/deploy/build.lock -

sbom: $(VENV)/.dev  ## write what the image installs as a CycloneDX bill of materials: build/sbom.json
	@mkdir -p build
	@PYTHONWARNINGS=ignore $(BIN)/uv tool run --quiet --from cyclonedx-bom==7.4.0 cyclonedx-py requirements --pyproject pyproject.toml \
	  --output-reproducible --output-file build/sbom.json docs/deploy/requirements.lock
	@echo "build/sbom.json"

audit: $(VENV)/.dev  ## compare what the image installs with the published advisories; offline it says so and goes on
	@mkdir -p build; rm -f build/audit.json
	@$(BIN)/uv tool run --quiet --from pip-audit==2.10.0 pip-audit --strict --disable-pip --require-hashes --requirement docs/deploy/requirements.lock \
	  --format json --output build/audit.json --progress-spinner off || \
	  { test ! -s build/audit.json && echo "NOT AUDITED: the advisories could not be read (the lines above say why)."; }

clean:  ## remove the virtual environment and caches (instance/ stays)
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Parallax needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 2; }
	@echo "Making the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

# Installed again only when the pins or the dependencies change; .dev covers .lm, .lm covers .analysis.
$(VENV)/.analysis: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Parallax with its analysis extra (up to a minute the first time) ..."
	@.ci/install analysis,mturk
	@touch $@

$(VENV)/.lm: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Parallax with PyTorch (a few minutes the first time) ..."
	@.ci/install analysis,lm,mturk
	@touch $@ $(VENV)/.analysis

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Parallax with its development extra (up to a minute the first time) ..."
	@.ci/install dev
	@touch $@ $(VENV)/.lm $(VENV)/.analysis
