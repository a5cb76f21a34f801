"""The schemes on the same three scenes: what each errs, and what a step costs.

python benchmarks/schemes.py        prints the table of docs/schemes.md

- slide: a box slides down 20° with friction 0.3 for 1 s; the error of the way, against g (sin α − µ cos α) t²/2.
- round: a ball of 0.1 m rolls over a fixed one of 0.5 m for 0.2 s at 1.5 m/s; the largest gap or overlap.
- stack: ten boxes at rest; milliseconds of the processor per step, each step by itself (`Simulator.step`).
"""

import math
import time

import numpy as np

import stiction as st

SCHEMES = {
    "AnitescuHart()": st.AnitescuHart(),
    'AnitescuHart(relaxation="convex")': st.AnitescuHart(relaxation="convex"),
    "StewartTrinkle()": st.StewartTrinkle(),
    "StewartTrinkle(nonlinear=True)": st.StewartTrinkle(nonlinear=True),
    "TzitzourisPang()": st.TzitzourisPang(),
    "Moreau()": st.Moreau(),
}
SLOPE, MU, H = math.radians(20), 0.3, 0.01


def slide(scheme):
    world = st.World()
    ramp = world.add_plane(normal=(math.sin(SLOPE), 0, math.cos(SLOPE)))
    turn = (math.cos(SLOPE / 2), 0, math.sin(SLOPE / 2), 0)
    place = (0.05 * math.sin(SLOPE), 0, 0.05 * math.cos(SLOPE))
    box = world.add_body(st.Box((0.2, 0.2, 0.1)), mass=1.0, position=place, orientation=turn)
    world.set_contact(box, ramp, friction=MU)
    run = st.Simulator(world, dt=H, scheme=scheme).run(1.0, progress=False)
    way = np.linalg.norm(run.position(box)[-1] - run.position(box)[0])
    return way - 0.5 * 9.81 * (math.sin(SLOPE) - MU * math.cos(SLOPE))


def round_contact(scheme):
    world = st.World()
    hill = world.add_body(st.Sphere(0.5), kind="fixed", position=(0, 0, -0.5))
    rolls = {"velocity": (1.5, 0, 0), "angular_velocity": (0, 15, 0)}
    ball = world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), **rolls)
    world.set_contact(ball, hill, friction=0.5)
    run = st.Simulator(world, dt=H, scheme=scheme).run(0.2, progress=False)
    return np.abs(run.contacts(ball, hill).gap).max()


def stack(scheme):
    world = st.World()
    world.add_plane()
    for i in range(10):
        world.add_body(st.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * i))
    sim = st.Simulator(world, dt=H, scheme=scheme)
    sim._loop = None  # a step that repeats itself is computed all the same
    for _ in range(20):
        sim.step()
    start = time.process_time()
    for _ in range(50):
        sim.step()
    return (time.process_time() - start) / 50


def measured(scene, scheme):
    """A thousand times what a scene gives, or that the scheme did not get through it."""
    try:
        return f"{1e3 * scene(scheme):.2g}"
    except st.SolverError as error:
        return f"fails ({error.status})"


def main():
    print("| scheme | slide: error of 0.295 m [mm] | round: gap or overlap [mm] | stack: ms per step |")
    print("|---|--:|--:|--:|")
    for name, scheme in SCHEMES.items():
        print(f"| `{name}` |", *(f"{measured(scene, scheme)} |" for scene in (slide, round_contact, stack)), flush=True)


if __name__ == "__main__":
    main()
