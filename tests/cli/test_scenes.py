"""The commands for scenes: new, check, run, plot, schema; what they write, and their exit codes."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

import stiction as st
from stiction.cli import main
from stiction.cli.new import kinds, starter
from stiction.simulation.recording.claim import Claim

CODE = "import sys; from stiction.cli import main; sys.argv[0] = 'stiction'; main()"


@pytest.fixture
def stiction(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder of its own, and gives its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["stiction", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_new_user_gets_a_recording_and_a_picture(stiction, tmp_path):
    assert stiction("new", "demo.toml")[0] == 0
    assert tomllib.loads((tmp_path / "demo.toml").read_text())["stiction"] == 1
    code, out, err = stiction("run", "demo.toml", "--json", "report.json")
    assert (code, err) == (0, "")  # quiet where nobody watches
    assert "300 steps to t = 1.5 s" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["status"] == "done"
    assert report["recording"] == "demo.h5"
    assert report["worst"]["natural_map"] <= 1e-6
    assert report["bytes"] == (tmp_path / "demo.h5").stat().st_size
    code, out, _ = stiction("plot")  # the newest recording
    assert code == 0
    assert (tmp_path / "demo-energy.png").stat().st_size > 10_000
    assert stiction("plot", "demo.h5", "--body", "ball", "--out", "ball.png")[0] == 0
    assert (tmp_path / "ball.png").exists()
    assert stiction("plot", "demo.h5", "phase", "modes", "ball.x", "ball.z")[0] == 0
    assert all((tmp_path / f"demo-{name}.png").exists() for name in ("phase", "modes", "ball.x-ball.z"))
    code, _, err = stiction("plot", "demo.h5", "phase", "modes", "--out", "both.png")
    assert code == 2
    assert "2 pictures need a folder" in err
    code, _, err = stiction("plot", "demo.h5", "impulses", "--of", "bal")
    assert code == 2
    assert "neither a body" in err
    run = st.load(tmp_path / "demo.h5")
    ours = st.read_scene(tmp_path / "demo.toml").simulator().run(1.5)
    assert np.array_equal(run.q, ours.q)


def test_new_lists_kinds_and_replaces_nothing(stiction, tmp_path):
    code, out, _ = stiction("new")
    assert code == 0
    assert all(name in out for name in kinds())
    (tmp_path / "a.toml").write_text("mine")
    code, _, err = stiction("new", "a.toml")
    assert code == 2
    assert "exists already" in err
    assert (tmp_path / "a.toml").read_text() == "mine"
    assert stiction("new", "b.toml", "--kind", "towr")[0] == 2
    assert stiction("new", "b.txt")[0] == 2


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_starter_is_good(kind, stiction, tmp_path):
    assert stiction("new", "x.toml", "--kind", kind)[0] == 0
    code, out, err = stiction("check", "x.toml", "--json", "x.json")
    assert (code, err) == (0, "")
    (report,) = json.loads((tmp_path / "x.json").read_text())
    assert report["ok"]
    assert not report["warnings"]
    assert report["title"] in out


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_starter_runs(kind, stiction):
    stiction("new", "x.toml", "--kind", kind)
    code, out, err = stiction("run", "x.toml")
    assert code == 0
    assert "missed" not in out
    counted = "between tol" in out  # of large jammed problems, told once
    assert re.fullmatch(r"from t = \S+ s on, steps miss tol = \S+ and are counted\n" if counted else "", err)
    assert counted == (kind in ("pile", "wall"))


@pytest.fixture
def short(tmp_path):
    """A scene of thirty steps."""
    text = starter("tower").replace("duration = 1.5", "duration = 0.15").replace("every = 1 ", "every = 2 ")
    (tmp_path / "short.toml").write_text(text)
    return "short.toml"


def test_changes_from_the_command_line(stiction, short, tmp_path):
    assert (
        stiction("run", short, "--set", "bodies.ball.mass=2", "--set", "run.solver=nsgs", "-q", "-o", "a.h5")[1] == ""
    )
    scene = st.simulation.recording.reader.Recording(tmp_path / "a.h5").scene
    assert tomllib.loads(scene)["bodies"][1]["mass"] == 2
    assert st.load(tmp_path / "a.h5").info["solver"] == "nsgs"


def test_a_branch_begins_where_the_recording_was_and_differs_after(stiction, short, tmp_path):
    stiction("run", short)
    code, _, err = stiction("run", "--from", "short.h5@0.05", "--set", "bodies.ball.mass=50")
    assert (code, err) == (0, "")
    first, branch = st.load(tmp_path / "short.h5"), st.load(tmp_path / "short-from-0.05.h5")
    assert branch.times[0] == pytest.approx(0.05)
    assert np.array_equal(branch.q[0], first.q[5])
    assert branch.times[-1] == pytest.approx(0.15)
    assert not np.array_equal(branch.q[-1], first.q[-1])
    code, _, err = stiction("run", short, "--from", "short.h5@0.05", "-o", "same.h5")  # the same scene: the same end
    assert (code, err) == (0, "")
    assert np.array_equal(st.load(tmp_path / "same.h5").q[-1], first.q[-1])


def test_a_recording_is_exported_by_the_endings_of_names(stiction, short, tmp_path):
    stiction("run", short)
    code, out, err = stiction("export", "short.h5", "short.csv", "short.npz")
    assert (code, err) == (0, "")
    assert "short.csv" in out
    with np.load(tmp_path / "short.npz") as data:
        assert np.array_equal(data["q"], st.load(tmp_path / "short.h5").q)
    assert stiction("export", "short.h5", "short.doc")[0] == 2
    assert stiction("export", "short.toml", "short.csv")[0] == 2


def test_a_recording_is_shown_as_a_film_and_as_a_picture(stiction, short, tmp_path):
    stiction("run", short)
    code, out, err = stiction("view", "short.h5", "--out", "short.gif")
    assert (code, err) == (0, "")
    assert "5 frames" in out
    assert (tmp_path / "short.gif").read_bytes()[:6] == b"GIF89a"
    assert stiction("view", "--out", "moments.png")[0] == 0
    assert (tmp_path / "moments.png").stat().st_size > 5_000
    assert stiction("view", "short.h5", "--out", "moment.png", "--at", "0.1", "--forces")[0] == 0
    assert stiction("view", "short.h5", "--out", "moment.gif", "--at", "0.1")[0] == 2
    code, _, err = stiction("view", "short.h5", "--out", "film.doc")
    assert code == 2
    assert "a film ends in .gif or .mp4" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "give a scene file"),
        (("run", "nothing.toml"), "there is no such file"),
        (("run", "short.toml", "--out", "no/folder.h5"), "there is no folder"),
        (("run", "short.toml", "--out", "short.toml"), "would be replaced"),
        (("run", "short.toml", "--resume", "short.h5"), "give it alone"),
        (("run", "--resume", "nothing.h5"), "there is no file"),
        (("run", "--resume", "short.toml"), "not an HDF5 file"),
        (("run", "--from", "short.toml@1"), "not an HDF5 file"),
        (("run", "--from", "nothing.h5@now"), "the time in seconds"),
        (("run", "short.toml", "--set", "run.dt=-1"), "must be greater than 0"),
        (("run", "short.toml", "--json", "no/folder.json"), "no folder"),
        (("check", "short.toml", "nothing.toml"), "there is no such file"),
        (("plot",), "no recording"),
        (("plot", "short.toml"), "not an HDF5 file"),
        (("run", "short.toml", "--nonsense"), "No such option"),
        (("rnu", "short.toml"), "No such command"),
    ],
)
def test_bad_input_is_exit_code_2(arguments, words, stiction, short):
    code, _, err = stiction(*arguments)
    assert code == 2
    assert words in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


def test_a_run_that_fails_is_exit_code_1(stiction, short, tmp_path):
    code, _, err = stiction("run", short, "--set", "run.solver=nsgs", "--set", "run.tol=1e-18", "--json", "r.json")
    assert code == 1
    assert "step 0" in err
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "failed"
    assert "short-failure" in err  # what it leaves behind for those who look into it
    assert (tmp_path / "short-failure" / "problem.hdf5").exists()
    assert st.read_scene(tmp_path / "short-failure" / "scene.toml").document.run.tol == 1e-18


INTERRUPTED = """
import os, signal, sys
from stiction.cli import main
class Interrupt:
    def find_spec(self, name, *_):
        if name == moment:
            os.kill(os.getpid(), signal.SIGINT)
