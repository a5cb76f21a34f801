"""The ellipse of ah03: quantities on record, and the closed form of its rocking."""

import numpy as np
import pytest

import stiction as st
from stiction.papers import ah03_ellipse, experiment


def test_quantities_on_record():
    outcome = experiment("ah03-ellipse").run()
    assert [q.name for q in outcome.quantities if not q.ok] == []
    assert {q.verdict for q in outcome.quantities if q.paper is not None} == {"reproduced"}


def test_the_stabilised_infeasibility_stays_in_its_band_and_the_other_grows():
    stable = ah03_ellipse.band(ah03_ellipse.simulate().certificate["penetration"])
    drifting = ah03_ellipse.band(ah03_ellipse.simulate(stabilize=False).certificate["penetration"])
    assert stable.max() < 1.05 * stable.min()
    assert (drifting[1:] > 1.1 * drifting[:-1]).all()


def test_period_of_a_rocking_ellipse():
    """Small rocking without slip on the flat side: ω² = m g (a²/b - b)/(I + m b²), I = m (a² + b²)/4."""
    a, b, g, tilt = 0.4, 0.3, 9.81, 1e-3
    world = st.PlanarWorld(gravity=(0.0, -g))
    world.set_material("default", friction=st.Coulomb(1.0))
    world.add_half_plane()
    height = np.hypot(a * np.sin(tilt), b * np.cos(tilt))
    body = world.add_body(st.Ellipse(a, b), mass=2.0, position=(0.0, height), angle=tilt)
    run = st.Simulator(world, 0.001, solver="lemke", tol=1e-9).run(3.0)
    angle = run.angle(body)
    down = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
    crossings = run.times[down] + 0.001 * angle[down] / (angle[down] - angle[down + 1])
    omega = np.sqrt(g * (a**2 / b - b) / ((a**2 + b**2) / 4 + b**2))
    assert np.diff(crossings).mean() == pytest.approx(2 * np.pi / omega, rel=2e-3)
