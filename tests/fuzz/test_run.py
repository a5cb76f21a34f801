"""`make fuzz`: every fuzzer takes a turn, and what is found is told with the command that shows it again."""

import subprocess
import sys
from pathlib import Path

import pytest
import run
from hypothesis import settings


def test_tests_try_the_same_inputs_every_time_and_fuzzers_try_others():
    assert [settings.get_profile(name).derandomize for name in ("seeded", "explore")] == [True, False]


@pytest.mark.long
def test_every_fuzzer_takes_a_turn():
    done = subprocess.run([sys.executable, run.__file__, "--seconds", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"\n{name}: " in done.stdout for name in run.FUZZERS)
    assert done.stdout.endswith("nothing was found\n")


class Faulty:
    """Finds one fault, and ends with another."""

    def __init__(self, folder):
        pass

    def turn(self, seed):
        if seed == 8:
            raise KeyError("lost")
        return ["this is wrong"] if seed == 7 else []

    def summary(self):
        return "done"


def test_findings_are_told_with_their_seeds(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(run.FUZZERS, "files", (Faulty, 1))
    monkeypatch.chdir(tmp_path)
    assert [run.fuzz("files", seed, 0.0, tmp_path) for seed in (6, 7, 8)] == [0, 1, 1]
    said = capsys.readouterr().out
    assert "files, seed 7: this is wrong\n    again: python tests/fuzz/run.py --only files --seed 7\n" in said
    assert "files, seed 8: KeyError: 'lost' (test_run.py:" in said
    assert Path(tmp_path / "seed").read_text() == "8"
