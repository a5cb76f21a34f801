"""The scene files of examples and papers give the trajectories of their Python forms."""
# ruff: noqa: E501

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import stiction as st

ROOT = Path(__file__).parents[2]
SCENES = {path.stem: path for path in sorted((ROOT / "examples" / "scenes").glob("*.toml"))}


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def caught(main):
    """The first run that the main function of an example makes."""
    found = []
    run = st.Simulator.run

    def catch(self, duration, **options):
        found.append(run(self, duration, **options))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st.Simulator, "run", catch)
        main()
    return found[0]


def paper(name):
    return __import__(f"stiction.papers.{name}", fromlist=[name])


def simulated(world, h, duration, **options):
    return st.Simulator(world, h, **options).run(duration, progress=False)


def claims(world, duration, **options):
    return simulated(world, 0.01, duration, scheme=st.AnitescuHart(**options), solver="lemke", tol=1e-8)


PYTHON = {  # the run of the Python form, and how long the scene is run to be compared [s]
    "ball_and_tower": (lambda: caught(example("ball_and_tower").main), 1.5),
    "arch": (lambda: simulated(example("arch").build(0.12, 0.7), 0.005, 0.3), 0.3),
    "chain": (lambda: caught(example("chain").main), 2.0),
    "slider_crank": (lambda: simulated(example("slider_crank").build()[0], 0.002, 3.0, tol=1e-8), 3.0),
    "geneva": (lambda: simulated(example("geneva").build(), 0.002, 1.2), 1.2),
    "granular_gas": (lambda: simulated(example("granular_gas").gas(4, 0.8), 0.004, 0.3, scheme=st.Moreau(), tol=1e-10), 0.3),
    "table_legs": (lambda: simulated(example("table_legs").table(st.Compliance(kn=1e7, gamma_n=2e5)), 0.01, 0.5, solver="nsgs"), 0.5),
    "parts_feeder": (lambda: simulated((f := example("parts_feeder")).build(f.BETTER, f.Start(nose=False)), 0.001, 0.2), 0.2),
    "fixture": (lambda: simulated((f := example("fixture")).build(*f.ON_THE_WAY, f.TILT), 0.001, 0.3, tol=1e-9), 0.3),
    "gripper": (lambda: simulated(example("gripper").build(7.0), 0.002, 0.35, tol=1e-10), 0.35),
    "domino_run": (lambda: simulated(example("domino_run").build(), 0.001, 0.3), 0.3),
    "card_house": (lambda: simulated(example("card_house").build(0.99 * example("card_house").LIMIT), 0.002, 0.5, tol=1e-8), 0.5),
    "capstan": (lambda: simulated(example("capstan").build(), 0.005, 0.2, tol=1e-9), 0.2),
    "ball_bearing": (lambda: simulated(example("ball_bearing").build(), 0.004, 1.0), 1.0),
    "billiards": (lambda: simulated(example("billiards").build(), 0.002, 0.2, scheme=st.Moreau(impact="stronge", multiple=st.WorkDriven(1.5)), tol=1e-9), 0.2),
    "tippe_top": (lambda: simulated(example("tippe_top").build(), 0.0005, 0.2), 0.2),
    "rattleback": (lambda: simulated(example("rattleback").build(5.0), 0.002, 0.5), 0.5),
    "st96_balls": (lambda: paper("st96_balls")._run(paper("st96_balls").balls(4), 0.02), 1.0),
    "s00_billiards": (lambda: paper("s00_billiards").play((2.2, 0.1, 0.0), 0.01, 1.0), 1.0),
    "ah03_ellipse": (lambda: paper("ah03_ellipse").simulate(), 20.0),
    "ah03_disks": (lambda: paper("ah03_disks")._run(duration=3.0), 3.0),
    "ah03_pendulum": (lambda: claims(paper("ah03_claims").pendulum(), 4.0), 4.0),
    "ah03_paddle": (lambda: claims(paper("ah03_claims").paddle(1.0), 0.8), 0.8),
    "ah03_sliding_box": (lambda: claims(paper("ah03_claims").sliding_box(0.2), 1.0, relaxation="convex"), 1.0),
    "ah03_brazil_nut": (lambda: simulated(paper("ah03_brazil_nut").nut(), 0.1, 3.0, scheme=st.AnitescuHart(relaxation="convex"), accept=1e-6), 3.0),
    "ttp01_two_spheres": (lambda: paper("ttp01_sphere").implicit(paper("ttp01_two_spheres").seam_world(), 0.1, 4.0), 4.0),
}  # fmt: skip
QUICK = ("ball_and_tower", "chain", "ah03_paddle", "capstan")
SCENE_OF = {"brazil_nut": "ah03_brazil_nut"}  # of a script that runs the scene of a paper


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in PYTHON])
def test_a_scene_runs_to_the_bits_of_its_python_form(name):
    python, duration = PYTHON[name]
    scene = st.read_scene(SCENES[name])
    ours, theirs = scene.simulator().run(duration, progress=False), python()
    assert scene.duration >= duration
    assert np.array_equal(ours.times, theirs.times)
    assert np.array_equal(ours.q, theirs.q)
    assert np.array_equal(ours.v, theirs.v)


