"""For all tests: what failed steps leave behind goes into a folder of pytest's, and the compiled loop is compiled."""

import tempfile

import pytest


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
