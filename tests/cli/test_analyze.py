"""`stiction analyze`: what it says of the documented scenes, what it writes, and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction as st
from stiction.analysis.report import report
from stiction.cli.analyze import analyze_scene

EXAMPLES = Path(__file__).parents[2] / "examples"


def analyze(name, *, changes=(), json=None, time_limit=60.0):
    return analyze_scene(EXAMPLES / f"{name}.toml", list(changes), 1e-6, 1e-6, None, time_limit, json)


def test_door_wedge_is_jammed():
    found = report(st.read_scene(EXAMPLES / "door_wedge.toml").world, bounds=False)
    assert found.verdict == "jammed: holds against any pull, however strong"
    assert found.numbers["jamming_bound"] == pytest.approx(np.tan(np.radians(5.0)), rel=1e-6)
    assert len(found.contacts) == 3


def test_chalk_has_no_finite_forces(capsys, tmp_path):
    assert analyze("chalk", json=tmp_path / "chalk.json")
    said = capsys.readouterr().out
    assert "an impulse without an impact is forced" in said
    assert "comes to rest bearing" in said
    assert "above: no solution" in said
    assert "ttp01 theorem 1" in said
    data = json.loads((tmp_path / "chalk.json").read_text())
    assert data["decided"] is True
    assert data["numbers"]["jamming_bound"] == "infinite"  # one contact cannot jam
    assert data["numbers"]["friction_bound"] == pytest.approx(1.3281, abs=1e-3)
    assert {h["name"] for h in data["hypotheses"]} == {
        "H1",
        "H2",
        "H3",
        "H4",
        "H5",
        "H6",
        "(1)",
        "(2)",
        "A",
        "B",
        "n∩D",
    }


def test_a_loose_part_on_a_jammed_one_says_how_much_is_held():
    world = st.PlanarWorld()
    for side, name in ((1.0, "left"), (-1.0, "right")):
        world.add_half_plane(normal=(side * np.cos(0.2), np.sin(0.2)), name=name)
    corners = np.array([[-0.1, 0.1], [0.1, 0.1], [0.3, 0.3], [-0.3, 0.3]]) * [np.tan(0.2), 1.0]
    world.add_body(st.Polygon(corners), name="wedge", mass=2.0)
    world.add_body(st.Polygon([(-0.02, 0.3), (0.02, 0.3), (0.02, 0.31), (-0.02, 0.31)]), name="coin", mass=0.1)
    for name in ("left", "right"):
        world.set_contact("wedge", name, friction=0.3)
    world.set_contact("wedge", "coin", friction=0.4)
    found = report(world, bounds=False)
    assert found.verdict == "jammed: holds against any pull below 0.3643 N"  # µ m g / √(1 + µ²), of the coin
    assert found.numbers["jamming_bounds"]  # of single contacts, the others keeping theirs


def test_peg_that_may_slide_or_stay():
    found = report(st.read_scene(EXAMPLES / "peg_in_hole.toml").world, bounds=False)
    assert "two motions possible" in found.verdict
    assert "stays jammed and holds" in found.verdict


def test_a_block_slides_rests_falls_or_strikes():
    def block(**how):
        world = st.PlanarWorld()
        world.add_half_plane(name="floor")
        box = [(-0.5, 0.0), (0.5, 0.0), (0.5, 0.1), (-0.5, 0.1)]
        world.add_body(st.Polygon(box), name="block", mass=2.0, **how)
        world.set_contact("block", "floor", friction=0.4)
        return report(world, bounds=False)

    assert block(velocity=(1.0, 0.0)).verdict == "slides"
    assert block().verdict.startswith("rests: holds against any pull below 7.28")  # µ m g / √(1 + µ²)
    assert block(position=(0.0, 1.0)).verdict == "is free"
    assert block(velocity=(0.0, -1.0)).verdict == "an impact comes first"


def test_exit_codes(tmp_path):
    code = "import sys; from stiction.cli import main; sys.argv[0] = 'stiction'; main()"

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", code, "analyze", *map(str, arguments)], capture_output=True, text=True,
            env={**os.environ, "COLUMNS": "160"},
        )  # fmt: skip

    missing = run(tmp_path / "no.toml")
    assert missing.returncode == 2
    assert "no such file" in missing.stderr
    slippery = run(EXAMPLES / "chalk.toml", "--set", "contacts.0.friction=0.1", "--json", tmp_path / "chalk.json")
    assert slippery.returncode == 0, slippery.stderr
    assert json.loads((tmp_path / "chalk.json").read_text())["verdict"] == "slides"
    wrong = run(EXAMPLES / "chalk.toml", "--time-limit", "-1")
    assert wrong.returncode == 2
    assert "--time-limit" in wrong.stderr
