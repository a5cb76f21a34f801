"""The weak measure differential inclusion: distances in closed form, members in many contacts, and what is refused."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import convergence, inclusion
from stiction.papers.s00_inclusion import rod

G, H = 9.81, 0.004


def slider(mu=0.3, pull=0.0, height=0.0, speed=2.0):
    """A particle of 2 kg over a table, in the plane."""
    table = st.Gap(lambda q: q[1], lambda q: np.array([0.0, 1.0]), lambda q: np.array([1.0, 0.0]), st.Coulomb(mu))
    return st.GeneralizedSystem(2.0 * np.eye(2), [pull, -2.0 * G], q=[0.0, height], v=[speed, 0.0], gaps=[table])


def held(height):
    """The same, held where it is by a joint instead of the table."""
    joint = st.Bilateral(lambda q: q[1] - height, lambda q: np.array([[0.0, 1.0]]))
    return st.GeneralizedSystem(2.0 * np.eye(2), [0.0, 2.0 * G], q=[0.0, height], v=[2.0, 0.0], constraints=[joint])


def run(system, h=H, duration=0.2, scheme=None, **options):
    scheme = st.Moreau() if scheme is None else scheme
    return st.Simulator(system, h, scheme=scheme, tol=1e-11, accept=1e-11, **options).run(duration, progress=False)


@pytest.mark.parametrize("scheme", [st.Moreau(), st.Stewart(), st.AnitescuHart(), st.StewartTrinkle()])
def test_a_thrown_particle_is_a_member_through_flight_impact_and_rest(scheme):
    found = inclusion(slider(height=0.3, speed=0.6), run(slider(height=0.3, speed=0.6), duration=0.6, scheme=scheme))
    assert found.worst < 1e-12
    assert len(found.distance) > 100


def test_distance_of_too_much_friction_is_that_of_a_vector_from_a_cone():
    """Sliding needs the force m g (-0.3, 1); the cone of 0.25 is (0.3 - 0.25)/√(1 + 0.25²) away from it."""
    found = inclusion(slider(mu=0.25), run(slider()))
    expected = (0.3 - 0.25) / np.hypot(1.0, 0.25) / (np.hypot(1.0, 0.3) + 1.0)
    assert found.distance == pytest.approx(np.full(len(found.distance), expected), rel=1e-9)
    assert inclusion(slider(mu=0.35), run(slider())).worst < 1e-12  # the inclusion does not ask for dissipation


@pytest.mark.parametrize("height", [0.0, 0.5])
def test_tables_neither_pull_nor_act_from_afar(height):
    """A joint that holds a particle against a lift of m g, judged as if it were the table: half of all forces."""
    lifted = st.GeneralizedSystem(
        2.0 * np.eye(2), [0.0, 2.0 * G], q=[0.0, height], v=[2.0, 0.0],
        gaps=[st.Gap(lambda q: q[1], lambda q: np.array([0.0, 1.0]), lambda q: np.array([1.0, 0.0]), 0.3)],
    )  # fmt: skip
    found = inclusion(lifted, run(held(height)))
    assert found.distance == pytest.approx(np.full(len(found.distance), 0.5), rel=1e-9)
    assert inclusion(held(height), run(held(height))).worst < 1e-12


def test_directions_are_inside_the_round_cone_and_the_round_cone_is_not_inside_them():
    """Friction of a particle that slides at 45° to the directions: (µ√2 - µ)/√(2 + µ²) beyond a facet."""

    def space(friction):
        table = st.Gap(lambda q: q[2], lambda q: np.eye(3)[2], lambda q: np.eye(3)[:2], friction)
        return st.GeneralizedSystem(np.eye(3), [0.0, 0.0, -G], q=[0, 0, 0], v=[1.0, 1.0, 0.0], gaps=[table])

    mu = 0.4
    four = st.Polyhedral(mu, directions=[[1, 0], [0, 1], [-1, 0], [0, -1]])
    round_run = run(space(st.Coulomb(mu)), solver="newton")
    assert inclusion(space(st.Coulomb(mu)), round_run).worst < 1e-9
    expected = (np.sqrt(2.0) * mu - mu) / np.sqrt(2.0 + mu**2) / (np.hypot(1.0, mu) + 1.0)
    assert inclusion(space(four), round_run).distance[0] == pytest.approx(expected, rel=1e-6)
    assert inclusion(space(st.Coulomb(mu)), run(space(four), scheme=st.Moreau(), solver="lemke")).worst < 1e-9


def table_on_legs(share=1.0):
    """A box with joint-free legs that slides and spins: forces of its four corners are not determined."""
    world = st.World()
    world.add_plane()
    world.add_body(st.Box((0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.1), velocity=(1, 0, 0),
                   angular_velocity=(0, 0, 3.0), name="box")  # fmt: skip
    world.set_material("default", friction=0.4 * share)
    return world


def test_a_box_on_four_corners_is_a_member_and_not_with_less_friction():
    made = run(table_on_legs(), h=0.01)
    assert inclusion(table_on_legs(), made).worst < 1e-7
    assert inclusion(table_on_legs(0.9), made).worst > 0.01
    assert inclusion(table_on_legs(1.5), made).worst < 1e-7


def test_torsional_and_speed_dependent_friction():
    for friction in (st.Torsional(0.3, 1.0, 1.0, 0.02), st.Coulomb(st.Stribeck(0.4, 0.2, 0.3))):
        world = st.World()
        world.add_plane()
        world.add_body(st.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 0, 9.0))
        world.set_material("default", friction=friction)
        assert inclusion(world, run(world, h=0.005)).worst < 1e-7


def test_position_level_steps_leave_what_falls_with_the_step():
    """`StewartTrinkle` takes rows at the prediction: a rod that lands on its second support is outside by O(h)."""
    study = convergence(rod, (0.016, 0.008, 0.004), 0.2, scheme=st.StewartTrinkle(), tol=1e-11, member=True)
    assert study.inclusion_error[0] > 1e-3
    assert study.order("inclusion_error") > 0.7
    assert "outside cones" in str(study)
    labels = [text.get_text() for text in study.plot().axes[0].get_legend().get_texts()]
    assert "forces outside the friction cones" in labels
    study = convergence(rod, (0.016, 0.008), 0.2, scheme=st.Moreau(), tol=1e-11, member=True)
    assert study.inclusion_error.max() < 1e-8


def test_widths_and_words():
    found = inclusion(slider(mu=0.25), run(slider(), duration=0.256), levels=3)
    assert list(found.by_width()) == pytest.approx([0.256, 0.128, 0.064, 0.032])
    assert "outside the friction cones" in str(found)
    assert found.times[int(found.distance.argmax())][1] in found.by_width()


def test_what_cannot_be_tested_is_refused():
    made = st.Simulator(slider(), H).run(0.2, every=5, progress=False)
    with pytest.raises(st.ModelError, match="every step"):
        inclusion(slider(), made)
    with pytest.raises(st.ModelError, match="do not belong"):
        inclusion(table_on_legs(), run(slider()))
    with pytest.raises(st.ModelError, match="levels"):
        inclusion(slider(), run(slider()), levels=-1)
    rubbed = st.GeneralizedSystem([[1.0]], q=[0.0], v=[1.0], friction=[st.DryFriction(lambda q: np.eye(1), 2.0)])
    with pytest.raises(st.ModelError, match="another law"):
        inclusion(rubbed, run(rubbed, scheme=st.StewartTrinkle()))
