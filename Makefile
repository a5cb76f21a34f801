# `make demo` and `make test` are the two first commands: each makes .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := build
SECONDS ?= 60
FIRST ?= 0

LOWEST := .venv-lowest
TESTS ?= tests

.PHONY: demo test test-lowest check fuzz lint docs figures bench hashed requirements clean

$(VENV)/.package: pyproject.toml
	@echo "installing stiction into $(VENV) (about a minute, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.package
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

demo: $(VENV)/.package
	@$(BIN)/stiction reproduce all --out $(OUT)/reproduce

test: $(VENV)/.dev
	@$(BIN)/python tests/warm.py
	$(BIN)/python -m pytest -m "not long" -n 2 --dist loadfile -q

# the oldest versions that pyproject.toml allows, of the package and its extras; TESTS=tests/scene runs a part
test-lowest:
	@$(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(LOWEST)/bin/uv pip compile --quiet --resolution lowest-direct --extra view --extra mesh --extra export --no-emit-index-url pyproject.toml -o $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --constraints $(LOWEST)/lowest.txt --requirements $(LOWEST)/lowest.txt --editable . pytest pytest-xdist hypothesis
	$(LOWEST)/bin/python -m pytest -m "not long" -n 2 --dist loadfile -q $(TESTS)

check: $(VENV)/.dev $(VENV)/.docs
	$(BIN)/python -m pytest -m long -n 2 -q

fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) --first $(FIRST)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open $(OUT)/site/index.html"

figures: $(VENV)/.dev
	$(BIN)/python docs/make_figures.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/lcp.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/schemes.py
	$(BIN)/python benchmarks/collision.py
	$(BIN)/python benchmarks/nsgs.py
	$(BIN)/python benchmarks/world.py
	$(BIN)/python benchmarks/peers.py --quick
	$(BIN)/python benchmarks/growth.py --quick
	$(BIN)/python benchmarks/threads.py --quick
	$(BIN)/python benchmarks/impacts.py --count 2000
	$(BIN)/python benchmarks/recording.py
	$(BIN)/python benchmarks/bouncing_pile.py --seconds 1

# .venv with the versions and hashes of requirements/dev.txt, which `make requirements` makes anew
hashed:
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.package $(VENV)/.dev $(VENV)/.docs

requirements: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-emit-index-url --custom-compile-command "make requirements" --group dev --group docs --group build pyproject.toml -o requirements/dev.txt

clean:
	rm -rf $(OUT) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis
