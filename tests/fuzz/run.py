"""Every fuzzer of the project, for as long as one likes: `make fuzz SECONDS=600`.

    python tests/fuzz/run.py --seconds 600                   # all of them, seeds from 0 on
    python tests/fuzz/run.py --seconds 600 --first 5000      # other seeds
    python tests/fuzz/run.py --only worlds files             # some
    python tests/fuzz/run.py --only worlds --seed 17         # one case again, with all that is found

Each fuzzer runs in a process of its own, so that a crash is a finding too, and so is a turn that does not end. Every
finding is printed with the command that shows it again; the exit status is 1 where there were any.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 900  # s: a turn that takes longer hangs
sys.path.insert(0, str(HERE))


class Worlds:
    """Random worlds: every step before an independent judge."""

    def __init__(self, folder):
        self.runs = []

    def turn(self, seed):
        from random_worlds import fuzz

        self.runs.append(fuzz(seed))
        return [f"step {k}: {rule}: {said}" for k, rule, said in self.runs[-1].found]

    def summary(self):
        from random_worlds import table

        return table(self.runs)


class Energy:
    """Free bodies on a plane: what their energy does, from the states alone."""

    def __init__(self, folder):
        self.cases = []

    def turn(self, seed):
        from energy import CONDITIONS, SCHEMES, energy_case

        self.cases.append(energy_case(seed // 6, CONDITIONS[seed // 2 % 3], SCHEMES[seed % 2]))
        return self.cases[-1].faults

    def summary(self):
        from energy import summary

        return summary(self.cases)


class Counted:
    """A fuzzer that tells of its cases by their numbers."""

    def __init__(self, folder):
        self.folder, self.counts = folder, Counter()

    def summary(self):
        return ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))


class Problems(Counted):
    """Random contact problems, each for every solver: the certificate is made anew."""

    def turn(self, seed):
        from problems import SOLVERS_TRIED, answer

        for solver in SOLVERS_TRIED:
            self.counts[answer(seed, solver)] += 1
        return []


class Scenes(Counted):
    """Scene files with values changed, dropped, doubled and moved, and torn texts: read and run, or refused."""

    def turn(self, seed):
        import hypothesis
        from random_scenes import attempt, mutated, torn

        @hypothesis.seed(seed)
        @hypothesis.settings(max_examples=50, database=None, deadline=None,
                             suppress_health_check=list(hypothesis.HealthCheck))  # fmt: skip
        @hypothesis.given(mutated() | torn())
        def look(text):
            self.counts["scenes"] += 1
            attempt(text)

        look()
        return []


class Calls(Counted):
    """Public names called with random wrong arguments: they do it, or say what is wrong."""

    def __init__(self, folder):
        from calls import Made

        super().__init__(folder)
        self.made = Made(folder)

    def turn(self, seed):
        from calls import random_call

        what, said = random_call(self.made, random.Random(seed))
        self.counts[what] += 1
        return said


class Files(Counted):
    """Recordings, problems and meshes that are damaged: one line, or harmless."""

    def __init__(self, folder):
        from files import Damage

        super().__init__(folder)
        self.files = Damage(folder)

    def turn(self, seed):
        what, said = self.files.damage(seed)
        self.counts[f"{what} {'refused' if said else 'harmless'}"] += 1
        return []


class Kills(Counted):
    """Runs that are killed three times and resumed: the bits of a run that nobody disturbed."""

    def __init__(self, folder):
        from kills import whole_run

        super().__init__(folder)
        self.whole = whole_run(folder / "whole.h5")

    def turn(self, seed):
        from kills import kill_and_resume

        path = self.folder / f"{seed}.h5"
        kill_and_resume(random.Random(seed), path, self.whole, kills=3)
        self.counts["kills"] += 3
        path.unlink()
        return []


class Properties(Counted):
    """The properties that the tests state of random inputs, with other inputs than `make test` tries."""

    def turn(self, seed):
        files = sorted(file for file in HERE.parent.rglob("test_*.py") if "hypothesis import" in file.read_text())
        file = files[seed % len(files)]
        options = ["-m", "hypothesis and not long", "--hypothesis-profile=explore", f"--hypothesis-seed={seed}"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, file]
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent.parent, env=_environment())
        self.counts["test files"] += done.returncode != 5  # no such test in it
        return [done.stdout[-4000:] + done.stderr[-1000:]] if done.returncode not in (0, 5) else []


# what part of the time each has
FUZZERS = {"worlds": (Worlds, 3), "energy": (Energy, 1), "problems": (Problems, 1), "scenes": (Scenes, 1),
           "calls": (Calls, 1), "files": (Files, 1), "kills": (Kills, 1), "properties": (Properties, 2)}  # fmt: skip


def _environment():
    """For tests in a process of their own: not in the folder that a fuzzer's process has made its own."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}


def fuzz(name, first, seconds, folder, only_one=False):
    """Take turns for some seconds, from a seed on, and print what is found; the number of turns that found anything."""
    warnings.simplefilter("ignore")
    end, seed, found = time.monotonic() + seconds, first, 0
    os.chdir(folder)
    fuzzer = FUZZERS[name][0](folder)
    while seed == first or (time.monotonic() < end and not only_one):
        (folder / "seed").write_text(str(seed))
        try:
            said = fuzzer.turn(seed)
        except Exception as error:
            notes = getattr(error, "__notes__", [])
            said = ["".join(traceback.format_exception(error)) if only_one else _short(error), *notes]
        if said:
            found += 1
            shown = said if only_one else said[:3]
            print(f"{name}, seed {seed}: " + "\n    ".join(shown) + f"\n    again: {_again(name, seed)}", flush=True)
        seed += 1
    print(f"{name}: {seed - first} turns, {found} with findings\n{fuzzer.summary()}\n", flush=True)
    return found


def _short(error):
    """An exception in a line, with the place in the package where it came from."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}:{place.lineno})"


def _again(name, seed):
    return f"python tests/fuzz/run.py --only {name} --seed {seed}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="about, for all together")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this one only")
    parser.add_argument("--only", nargs="+", choices=FUZZERS, default=list(FUZZERS), metavar="FUZZER")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)  # in this process, in this folder
    o = parser.parse_args(arguments)
    if o.here:
        return int(fuzz(o.only[0], o.first, o.seconds, o.here) > 0)
    if o.seed is not None:
        with tempfile.TemporaryDirectory() as folder:
            return int(fuzz(o.only[0], o.seed, 0.0, Path(folder), only_one=True) > 0)
    print(f"{', '.join(o.only)}: seeds from {o.first} on, for about {o.seconds:g} s", flush=True)
    faulty = []
    for name in o.only:
        share = o.seconds * FUZZERS[name][1] / sum(FUZZERS[other][1] for other in o.only)
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                __file__,
                "--only",
                name,
                "--first",
                o.first,
                "--seconds",
                share,
                "--here",
                folder,
            ]
            try:
                status = subprocess.run(list(map(str, command)), timeout=share + PATIENCE).returncode
                said = f"ended with exit status {status}"
            except subprocess.TimeoutExpired:
                status, said = None, f"took more than {PATIENCE} s"
            if status not in (0, 1):
                note = Path(folder) / "seed"
                seed = int(note.read_text()) if note.exists() else o.first
                print(f"{name}, seed {seed}: {said}\n    again: {_again(name, seed)}")
        faulty += [name] * (status != 0)
    print(f"findings in: {', '.join(faulty)}" if faulty else "nothing was found")
    return int(bool(faulty))


if __name__ == "__main__":
    sys.exit(main())
