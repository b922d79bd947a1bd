PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.with-test,voila
# JupyterLite's extensions would load in JupyterLab, so it has an environment of its own
LITE := .venv-lite/.ready
# a worker per core, so a worker's arithmetic takes one thread
WORKERS ?= auto
# hundreds of tests start Python: what it compiles is kept
export PYTHONDONTWRITEBYTECODE :=
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS)
LOWEST = OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -q -n $(WORKERS)
QUICK = "not kernel and not browser and not java and not slow and not full"

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# each target installs what it needs, once: .base is library and reports, .with-lab adds JupyterLab
$(VENV)/.base: pyproject.toml setup.py | $(BIN)/pip
	$(PIP) .
	@touch $@

$(VENV)/.with-%: pyproject.toml setup.py | $(BIN)/pip
	$(PIP) '.[$*]'
	@touch $@

install: $(INSTALLED) $(VENV)/.with-docs $(VENV)/.with-release ## create .venv with all that the targets below need (minutes)

report: $(VENV)/.base ## build the reports on the embedded data into reports/
	@mkdir -p reports
	$(BIN)/workbench report all -o reports

lab: $(VENV)/.with-lab ## open JupyterLab at the start page
	$(BIN)/workbench lab

test: $(INSTALLED) $(LITE) ## run every test, notebooks included, on all cores (minutes)
	@echo "1 of 3: ruff and codespell"
	$(BIN)/ruff check && $(BIN)/ruff format --check --quiet
	$(BIN)/codespell
	@echo "2 of 3: tests, the longest first"
	$(PYTEST) --dist loadgroup --no-loadscope-reorder --durations=20
	@echo "3 of 3: notebooks"
	$(PYTEST) --dist loadfile --nbval notebooks -o addopts= -W default

quick: $(INSTALLED) ## run what needs no kernel, no browser, no Java and little time (seconds)
	$(BIN)/ruff check && $(BIN)/ruff format --check --quiet
	$(BIN)/codespell
	$(PYTEST) -m $(QUICK) --dist worksteal --durations=5

faults: $(INSTALLED) ## plant faults one by one, and see that the tests catch each (minutes)
	$(BIN)/python tests/faults/run.py

audits: $(INSTALLED) ## kill, crowd, forge and carry out audits, and look at intervals after every label (minutes)
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/audit_crashes.py
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/audit_forgeries.py
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/audit_whole.py --xlsx
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/anytime_coverage.py

replay: $(INSTALLED) ## run the papers' tables, figures and theorems again, one page in reports/ (minutes)
	@mkdir -p reports
	$(BIN)/workbench papers replay all -o reports/five-papers.html --json reports/five-papers.json
	$(BIN)/python tests/peers/replay_verdicts.py reports/five-papers.json

whole: $(INSTALLED) ## run long enumerations whole, and test the tests' own tools (minutes)
	$(PYTEST) -m full --dist worksteal --durations=20

fuzz: $(INSTALLED) ## call public functions with wrong arguments, read damaged files (two minutes)
	cd tests && ../$(BIN)/python fuzzing.py 50000 2000

full: test whole faults audits replay fuzz ## run every test, plant every fault, try audits hard, replay the papers

notebooks: $(INSTALLED) ## execute the notebooks in place, after a change that alters their output
	$(BIN)/python tests/refresh_notebooks.py

engines: $(INSTALLED) ## sample 3 million rows on Dask, Spark and DuckDB, and compare (minutes; needs Java)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark,dask]'
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/engines.py

search: $(INSTALLED) ## look for designs whose interval covers too little (an hour)
	$(BIN)/python tests/peers/search_coverage.py
	$(BIN)/python tests/peers/search_values.py
	$(BIN)/python tests/peers/search_streams.py
	$(BIN)/python tests/peers/search_waves.py
	$(BIN)/python tests/peers/search_shares.py
	$(BIN)/python tests/peers/search_second_labels.py
	$(BIN)/python tests/peers/search_replication.py
	$(BIN)/python tests/peers/search_auc.py

scoreboard: $(INSTALLED) ## measure the tools of the field on known truth, each in its own environment (an hour)
	$(BIN)/python tests/peers/scoreboard/run.py
	$(BIN)/python tests/peers/speed.py

mutants: $(INSTALLED) ## change the estimators in 100 places a room, and see that its tests notice (an hour)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pytest-cov>=6,<8'
	$(BIN)/python tests/mutants/run.py

bench: $(INSTALLED) ## print speed ratios against peers and the physical limit, and what large files take (minutes)
	$(BIN)/python tests/peers/bench_stratified.py
	$(BIN)/python tests/peers/bench_voila.py
	$(BIN)/python tests/peers/bench_replication.py
	$(BIN)/python tests/peers/bench_misclassification.py
	$(BIN)/python tests/peers/bench_lessons.py
	OMP_NUM_THREADS=1 $(BIN)/python tests/peers/bench_large.py

docs: $(INSTALLED) $(VENV)/.with-docs $(LITE) ## run the blocks of all pages, build the site into build/site, open each page (minutes)
	$(BIN)/python docs/blocks.py
	$(BIN)/python -m sphinx -q -n -W --keep-going -b html docs build/site
	rm -rf build/site/lite
	$(BIN)/python docs/visit.py
	.venv-lite/bin/python docs/lite.py build/lite
	cp -r build/lite/site build/site/lite

$(LITE): Makefile
	$(PYTHON) -m venv .venv-lite
	.venv-lite/bin/python -m pip install --quiet --disable-pip-version-check 'jupyterlite-core>=0.7,<1' \
	  'jupyterlite-pyodide-kernel>=0.7,<1' jupyter-server ipywidgets anywidget
	@touch $@

lite: $(LITE) ## build the lessons as a site that runs Python in the browser into build/lite (a minute)
	.venv-lite/bin/python docs/lite.py build/lite

release: $(INSTALLED) $(VENV)/.with-release ## build wheel and sdist, check them, install them outside the tree on every Python there is (minutes)
	$(BIN)/python tests/release.py

binder: ## run the notebooks in a fresh environment made from binder/, and time the first picture
	rm -rf .venv-binder
	$(PYTHON) -m venv .venv-binder
	.venv-binder/bin/python -m pip install --quiet --disable-pip-version-check -r binder/requirements.txt
	PATH="$(CURDIR)/.venv-binder/bin:$$PATH" bash binder/postBuild
	.venv-binder/bin/python tests/first_picture.py
	.venv-binder/bin/python -m pip install --quiet --disable-pip-version-check pytest nbval
	.venv-binder/bin/python -m pytest -q --nbval notebooks -o addopts= -W default

lowest: ## run the quick tests and some reports with the lowest declared versions, on Python 3.11 (minutes)
	rm -rf .venv-lowest
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint .venv-lowest/constraints.txt --editable '.[test,voila]'
	$(LOWEST) -m $(QUICK) --dist worksteal
	$(LOWEST) tests/reports/test_build.py tests/reports/test_kernels.py

clean: ## remove everything that can be made again
	rm -rf .venv .venv-lite .venv-binder .venv-lowest reports build dist *.egg-info

.PHONY: help install report lab test quick faults audits replay engines docs lite release whole full notebooks search scoreboard mutants bench binder lowest clean
.DEFAULT_GOAL := help