moment = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
main()
"""


@pytest.mark.parametrize("moment", ["stiction.errors", "typer", "stiction.scene", "numba", "stiction.solvers"])
def test_ctrl_c_while_modules_are_loaded_is_one_line(moment, short, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, moment, "run", short]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted: stopped by Ctrl-C\n")
    assert [file.name for file in tmp_path.iterdir()] == [short]


def test_a_full_disk_is_one_error_and_exit_code_1(stiction, short, tmp_path):
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, unlimited[1]))
        code, out, err = stiction("run", short)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert (code, out, err) == (1, "", "error: cannot write short.h5: the disk is full.\n")
    assert [file.name for file in tmp_path.iterdir()] == [short]


def test_a_recording_that_another_run_writes_is_refused(stiction, short, tmp_path):
    said = "error: another run is writing short.h5; wait for its end, or choose another name.\n"
    with Claim(tmp_path / "short.h5"):
        assert stiction("run", short) == (2, "", said)  # the other has not written a frame
    assert stiction("run", short)[0] == 0
    with Claim(tmp_path / "short.h5"):
        assert stiction("run", short) == (2, "", said)
        assert stiction("run", "--resume", "short.h5", "--set", "run.duration=1") == (2, "", said)


def test_the_schema_knows_every_shape_and_law(stiction, tmp_path):
    code, out, _ = stiction("schema")
    assert code == 0
    schema = json.loads(out)
    assert {"Sphere", "Mesh", "Stribeck", "Polyhedral", "Moreau", "Screw", "Arch"} <= set(schema["$defs"])
    assert schema["$defs"]["Sphere"]["properties"]["radius"]["exclusiveMinimum"] == 0
    stiction("schema", "--out", "s.json")
    assert json.loads((tmp_path / "s.json").read_text()) == schema


@pytest.mark.parametrize("command", ["new", "check", "run", "plot", "view", "export", "schema"])
def test_every_command_has_help_with_an_example(command, stiction):
    code, out, _ = stiction(command, "--help")
    assert code == 0
    assert "Example" in out


def test_the_shell_completes_commands_and_kinds():
    def completed(words):
        env = {
            **os.environ,
            "_STICTION_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env, check=False)
        return done.stdout.split()

    assert completed("stiction re") == ["reproduce"]
    assert completed("stiction new x.toml --kind to") == ["tower"]


def begun(tmp_path, *arguments, more=False):
    """A run in a process of its own that has begun to write short.h5; more: that has put a longer one in its place."""
    file = tmp_path / "short.h5"
    before = file.stat().st_ino if more else None
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "run", *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    while process.poll() is None and (not file.exists() or file.stat().st_ino == before):
        time.sleep(0.1)
    time.sleep(0.5)  # some blocks of frames
    return process


@pytest.mark.long
def test_ctrl_c_keeps_the_recording_and_resume_ends_in_the_same_bits(stiction, short, tmp_path):
    process = begun(tmp_path, short, "--set", "run.duration=4000")  # on no machine over before it is interrupted
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    said = process.stderr.read()
    assert "the recording is kept" in said
    assert "Traceback" not in said
    part = st.load(tmp_path / "short.h5")
    assert 1 < len(part) < 400_001
    end = f"run.duration={round(part.times[-1] + 0.5, 1)}"
    code, _, err = stiction("run", short)
    assert code == 2
    assert "--resume" in err
    assert stiction("run", short, "--set", end, "-o", "whole.h5", "-q")[0] == 0
    (tmp_path / short).unlink()  # the recording holds its scene
    assert stiction("run", "--resume", "short.h5", "--set", end)[0] == 0
    whole, resumed = st.load(tmp_path / "whole.h5"), st.load(tmp_path / "short.h5")
    assert len(whole) > len(part)
    for name in ("times", "q", "v"):
        assert np.array_equal(getattr(whole, name), getattr(resumed, name))
    code, _, err = stiction("run", "--resume", "short.h5")
    assert code == 2
    assert f"complete; to run on, give a later end: --set run.duration={2 * whole.times[-1]:g}" in err
    later = whole.times[-1] + 0.1
    assert stiction("run", "--resume", "short.h5", "--set", f"run.duration={later:.1f}")[0] == 0
    assert st.load(tmp_path / "short.h5").times[-1] == pytest.approx(later)


@pytest.mark.long
def test_a_run_that_got_a_later_end_keeps_it_when_it_is_interrupted_again(stiction, short, tmp_path):
    assert stiction("run", short)[0] == 0
    later = begun(tmp_path, "--resume", "short.h5", "--set", "run.duration=4000", more=True)
    later.send_signal(signal.SIGINT)
    assert later.wait(120) == 130
    again = begun(tmp_path, "--resume", "short.h5", more=True)
    again.send_signal(signal.SIGINT)
    assert again.wait(120) == 130  # not done at the scene's own end
