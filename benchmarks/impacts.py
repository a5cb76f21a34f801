"""What the forms of impact laws do on random impacts: how often they differ, and whether they add energy.

    python benchmarks/impacts.py [--count 20000]

One contact in the plane: compression and restitution as two problems, which see the slip at the end of each alone,
against the impact followed through. Several contacts: the largest gain of energy that random impacts have shown.
"""

from __future__ import annotations

import argparse

import numpy as np

import stiction as st
from stiction.schemes.impact.energy import work
from stiction.schemes.impact.incremental import incremental
from stiction.schemes.impact.law import newton, poisson, stronge
from stiction.schemes.impact.several import Resolver
from stiction.solvers import make_solver, solve_any_law
from stiction.systems.restitution import LAWS as CODES

LAWS = {"newton": newton, "poisson": poisson, "stronge": stronge}


class Solve:
    """A solver as schemes get it."""

    tol = 1e-11

    def __init__(self, name="auto"):
        self.solver = make_solver(name)

    def __call__(self, problem, *, tol=None):
        """Solve to 1e-11."""
        return solve_any_law(self.solver, problem, tol=self.tol if tol is None else tol)


def rods(rng, count):
    """W, u, mu, e of rods of 1 kg and 1 m that hit with one end, at any angle and speed."""
    angle, mu, e = rng.uniform(0, np.pi, count), rng.uniform(0, 1.5, count), rng.uniform(0, 1, count)
    u = np.stack([-rng.uniform(0.1, 1, count), rng.normal(size=count)], axis=1)
    H = np.array(
        [[np.zeros(count), np.ones(count), 0.5 * np.cos(angle)], [np.ones(count), 0 * angle, 0.5 * np.sin(angle)]]
    )
    H = H.transpose(2, 0, 1) * np.array([1, 1, np.sqrt(12)])
    return H @ H.transpose(0, 2, 1), u, mu, e


def one_contact(law, count):
    """How often and how much the two-problem form departs at one contact."""
    solve = Solve("lemke")
    departures, gains = [], []
    for W, u, mu, e in zip(*rods(np.random.default_rng(0), count)):
        problem = st.ContactProblem(
            st.Dense(np.linalg.inv(W), np.eye(2)), v_free=u, row_ptr=[0, 2], law=[1], friction=[mu]
        )
        two = LAWS[law](problem, np.array([e]), solve)
        departures.append(np.abs(two.v - incremental(W, u, mu, e, law).u).max() / np.linalg.norm(u))
        gains.append(work(problem, two.p, two.v)[0].sum() / (0.5 * u @ np.linalg.solve(W, u)))
    d = np.array(departures)
    off = d > 1e-6
    print(
        f"{law:8} one contact: {100 * off.mean():.1f} % of {count} rods differ; of those the median by "
        f"{np.median(d[off]):.3f}, the worst by {d.max():.2f} of the speed of impact; "
        f"{100 * np.mean(np.array(gains) > 1e-8):.2g} % gain, the worst by {100 * max(0.0, *gains):.2g} %"
    )


def impact_problem(rng, contacts, bodies):
    """Disks of random mass and inertia in the plane with contacts between random pairs at random places."""
    M = np.diag(np.concatenate([[m, m, m * rng.uniform(0.05, 0.5)] for m in rng.uniform(0.2, 5, bodies)]))
    H = np.zeros((2 * contacts, 3 * bodies))
    for k in range(contacts):
        a, b = rng.choice(bodies + 1, 2, replace=False)
        angle, arms = rng.uniform(0, 2 * np.pi), rng.normal(size=(2, 2))
        for body, arm, sign in ((a, arms[0], 1), (b, arms[1], -1)):
            if body == bodies:
                continue  # the ground
            for row, d in enumerate(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle)))):
                H[2 * k + row, 3 * body : 3 * body + 3] = sign * np.array([*d, arm[0] * d[1] - arm[1] * d[0]])
    mu = rng.uniform(0, 1, contacts) * rng.integers(0, 2)
    return st.ContactProblem(
        st.Dense(M, H),
        v_free=rng.normal(size=3 * bodies),
        row_ptr=2 * np.arange(contacts + 1),
        law=np.ones(contacts, dtype=int),
        friction=[max(float(m), 1e-12) for m in mu],
    )


def several_contacts(law, way, count, kind):
    """The largest gain, relative to the kinetic energy before, and how often there is one."""
    rng, solve = np.random.default_rng(1), Solve()
    most, gains, failed, done = 0.0, 0, 0, 0
    for _ in range(count):
        contacts = int(rng.integers(2, 5))
        problem = impact_problem(rng, contacts, int(rng.integers(1, 4)))
        e = rng.uniform(0, 1, contacts)
        e = np.full(contacts, e[0]) if kind == "equal e" else np.round(e) if kind == "e 0 or 1" else e
        if not (problem.q[::2] < 0).any():
            continue
        hit = Resolver(np.full(problem.nk, CODES.index(law)), way, True, lambda speed, e=e: e, str, solve)(problem)
        if not hit.solved:
            failed += 1
            continue
        done += 1
        before = 0.5 * problem.v_free @ problem.dynamics.mass(problem.v_free)
        gain = work(problem, hit.p, hit.v)[0].sum() / before
        most, gains = max(most, gain), gains + (gain > 1e-8)
    name = way if isinstance(way, str) else f"springs^{way.exponent:g}"
    print(
        f"{law:8} {name:12} {kind:8} 2 to 4 contacts: {gains} of {done} gain, the worst by {100 * most:.3g} %; "
        f"{failed} did not end"
    )


def main():
    """Print the figures of docs/impact.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    count = parser.parse_args().count
    for law in ("poisson", "stronge"):
        one_contact(law, count)
    for law in LAWS:
        for kind in ("equal e", "any e", "e 0 or 1"):
            several_contacts(law, "simultaneous", count // 10, kind)
        several_contacts(law, "sequential", count // 10, "any e")
    several_contacts("stronge", st.WorkDriven(1.5), count // 100, "any e")


if __name__ == "__main__":
    main()