def body(run, name):
    """(n, 6) position, angle and velocities of a body in the plane."""
    return np.column_stack([run.position(name), run.angle(name), run.velocity(name), run.angular_velocity(name)])


def test_the_falling_rod_as_a_body_moves_as_in_generalized_coordinates():
    """Up to the step: a body's slip is that of the middle of a gap that is still open, not that of its own surface."""
    ours = st.read_scene(SCENES["falling_rod"]).simulator().run(0.7, progress=False)
    theirs = example("falling_rod").main()
    assert np.abs(body(ours, "rod")[:, :3] - theirs.q).max(axis=0) == pytest.approx([0.0, 0.0, 0.0], abs=5e-3)
    assert np.abs(body(ours, "rod")[-1, 1:3] - theirs.q[-1, 1:]).max() < 1e-9  # it lies as the other does
    first, second = (next(e for e in run.events if e.kind == "impact") for run in (ours, theirs))
    assert first.step == second.step
    assert first.impulse[0] == pytest.approx(second.impulse[0], rel=0.01)


@pytest.mark.long
def test_painleves_rod_as_a_body_moves_as_in_generalized_coordinates():
    ours = st.read_scene(SCENES["painleve_rod"]).simulator().run(1.0, progress=False)
    theirs = paper("s00_painleve").simulate("AnitescuHart", 0.01)
    assert np.abs(body(ours, "rod") - np.column_stack([theirs.q, theirs.v])).max() < 1e-5


def test_the_gear_box_as_a_joint_stops_as_in_generalized_coordinates():
    ours = st.read_scene(SCENES["gear_box"]).simulator().run(3.0, progress=False)
    theirs = example("gear_box").main()
    assert np.abs(ours.angle("flywheel") - theirs["angle"]).max() < 1e-9
    assert np.abs(ours.angular_velocity("flywheel") - theirs["v_angle"]).max() < 1e-9


@pytest.mark.long
def test_the_belt_that_moves_by_its_velocity_is_that_of_the_function():
    ours = st.read_scene(SCENES["stick_slip"]).simulator().run(3.2, progress=False)
    stick = example("stick_slip")
    theirs = simulated(stick.build(stick.CASES["two coefficients"]), 0.005, 3.2)
    assert np.abs(ours.position("block") - theirs.position("block")).max() < 1e-6


def test_every_scene_is_compared_and_every_example_has_a_scene_or_is_named():
    assert {*PYTHON, "falling_rod", "painleve_rod", "gear_box", "stick_slip"} == set(SCENES)
    page = (ROOT / "docs" / "scenes.md").read_text()
    assert all(f"{name}.toml" in page for name in SCENES)
    only = re.search(r"Only in Python: (.*?)\n\n", page, re.S).group(1)
    for path in (ROOT / "examples").glob("*.py"):
        beside = path.with_suffix(".toml")  # a script that reads its scene
        assert SCENE_OF.get(path.stem, path.stem) in SCENES or beside.exists() or f"`{path.name}`" in only, path.name
        assert not beside.exists() or beside.name in page
