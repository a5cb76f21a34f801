"""A gas of smooth spheres between elastic walls: with e = 1 it keeps its energy, with e < 1 it cools by Haff's law.

Haff (1983): with a collision frequency ω ∝ √T the energy falls as T(t) = T₀/(1 + t/τ)², where 1/τ = (1 - e²) ω₀/6
and, by Enskog, ω₀ = 4 √π n σ² g √(T₀/m) with n the number density, σ the diameter and g = (1 - φ/2)/(1 - φ)³. Walls
take some partners away: of the directions at which two centres in a box of edge L can be σ apart, the share
1 - 3/2 (σ/L) + 2/π (σ/L)² is left.
"""

import numpy as np
import pytest

import stiction as st

RADIUS, MASS = 0.05, 1.0


def gas(side, e, h, duration, fill=0.1, seed=0, impact="newton"):
    """side³ spheres from a lattice with random velocities; fill: their share of the volume that they can reach."""
    count = side**3
    inner = (count * 4 / 3 * np.pi * RADIUS**3 / fill) ** (1 / 3)  # where centres can be
    edge = inner + 2 * RADIUS
    world = st.World(gravity=(0, 0, 0))
    world.set_material("sphere", friction=0.0, restitution=e)
    world.set_material("wall", friction=0.0, restitution=1.0)
    world.set_contact("sphere", "wall", restitution=1.0)
    for normal in np.vstack([np.eye(3), -np.eye(3)]):
        world.add_plane(normal=tuple(normal), offset=-edge / 2, material="wall")
    line = ((np.arange(side) + 0.5) / side - 0.5) * edge
    places = np.array(np.meshgrid(line, line, line)).reshape(3, -1).T
    velocities = np.random.default_rng(seed).normal(size=(count, 3))
    for place, velocity in zip(places, velocities - velocities.mean(axis=0)):
        world.add_body(st.Sphere(RADIUS), mass=MASS, position=tuple(place), velocity=tuple(velocity), material="sphere")
    run = st.Simulator(world, dt=h, scheme=st.Moreau(impact=impact), tol=1e-11).run(duration)
    collisions = sum(event.kind == "impact" and "plane" not in event.contact for event in run.events)
    return run.times, run.energy.total, collisions, count / inner**3, run


def haff(energy, density, count, e, fill):
    """The time τ of Haff's law [s] for a gas with this energy at first."""
    temperature = 2 * energy / (3 * count)  # m <v²>/3
    g = (1 - fill / 2) / (1 - fill) ** 3
    reach = 2 * RADIUS * (density / count) ** (1 / 3)  # σ/L
    left = 1 - 1.5 * reach + 2 / np.pi * reach**2
    frequency = 4 * np.sqrt(np.pi) * density * (2 * RADIUS) ** 2 * g * left * np.sqrt(temperature / MASS)
    return 6 / ((1 - e**2) * frequency)


@pytest.mark.parametrize("impact", ["newton", "poisson", "stronge"])
def test_elastic_gas_keeps_its_energy(impact):
    _, energy, collisions, _, run = gas(3, 1.0, 0.003, 0.45, impact=impact)
    assert collisions > 50
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    assert run.certificate.worst["penetration"] < 1e-9


def test_gas_cools():
    _, energy, collisions, _, _ = gas(3, 0.8, 0.003, 0.6)
    assert collisions > 50
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()
    assert 0.2 < energy[-1] / energy[0] < 0.8


@pytest.mark.long
def test_500_elastic_spheres():
    _, energy, collisions, _, _ = gas(8, 1.0, 0.003, 2.8)
    assert collisions > 10_000
    assert np.abs(energy / energy[0] - 1).max() < 1e-9


@pytest.mark.long
def test_500_spheres_cool_by_haffs_law():
    """T₀/T = (1 + t/τ)^2: the exponent and τ from a fit, against 2 and kinetic theory."""
    e, fill = 0.9, 0.1
    times, energy, _, density, _ = gas(8, e, 0.003, 5.0, fill)
    from scipy.optimize import curve_fit

    later = times > 0.2  # the lattice is forgotten
    t, T = times[later] - times[later][0], energy[later] / energy[later][0]
    (tau, power), _ = curve_fit(lambda t, tau, power: -power * np.log1p(t / tau), t, np.log(T), p0=(1.5, 2.0))
    exact = haff(energy[later][0], density, 512, e, fill)
    (fixed,), _ = curve_fit(lambda t, tau: -2 * np.log1p(t / tau), t, np.log(T), p0=(1.5,))
    print(f"exponent {power:.3f}, tau {tau:.3f} s; with exponent 2 tau {fixed:.3f} s, kinetic theory {exact:.3f} s")
    assert power == pytest.approx(2.0, abs=0.3)
    assert fixed == pytest.approx(exact, rel=0.07)
