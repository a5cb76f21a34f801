"""The solver's kernels are compiled by a process beside, where there is something to compile."""

import subprocess
import sys

import pytest

from stiction.cli import compile as beside


class Process:
    """Stands for the other one."""

    def __init__(self, command, **_):
        self.command, self.events = command, []
        Process.last = self

    def wait(self):
        self.events.append("wait")

    def kill(self):
        self.events.append("kill")

    def poll(self):
        return 0 if self.events else None


@pytest.fixture
def cold(monkeypatch):
    """Nothing is compiled yet, and there are two cores."""
    Process.last = None
    monkeypatch.setattr("stiction.runtime.jit.compiled", lambda kernel: False)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", Process)


@pytest.mark.parametrize("dim", [2, 3])
def test_what_the_process_solves_is_solved(dim):
    assert beside.solve_something(dim)


@pytest.mark.usefixtures("cold")
def test_a_cold_start_waits_for_the_other_process():
    with beside.solver_compiled_beside(3):
        assert Process.last.command[0] == sys.executable
        assert Process.last.command[-2:] == ["stiction.cli.compile", "3"]
        assert Process.last.events == []
    assert Process.last.events == ["wait"]


@pytest.mark.usefixtures("cold")
def test_a_person_who_watches_is_told(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with beside.solver_compiled_beside(3):
        assert "compiling the solver" in capsys.readouterr().err


@pytest.mark.usefixtures("cold")
def test_bad_input_does_not_leave_a_process_behind():
    with pytest.raises(ValueError), beside.solver_compiled_beside(2):
        raise ValueError
    assert Process.last.events == ["kill", "wait"]


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("reason", ["compiled", "one core", "no process"])
def test_without_need_or_means_there_is_no_other_process(reason, monkeypatch):
    def refuses(*_, **__):
        raise OSError

    if reason == "compiled":
        monkeypatch.setattr("stiction.runtime.jit.compiled", lambda kernel: True)
    elif reason == "one core":
        monkeypatch.setattr("os.cpu_count", lambda: 1)
    else:
        monkeypatch.setattr(subprocess, "Popen", refuses)
    with beside.solver_compiled_beside(3):
        assert Process.last is None


def test_the_process_ends_well():
    done = subprocess.run([sys.executable, "-P", "-m", "stiction.cli.compile", "2"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
