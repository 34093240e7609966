# Everything from a bare clone, with Python 3.11 or newer and pip:
#   make setup   .venv with opcheck, the model libraries and the test tools
#   make demo    set up, then scan two models
#   make check   set up, then lint, types and every test of less than half a second
#   make test    set up, then everything that CI checks
#   make test-whole  the tests that "make test" takes a share of, too: all of them for every target
#   make test-torch VERSION=2.6.0  a share of the tests with another release of torch, in .venv-torch-2.6.0
#   make test-libraries  layers that stand for those of other libraries, beside these libraries' own
#   make lint, make format, make bench
#   make docs    docs/ as a site, into site/docs/
#   make site    the pages of operators and targets, with the docs, into site/: five minutes of processor time
#   make site-check  every page of site/: links, identifiers, HTML
#   make release-check  build, install in fresh environments of each Python found, and use it there
#   make readme  write the outputs that the README shows anew
#   make rates   write docs/support-rates.md anew
#   make coverage  write docs/coverage.md anew
#   make labels  try what each rule promises over whole ranges: a quarter of an hour
#   make fixes  write docs/fixes.md anew
#   make fuzz    hostile files for every reader, for a quarter of an hour, then the corpus of them
#   make fuzz-whole  many more, for hours
#   make models  write docs/scanned-models.md anew
#   make missing STORE=fleet.db  write docs/missing-kernels.md anew
#   make demand FOLDER=demand FIRST=100  write docs/demand.md anew; FOLDER keeps what was traced

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup demo docs site site-check check units test test-whole test-torch test-libraries lint format bench labels readme rates coverage fixes models missing model-lists demand fuzz fuzz-whole release-check

# What the caller's shell has active must not leak into .venv.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PIP_TARGET PIP_PREFIX PIP_USER

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
STAMP := .venv/installed

help:
	@sed -n 's/^#   //p' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP)

HOOK := tools/torchvision_without_binary.py

$(STAMP): pyproject.toml constraints.txt $(HOOK)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@# torch first and alone: with the pin already met, nothing else brings a CUDA build
	$(PIP) --constraint constraints.txt torch
	$(PIP) --constraint constraints.txt --editable '.[all,test,docs]'
	@# opencv-python needs libGL and X11, which servers lack; the headless build of it does not
	@$(BIN)/python -c 'import cv2' 2>/dev/null || \
		$(PIP) --constraint constraints.txt --no-deps opencv-python-headless
	@site=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
		cp $(HOOK) "$$site" && \
		echo 'import torchvision_without_binary' > "$$site/torchvision_without_binary.pth"
	@touch $@

demo: setup
	$(BIN)/opcheck scan torchvision:resnet50 -t ascend-910b
	$(BIN)/opcheck scan examples/rotary_attention.py:model -t ascend-910b -t ascend-910a

# two files at a time: each process takes up to 4 GB; tests/conftest.py says which come first
PYTEST := $(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 30

test: setup
	@# neither has work for a second processor
	$(MAKE) --jobs 2 lint docs
	$(PYTEST)

# what is left for "slow": real models, whole processes, and any test of half a second or more
check: setup
	@# types take one processor for half a minute when nothing is known of an earlier run
	$(MAKE) --jobs 2 lint units

units: setup
	$(PYTEST) -m "not slow"

test-whole: setup
	OPCHECK_WHOLE=1 $(PYTEST)

# What reads files and follows calls with the torch that is there; marks "since" name what an older
# one cannot do. Takes gigabytes where pip finds no build for the CPU, so it is not part of CI.
VERSION ?= 2.6.0
WITH_TORCH := $(addprefix tests/trace/test_,run.py calls.py operators.py old_torch.py private_api.py) \
	$(addprefix tests/source/test_,pt2_file.py pt2_graph.py pt2_run.py saved_before.py python_file.py) \
	tests/test_pipeline.py

test-torch:
	$(PYTHON) -m venv .venv-torch-$(VERSION)
	grep -v '^torch' constraints.txt > .venv-torch-$(VERSION)/constraints.txt
	.venv-torch-$(VERSION)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint .venv-torch-$(VERSION)/constraints.txt torch==$(VERSION) --editable '.[doctor,fix,html,probe,test]'
	.venv-torch-$(VERSION)/bin/pytest --numprocesses 2 --dist loadfile $(WITH_TORCH)

# In an environment on top of the other: what a library registers with torch when it is imported
# cannot be registered after a stand-in of it, so the other tests do without, and only folders are
# collected in which no module registers one.
test-libraries: setup
	$(BIN)/python -m venv .venv-libraries
	@from=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
		to=$$(.venv-libraries/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
		echo "import site; site.addsitedir('$$from')" > "$$to/below.pth"
	.venv-libraries/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint constraints.txt --requirement tests/libraries.txt
	.venv-libraries/bin/python -m pytest -m library tests/source tests/trace

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# self-contained: put the folder on any host of pages, or open site/index.html
site: docs
	$(BIN)/python -m tools.site site $(if $(FLEET),--store $(FLEET))

site-check: setup
	$(BIN)/python -m tools.site.check site

# What was checked is left in dist/. Each Python has torch installed anew: RELEASE="--torch torch" for the
# newest in place of the pinned one, "--python 3.11" for that Python alone. Not part of the tests.
RELEASE ?=

release-check: setup
	$(BIN)/python -m tests.release $(RELEASE)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks

labels: setup
	$(BIN)/python -m benchmarks.labels

readme: setup
	$(BIN)/python -m tests.readme

rates: setup
	$(BIN)/python -m benchmarks.rates

coverage: setup
	$(BIN)/python -m benchmarks.coverage

fixes: setup
	$(BIN)/python -m benchmarks.fixes

models: setup
	$(BIN)/python -m benchmarks.scanned_models

STORE ?= opcheck-fleet.db

missing: setup
	$(BIN)/python -m benchmarks.missing_kernels $(STORE)

FOLDER ?= demand
FIRST ?=

# hours for all of them on two cores; what FOLDER has is not done again
model-lists: setup
	$(BIN)/python -m benchmarks.model_lists $(FOLDER)

demand: setup
	$(BIN)/python -m benchmarks.demand $(FOLDER) $(if $(FIRST),--first $(FIRST))

fuzz: setup
	$(BIN)/python -m tests.fuzz 900
	$(BIN)/python -m tests.hostile

# the figures of docs/hostile-files.md: hours on two cores
fuzz-whole: setup
	$(BIN)/python -m tests.fuzz --each 100000 --graphs 20000 --canary 2000
