"""The schemes on the same three scenes: what each errs, and what a step costs.

python benchmarks/schemes.py        prints the table of docs/schemes.md

- slide: a box slides down 20° with friction 0.3 for 1 s; the error of the way, against g (sin α − µ cos α) t²/2.
- round: a ball of 0.1 m rolls over a fixed one of 0.5 m for 0.2 s at 1.5 m/s; the largest gap or overlap.
- stairs: ten boxes of 1 kg tumble down stairs, each by itself, 240 steps of 5 ms; how many of the 2400 steps gain
  energy, and how much at most [mJ].
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


def stairs(scheme):
    gains = []
    for seed in range(10):
        rng, world = np.random.default_rng(seed), st.World()
        world.set_material("default", friction=rng.uniform(0.1, 0.8))
        for i in range(6):
            world.add_body(st.Box((0.4, 1.0, 0.2)), kind="fixed", position=(0.4 * i, 0, -0.2 * i - 0.1))
        world.add_plane(offset=-1.4)
        turn, side, spin = rng.normal(size=4), 0.1 * rng.normal(), 3 * rng.normal(size=3)
        world.add_body(
            st.Box((0.2, 0.15, 0.1)), mass=1.0, position=(0, 0, 0.25), orientation=turn / np.linalg.norm(turn),
            velocity=(1.5, side, 0), angular_velocity=spin,
        )  # fmt: skip
        run = st.Simulator(world, dt=0.005, scheme=scheme).run(1.2, progress=False)
        gains.append(np.diff(run.energy.kinetic + run.energy.potential))
    gains = np.concatenate(gains)
    return f"{(gains > 1e-6).sum()}, {1e3 * max(gains.max(), 0.0):.2g}"


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
    """What a scene gives, a number times a thousand, or that the scheme did not get through it."""
    try:
        found = scene(scheme)
        return found if isinstance(found, str) else f"{1e3 * found:.2g}"
    except st.SolverError as error:
        return f"fails ({error.status})"


def main():
    print(
        "| scheme | slide: error of 0.295 m [mm] | round: gap or overlap [mm] | stairs: steps that gain, most [mJ] "
        "| stack: ms per step |\n|---|--:|--:|--:|--:|"
    )
    for name, scheme in SCHEMES.items():
        cells = (f"{measured(scene, scheme)} |" for scene in (slide, round_contact, stairs, stack))
        print(f"| `{name}` |", *cells, flush=True)


if __name__ == "__main__":
    main()
