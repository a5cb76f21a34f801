"""One free body on a plane, at random: what its energy does, measured from the states alone.

    python tests/fuzz/energy.py --cases 20 --scheme AnitescuHart --condition b
    python tests/fuzz/energy.py --seed 7 --condition c        # one case again

Conditions: "b" no gravity; "c" gravity, ω·h <= 0.3, also with half the step; "d" gravity, ω·h from 0.3 to 10. ω is the
rate at which the body turns, and for those that are thrown what friction can spin them up to on their smallest radius;
others spin fast about an axis of their own, or roll. What must hold stands in `faults`; a case of "c" that comes to
turn by more than 0.3 rad in a step is judged as one of "d", and counted as "outside". A step that turns so far may end
with the status `UNRESOLVED`.

The truncation of gravity is h m g (v⁺ - v)/2 in a step, with v the speed upwards: from any start to any end it is
h m g/2 times the change of that speed. A body that falls or is thrown is fastest upwards at its start, and an impact
takes more than it has: its energy hardly ever rises above the start. What shows the order of the error is what it
regains after its lowest energy, as an ellipsoid does that rolls from its long side to the short one and back.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

import numpy as np

import stiction as st

SCHEMES = ("AnitescuHart", "Moreau")
CONDITIONS = ("b", "c", "d")
GRAVITY = 9.81


@dataclass
class Case:
    """What one case did. Energies [J]; unit: T₀, with gravity T₀ + m g·size; t0: the kinetic energy at the start.

    change: the largest mass_change of a step over the kinetic energy then; rise, regained, regained_half: the largest
    rise of the energy above its start, and above its lowest so far, at h and at h/2; booked: the largest rise above the
    start and the stabilisation so far; peak: the largest energy over 2 (E₀ + m g·size); spun: the largest ω·h; failed:
    the step that failed, or -1.
    """

    seed: int
    scheme: str
    condition: str
    shape: str
    aspect: float
    friction: float
    angle: float
    h: float
    unit: float = np.nan
    t0: float = np.nan
    change: float = np.nan
    rise: float = np.nan
    regained: float = np.nan
    regained_half: float = np.nan
    booked: float = np.nan
    peak: float = np.nan
    spun: float = np.nan
    failed: int = -1
    status: str = ""
    faults: list[str] = field(default_factory=list)


def matrix(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def height(kind, size, down):
    """How far a shape reaches along the direction `down` of its own axes."""
    if kind == "Box":
        return 0.5 * np.abs(down) @ size
    if kind == "Ellipsoid":
        return np.linalg.norm(size * down)
    r, l = size
    return 0.5 * l * abs(down[2]) + r * (1.0 if kind == "Capsule" else np.hypot(down[0], down[1]))


def draw(seed, condition):
    """A body, its start, friction and step; the same for every scheme."""
    rng = np.random.default_rng([seed, CONDITIONS.index(condition)])
    kind = ("Capsule", "Cylinder", "Box", "Ellipsoid")[rng.integers(4)]
    aspect, long = 10.0 ** rng.uniform(0, 3), 10.0 ** rng.uniform(-1.5, 0)
    flat = rng.random() < 0.25  # a disc or a plate, otherwise a rod
    if kind in ("Box", "Ellipsoid"):
        size = long * np.array([1.0, 10.0 ** -rng.uniform(0, np.log10(aspect)), 1 / aspect])
        size = size if kind == "Box" else 0.5 * size
        shape, least, reach = (st.Box(size), 0.5 * size.min(), 0.5 * np.linalg.norm(size)) if kind == "Box" else (
            st.Ellipsoid(size), size.min(), size.max())  # fmt: skip
    else:
        r = 0.5 * long / aspect
        if kind == "Capsule":
            l = max(long - 2 * r, 1e-3 * long)
            shape, least, reach = st.Capsule(r, l), r, 0.5 * l + r
        else:
            r, l = (0.5 * long, long / aspect) if flat else (r, long)
            shape, least, reach = st.Cylinder(r, l), min(r, 0.5 * l), np.hypot(r, 0.5 * l)
        size = np.array([r, l])
    turn = rng.normal(size=4)
    if rng.random() < 0.5:  # lying
        quarter = {"Capsule": 0.5**0.5, "Cylinder": 0.5**0.5}.get(kind, 0.0)
        turn = np.array([1 - quarter, 0, quarter, 0]) if quarter == 0.0 else np.array([quarter, 0, quarter, 0])
        turn = turn + (rng.random() < 0.5) * 1e-2 * rng.normal(size=4)
    turn = turn / np.linalg.norm(turn)
    friction = float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 1)]))
    v = rng.normal(size=3) * 10.0 ** rng.uniform(-1, 0.5)
    v[2] = -abs(v[2]) if rng.random() < 0.7 else 0.0
    spin = rng.normal(size=3) * np.linalg.norm(v) / reach * 10.0 ** rng.uniform(-1, 0.5)
    start = rng.integers(3)
    if start == 1:  # fast about an axis of its own
        axis = rng.integers(3)
        spin += matrix(turn)[:, axis] * np.linalg.norm(v) / (least if axis != 2 or kind in ("Capsule", "Cylinder")
                                                             else reach) * rng.choice([-1.0, 1.0])  # fmt: skip
    elif start == 2:  # rolling, on the height at which it lies
        along = matrix(turn)[:, 2] if kind in ("Capsule", "Cylinder") else matrix(turn)[:, 0]
        along = np.array([along[0], along[1], 0.0]) / max(np.hypot(along[0], along[1]), 1e-9)
        v = np.cross(along, [0, 0, 1]) * np.linalg.norm(v)
        spin = 0.1 * spin + along * np.linalg.norm(v) / height(kind, size, matrix(turn).T @ np.array([0, 0, -1.0]))
    g = 0.0 if condition == "b" else GRAVITY
    fastest = np.linalg.norm(v) + np.linalg.norm(spin) * reach + np.sqrt(2 * g * reach)
    low, high = {"b": (0.01, 10.0), "c": (0.02, 0.3), "d": (0.3, 10.0)}[condition]
    angle = low * (high / low) ** rng.random()
    rubbed = min(1.0, 3 * friction) * fastest / least if start == 0 else 0.0
    h = angle / max(np.linalg.norm(spin), fastest / reach, rubbed)
    above = height(kind, size, matrix(turn).T @ np.array([0, 0, -1.0]))
    place = (0, 0, above + (rng.random() < 0.5) * rng.uniform(0, 5) * h * fastest)

    def world():
        w = st.World(gravity=(0, 0, -g))
        w.set_material("default", friction=friction)
        w.add_plane()
        w.add_body(shape, density=1000.0, position=place, orientation=turn, velocity=v, angular_velocity=spin)
        return w

    return world, Case(seed, "", condition, kind, aspect, friction, angle, h), g, reach


def energies(world, q, v, g):
    """Kinetic and potential energy of the only body, from its states."""
    spec = world.bodies[-1]
    kinetic = np.empty(len(q))
    for k, (pose, speed) in enumerate(zip(q[:, -7:], v[:, -6:])):
        w = matrix(pose[3:]).T @ speed[3:]
        kinetic[k] = 0.5 * spec.mass * speed[:3] @ speed[:3] + 0.5 * w @ spec.inertia @ w
    return kinetic, spec.mass * g * q[:, -5]


def regained(energy):
    """The largest rise of an energy above its lowest value so far."""
    return float((energy - np.minimum.accumulate(energy)).max())


def march(world, scheme, h, steps, tol):
    """States (n+1), mass_change and stabilisation (n) up to the first step that failed, its number or -1, and why."""
    sim = st.Simulator(world, h, scheme=getattr(st, scheme)(), tol=tol, on_failure="continue", on_overlap="warn")
    q, v, change, pushed = [sim.state.q], [sim.state.v], [], []
    for k in range(steps):
        try:
            result = sim.step()
        except (st.SolverError, ArithmeticError, ValueError, RuntimeWarning) as error:
            return np.array(q), np.array(v), np.array(change), np.array(pushed), k, type(error).__name__
        if not result.success:
            return np.array(q), np.array(v), np.array(change), np.array(pushed), k, result.status.name
        q.append(result.state.q.copy())
        v.append(result.state.v.copy())
        change.append(result.certificate.energy.mass_change)
        pushed.append(result.certificate.energy.stabilisation)
    return np.array(q), np.array(v), np.array(change), np.array(pushed), -1, ""


def energy_case(seed, condition="b", scheme="AnitescuHart", steps=500, tol=1e-10, smaller=1.0):
    """Measure one case; `smaller` divides the step. Its faults are sentences, none where all holds."""
    make, case, g, reach = draw(seed, condition)
    case.scheme, case.h, case.angle = scheme, case.h / smaller, case.angle / smaller
    world = make()
    with np.errstate(all="ignore"):
        q, v, change, pushed, case.failed, case.status = march(world, scheme, case.h, steps, tol)
        kinetic, potential = energies(world, q, v, g)
        total = kinetic + potential
        least = np.maximum(np.maximum(kinetic[1:], kinetic[:-1]), 1e-300)
        case.t0 = float(kinetic[0])
        lift = world.bodies[-1].mass * g * reach
        case.unit = case.t0 + lift
        case.change = float(np.max(np.abs(change) / least, initial=0.0))
        case.rise, case.regained = float(total.max() - total[0]), regained(total)
        case.booked = float(np.max(kinetic[1:] - kinetic[0] - np.maximum(np.cumsum(pushed), 0.0), initial=-np.inf))
        case.peak = float(total.max() / (2 * (total[0] + lift)))
        case.spun = float(case.h * np.linalg.norm(v[:, -3:], axis=1).max())
        if condition == "c":
            q, v, _, _, failed, _ = march(make(), scheme, 0.5 * case.h, 2 * steps, tol)
            case.regained_half = regained(sum(energies(world, q, v, g)))
            case.failed = max(case.failed, failed)
    case.faults = faults(case)
    return case


def inside(case):
    """Whether a case of condition c turned by no more than 0.3 rad in a step."""
    return case.condition == "c" and case.spun <= 0.3


def faults(case):
    """What does not hold for a case by itself; the order of what is regained is asked of all cases together."""
    said = []
    if not case.change <= 1e-12:
        said.append(f"mass_change {case.change:.1e} of T in a step")
    if case.condition == "b" and not case.booked <= 1e-9 * case.t0:
        said.append(f"energy rises {case.booked / case.t0:.1e} T0 above the booked stabilisation")
    if inside(case) and not case.rise <= 0.02 * case.unit:
        said.append(f"energy rises by {case.rise / case.unit:.1e} of T0 + m g size")
    if case.condition != "b" and not inside(case) and not case.peak <= 1.0:
        said.append(f"energy reaches {case.peak:.1e} times 2 (E0 + m g size)")
    if case.condition != "d" and case.failed >= 0 and case.status != "UNRESOLVED":  # which says: by more than 0.3 rad
        said.append(f"step {case.failed} failed: {case.status}")
    return said


def halves(cases, seen=1e-6):
    """What is regained at h over that at h/2, in cases of condition c where the larger is at least `seen` units.

    A single case may come to rest on another face, or meet the plane in another phase: the median is judged.
    """
    cases = [c for c in cases if inside(c) and c.failed < 0]
    pairs = np.array([(c.regained, c.regained_half) for c in cases])
    units = np.array([c.unit for c in cases])
    if not len(pairs):
        return np.zeros(0)
    large = pairs.max(axis=1) >= seen * units
    return pairs[large, 0] / np.maximum(pairs[large, 1], 1e-300)


HEAD = (
    f"{'seed':>5s} {'scheme':12s} {'cond':4s} {'shape':9s} {'aspect':>7s} {'µ':>5s} {'ωh':>7s} {'ωh max':>8s} "
    f"{'dm/T':>8s} {'rise/u':>8s} {'back/u':>8s} {'half/u':>8s} {'b: over':>9s} {'d: peak':>8s} {'failed':>6s}  faults"
)


def row(c):
    half = f"{c.regained_half / c.unit:8.1e}" if c.condition == "c" else " " * 8
    return (
        f"{c.seed:5d} {c.scheme:12s} {c.condition:4s} {c.shape:9s} {c.aspect:7.1f} {c.friction:5.2f} {c.angle:7.3f} "
        f"{c.spun:8.3g} {c.change:8.1e} {c.rise / c.unit:8.1e} "
        f"{c.regained / c.unit:8.1e} {half} {c.booked / c.t0:9.1e} {c.peak:8.1e} "
        f"{c.failed:6d}  {'; '.join(c.faults)}"
    )


def summary(cases):
    """A line for each scheme and condition."""
    lines = [
        f"{'scheme':12s} {'cond':4s} {'cases':>5s} {'faulty':>6s} {'failed':>6s} {'worst dm/T':>10s} "
        f"{'worst rise/u':>12s} {'worst b: over':>13s} {'worst d: peak':>13s} {'median ratio':>12s} "
        f"{'of':>4s} {'outside':>7s}"
    ]
    for key in sorted({(c.scheme, c.condition) for c in cases}):
        of = [c for c in cases if (c.scheme, c.condition) == key]
        ratio = halves(of)
        lines.append(
            f"{key[0]:12s} {key[1]:4s} {len(of):5d} {sum(bool(c.faults) for c in of):6d} "
            f"{sum(c.failed >= 0 for c in of):6d} {max(c.change for c in of):10.1e} "
            f"{max(c.rise / c.unit for c in of):12.1e} {max(c.booked / c.t0 for c in of):13.1e} "
            f"{max(c.peak for c in of):13.1e} {np.median(ratio) if len(ratio) else np.nan:12.2f} {len(ratio):4d} "
            f"{sum(c.condition == 'c' and not inside(c) for c in of):7d}"
        )
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20, help="so many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one only")
    parser.add_argument("--scheme", choices=SCHEMES, help="by default both")
    parser.add_argument("--condition", choices=CONDITIONS, help="by default all")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tol", type=float, default=1e-10)
    parser.add_argument("--smaller", type=float, default=1.0, help="divide the step by this")
    parser.add_argument("--quiet", action="store_true", help="only cases with faults")
    o = parser.parse_args(arguments)
    import warnings

    warnings.simplefilter("ignore")
    cases = []
    print(HEAD)
    for condition in [o.condition] if o.condition else CONDITIONS:
        for scheme in [o.scheme] if o.scheme else SCHEMES:
            for seed in range(o.first, o.first + o.cases) if o.seed is None else [o.seed]:
                cases.append(energy_case(seed, condition, scheme, o.steps, o.tol, o.smaller))
                if cases[-1].faults or not o.quiet:
                    print(row(cases[-1]), flush=True)
    print("\n" + summary(cases))
    return int(any(c.faults for c in cases))


if __name__ == "__main__":
    sys.exit(main())
