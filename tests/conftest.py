"""For all tests: what failed steps leave behind goes into a folder of pytest's, and the compiled loop is compiled.

Hypothesis tries the same examples in every run, so that a test fails where a change made it fail. `make fuzz` looks for
new ones, with `--hypothesis-profile=explore`.
"""

import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))  # the fuzzers' modules, by the names they have as scripts

# `derandomize` is said: where it is not, Hypothesis sets it on what looks like a build server, and nowhere else
settings.register_profile("seeded", derandomize=True, database=None, deadline=None)
settings.register_profile(
    "explore", derandomize=False, database=None, deadline=None, print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("seeded")


@pytest.fixture(scope="session", autouse=True)
def temporary_files_stay_together(tmp_path_factory):
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("tempfile"))
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session", autouse=True)
def the_loop_is_compiled_for_short_runs_too():
    from stiction.simulation import loop

    before, loop.FEW = loop.FEW, 0
    yield
    loop.FEW = before
