"""For all tests: what failed steps leave behind goes into a folder of pytest's."""

import tempfile

import pytest


@pytest.fixture(scope="session", autouse=True)
def temporary_files_stay_together(tmp_path_factory):
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("tempfile"))
    yield
    tempfile.tempdir = before
