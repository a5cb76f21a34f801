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

    before, loop.COMPILE_MIN_STEPS = loop.COMPILE_MIN_STEPS, 0
    yield
    loop.COMPILE_MIN_STEPS = before


@pytest.fixture
def signatures():
    """The signatures for which this process has compiled or loaded the kernels of a package, by kernel.

    Those of lanes are apart: a kernel that is written for one contact and for eight has one of each. Kernels that only
    others call are seen where the cache is cold: a caller from disk does not load them.
    """

    def of(package):
        found = {}
        for name, module in list(sys.modules.items()):
            for kernel in vars(module).values() if name.startswith(f"{package}.") else ():
                if hasattr(kernel, "signatures") and hasattr(kernel, "py_func"):
                    kinds = {tuple(map(str, signature)) for signature in kernel.signatures}
                    lanes = {kind for kind in kinds if any("Lanes" in part for part in kind)}
                    called = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
                    found |= {called: kinds - lanes, f"{called} of lanes": lanes}
        return found

    return of
