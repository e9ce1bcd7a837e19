# From a fresh clone, with only git, make and Python 3.11 or newer: `make demo` and `make test`.
# Everything is set up under .venvs/, which may be deleted at any time.
#
#   make test BLENDER=4.5 ARGS="-k bake"       one Blender, some tests
#   make test ARGS=tests/test_mesh.py
#   make test-all                              all tests in all Blenders

PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BLENDER ?=
PLATFORMS ?= linux-x64 windows-x64 macos-arm64
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo pictures store repository figures test test-all lint types build bench calibrate setup format clean missing python

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-9s %s\n", $$1, $$2}'

demo: python ## Bake sample scenes in Blender and render them into one picture
	@$(PYTHON) tools/environments.py run sample_blends/make_demo.py $(ARGS)

pictures: python ## Render the pictures of the guide in docs/; those of panels: see docs/make_screenshots.py
	@$(PYTHON) tools/environments.py run docs/make_pictures.py $(ARGS)

store: python ## Render the pictures of the extension's page in docs/store/
	@$(PYTHON) tools/environments.py run docs/make_store.py $(ARGS)

repository: build ## Build the zips and the folder dist/repository that Blender installs and updates from
	@$(PYTHON) tools/repository.py

figures: python ## Make the papers' figures anew in docs/figures.md; ARGS="--only muller-7" makes one
	@$(PYTHON) tools/environments.py run -m benchmarks.figures.run $(ARGS)

test: python ## The tests with the newest Blender, and some with the oldest; ARGS="-k bake" narrows it, BLENDER=4.5 chooses
	@$(PYTHON) tools/run_tests.py --blender $(BLENDER) -- $(ARGS)

test-all: python ## All tests in every Blender whose Python is here
	@$(PYTHON) tools/run_tests.py --all --blender $(BLENDER) -- $(ARGS)

lint: python ## Ruff: rules and format; import-linter: who imports whom
	@$(PYTHON) tools/environments.py lint

format: python ## Let ruff write the format and mend what it can
	@$(PYTHON) tools/environments.py format

types: python ## Mypy against Blender's stubs
	@$(PYTHON) tools/environments.py types

build: python ## Build and validate the zips in dist/ with Blender's own tool; PLATFORMS= leaves out those with Numba
	@$(PYTHON) tools/build.py --platforms $(PLATFORMS) $(ARGS)

bench: python ## Our solver beside Blender's and pyPBD, half an hour; ARGS=--quick takes three minutes and saves nothing
	@$(PYTHON) tools/environments.py bench $(ARGS)

calibrate: python ## Fabrics beside published drapes; writes benchmarks/calibration/report.md; ARGS=--quick prints Cotton
	@$(PYTHON) tools/environments.py run -m benchmarks.calibration $(ARGS)

setup: python ## Only make the environments under .venvs/
	@$(PYTHON) tools/environments.py setup $(BLENDER)

missing: python
	@$(PYTHON) tools/environments.py missing

clean: ## Delete the environments and everything built
	rm -rf .venvs dist build .mypy_cache .pytest_cache .ruff_cache

python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (Debian 12 or newer: apt-get install python3 python3-venv)." >&2; exit 1; }
