"""How much friction a machine takes: closed forms of both bounds, and of what rests."""

import numpy as np
import pytest

import stiction as st
from stiction.analysis import (
    along,
    balances,
    force_acceleration,
    friction_bound,
    holding,
    hypotheses,
    impulse_velocity,
    jamming_bound,
    pointed,
    scan,
    theorem_bound,
)

CLOSED = 1e-7  # m: placed by hand


def slender_rod(phi, *, mu=0.5, torque=0.0, speed=-1.0):
    """pr11: a rod of mass 1 and length 2 that slides on its tip, with gravity 1."""
    tip = st.Gap(
        lambda q: q[1] - np.sin(q[2]),
        lambda q: [0.0, 1.0, -np.cos(q[2])],
        lambda q: [[1.0, 0.0, np.sin(q[2])]],
        mu,
        name="tip",
    )
    mass = np.diag([1.0, 1.0, 1.0 / 3.0])
    return st.GeneralizedSystem(mass, [0.0, -1.0, torque], q=[0, np.sin(phi), phi], v=[speed, 0, 0], gaps=[tip])


def closed_form(phi):
    return (1 / 3 + np.cos(phi) ** 2) / (np.sin(phi) * np.cos(phi))


def test_friction_bound_of_the_rod_is_its_closed_form():
    _, mu, jam = scan(slender_rod, np.radians([20.0, 45.0, 60.0, 80.0]))
    assert np.allclose(mu, closed_form(np.radians([20.0, 45.0, 60.0, 80.0])), rtol=1e-8)
    assert np.isinf(jam).all()  # one contact cannot jam


@pytest.mark.long
def test_friction_bound_of_the_rod_over_all_angles():
    phi = np.radians(np.linspace(8.0, 86.0, 20))
    _, mu, _ = scan(slender_rod, phi)
    assert np.allclose(mu, closed_form(phi), rtol=1e-8)
    least = friction_bound(slender_rod(np.arctan(2.0)))  # where the closed form is least
    assert least.value == pytest.approx(4 / 3, rel=1e-8)
    assert mu.min() >= 4 / 3 - 1e-8


@pytest.mark.parametrize(("torque", "above"), [(0.0, "no solution"), (-5 / 3, "several motions")])
def test_what_is_lost_above_the_bound(torque, above):
    """pr11 §2.1 and §2.2: the bound is the same for loads that press the tip down and for those that lift it."""
    found = friction_bound(slender_rod(np.pi / 3, torque=torque), contact="tip")
    assert found.success
    assert found.above == above
    assert found.value == pytest.approx(closed_form(np.pi / 3), rel=1e-8)


def test_the_estimate_of_the_theorem_is_below_the_bound():
    for phi in np.radians([20.0, 45.0, 70.0]):
        problem = impulse_velocity(slender_rod(phi)).problem
        assert theorem_bound(problem) == pytest.approx(2 / (1 + 3 * np.sin(phi) ** 2))
        assert theorem_bound(problem) < closed_form(phi)


def test_no_bound_without_slip_and_bounds_along_a_run():
    rod = slender_rod(np.pi / 3, mu=0.2)
    run = st.Simulator(rod, dt=0.01).run(0.05)
    t, mu, _ = scan(along(rod, run), run.times[1:3], closed=1e-3, rest=1e-2)
    assert len(t) == 2
    assert np.allclose(mu, closed_form(run.q[1:3, 2]), rtol=1e-3)
    assert np.isinf(friction_bound(slender_rod(1.0, speed=0.0), most=3.0).value)


def test_the_unsafe_region_is_drawn(tmp_path):
    from stiction.view.jamming import draw_bounds, draw_planar
    from stiction.view.style import finish, new_figure

    figure = new_figure(6, 3)
    x = np.linspace(0.2, 1.4, 5)
    draw_bounds(figure.add_subplot(1, 2, 1), x, closed_form(x), np.full(5, np.inf), names="slant [rad]", mu=0.5)
    world, _ = peg(np.radians(3.0))
    bound = jamming_bound(world, closed=CLOSED)
    draw_planar(figure.add_subplot(1, 2, 2), world, closed=CLOSED, cones=0.02, arrows=0.03, forces=bound.forces)
    finish(figure, tmp_path / "unsafe.png")
    assert (tmp_path / "unsafe.png").stat().st_size > 5000
    assert len(figure.axes[0].get_legend().get_texts()) == 4


def in_a_groove(alpha, mu=0.3):
    """A wedge in a groove whose sides stand at `alpha` from the vertical."""
    world = st.PlanarWorld()
    for side, name in ((1, "left"), (-1, "right")):
        world.add_half_plane(normal=(side * np.cos(alpha), np.sin(alpha)), name=name)
    corners = np.array([[-0.1, 0.1], [0.1, 0.1], [0.3, 0.3], [-0.3, 0.3]]) * [np.tan(alpha), 1.0]
    centre = corners.mean(axis=0)
    world.add_body(st.Polygon(corners - centre), name="wedge", mass=2.0, position=centre)
    for name in ("left", "right"):
        world.set_contact("wedge", name, friction=mu)
    return world


@pytest.mark.parametrize("alpha", np.radians([5.0, 20.0, 40.0]))
def test_a_wedge_jams_from_the_tangent_of_its_half_angle_on(alpha):
    assert jamming_bound(in_a_groove(alpha), closed=CLOSED).value == pytest.approx(np.tan(alpha), rel=1e-8)


def test_a_coin_on_the_wedge_does_not_hide_that_it_jams():
    """A contact that takes no part carries nothing; the bound is that of the wedge."""
    alpha = np.radians(12.0)
    world = in_a_groove(alpha)
    world.add_body(st.Polygon([(-0.01, 0.3), (0.01, 0.3), (0.01, 0.31), (-0.01, 0.31)]), name="coin", mass=0.1)
    world.set_contact("coin", "wedge", friction=0.4)
    assert jamming_bound(world, closed=CLOSED).value == pytest.approx(np.tan(alpha), rel=1e-7)
    assert not pointed(impulse_velocity(world, closed=CLOSED).problem)[0]


@pytest.mark.parametrize("seed", range(12))
def test_random_contacts_jam_where_a_linear_program_says_so(seed):
    """Forces of the cones of sum 1 that balance each other exist just above the bound and not just below."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    contacts = 2 + seed % 3
    H = rng.normal(size=(2 * contacts, 3))
    problem = st.ContactProblem(
        st.Dense(np.eye(3), H), row_ptr=2 * np.arange(contacts + 1), law=[1] * contacts, friction=[0.5] * contacts
    )

    def balanced(mu):
        edges = np.concatenate([[H[2 * k] + s * mu * H[2 * k + 1] for s in (1, -1)] for k in range(contacts)])
        A = np.vstack([edges.T, np.ones(len(edges))])
        return linprog(np.zeros(len(edges)), A_eq=A, b_eq=[0, 0, 0, 1], method="highs").status == 0

    bound = jamming_bound(problem, most=50.0).value
    if np.isinf(bound):
        assert not balanced(50.0)
    else:
        assert balanced(bound * (1 + 1e-5) + 1e-7)
        assert bound < 1e-6 or not balanced(bound * (1 - 1e-5))


def test_a_wedge_with_one_smooth_side():
    """With one side without friction, the other must hold the whole angle between the normals: tan 2α."""
    alpha = np.radians(15.0)
    world = in_a_groove(alpha)
    world.set_contact("wedge", "left", friction=1e-12)
    form = impulse_velocity(world, closed=CLOSED)
    right = [name for name in form.names if "right" in name]
    problem = form.problem
    mine = np.isin(form.names, right)
    low, high = (pointed(problem.replace(friction=problem.friction._replace(mu=np.where(mine, mu, 1e-12))))
                 for mu in (0.99 * np.tan(2 * alpha), 1.01 * np.tan(2 * alpha)))  # fmt: skip
    assert low[0]
    assert not high[0]


def peg(tilt, *, hole=0.102, width=0.1, mu=0.3, length=0.4):
    """A tilted peg in a hole, on the edge of the mouth and on the opposite wall; returns the world and the depth."""
    world = st.PlanarWorld()
    for x, name in ((-0.1, "left"), (hole, "right")):
        corners = [(x, -0.5), (x + 0.1, -0.5), (x + 0.1, 0.0), (x, 0.0)]
        world.add_body(st.Polygon(corners), name=name, kind="fixed")
    depth = (hole * np.cos(tilt) - width) / np.sin(tilt)
    up, across = np.array([-np.sin(tilt), np.cos(tilt)]), np.array([np.cos(tilt), np.sin(tilt)])
    middle = np.array([hole, -depth]) - 0.5 * width * across + 0.5 * length * up
    box = 0.5 * np.array([[-width, -length], [width, -length], [width, length], [-width, length]])
    world.add_body(st.Polygon(box), name="peg", mass=1.0, position=middle, angle=tilt)
    for name in ("left", "right"):
        world.set_contact("peg", name, friction=mu)
    return world, depth


@pytest.mark.parametrize("tilt", np.radians([1.0, 2.0, 3.0]))
def test_a_peg_wedges_where_the_line_through_its_contacts_lies_in_both_cones(tilt):
    world, depth = peg(tilt)
    expected = np.tan(tilt + np.arctan(depth / 0.102))
    assert jamming_bound(world, closed=CLOSED).value == pytest.approx(expected, rel=1e-8)
    assert expected == pytest.approx(depth / 0.1, rel=0.2)  # the rule of thumb for small tilt: depth over diameter


def test_a_jammed_peg_holds_and_a_free_one_does_not():
    world, _ = peg(np.radians(3.0), mu=0.5)
    assert holding(world, closed=CLOSED)[0].least == np.inf
    world, _ = peg(np.radians(3.0), mu=0.3)
    assert not holding(world, closed=CLOSED)[0].rests


def test_a_block_on_a_floor_holds_its_friction():
    world = st.PlanarWorld()
    world.add_half_plane(name="floor")
    world.add_body(st.Polygon([(-1, 0), (1, 0), (1, 0.1), (-1, 0.1)]), name="block", mass=2.0)
    world.set_contact("block", "floor", friction=0.4)
    (found,) = holding(world)
    # a pull at an angle slips first: µ m g cos φ with tan φ = µ
    assert found.least == pytest.approx(2.0 * 9.81 * 0.4 / np.sqrt(1 + 0.16), rel=1e-6)
    assert jamming_bound(world).value == np.inf


def test_hypotheses_of_the_rod():
    below, above = (hypotheses(slender_rod(np.pi / 3, mu=mu)) for mu in (1.3, 1.4))
    assert below["(1)"].holds is True
    assert above["(1)"].holds is False  # (1) is the closed form once more
    for name in ("H2", "H3", "H4", "H5", "H6", "(2)"):
        assert above[name].holds is True
    assert above["A"].holds is None  # µ is above the estimate
    assert hypotheses(slender_rod(np.pi / 3, mu=0.5))["A"].holds is True
    assert "slides" in above["B"].sentence
    assert "H5" in str(above)
    with pytest.raises(st.ModelError, match="no hypothesis 'H7'"):
        above["H7"]


def test_normals_and_friction_of_the_rod_span_apart_and_those_of_a_groove_do_not():
    """st96 §3.4: at one contact 1 - W_nt²/(W_nn W_tt) is the square of the sine; in a groove four rows are three."""
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    sine = np.sqrt(1.0 - (3 * s * c) ** 2 / ((1 + 3 * c * c) * (1 + 3 * s * s)))
    found = hypotheses(slender_rod(np.pi / 3, mu=0.5))["n∩D"]
    assert found.holds is True
    assert found.value == pytest.approx(sine, rel=1e-9)
    assert hypotheses(slender_rod(np.pi / 3, mu=0.0))["n∩D"].holds is True
    found = hypotheses(in_a_groove(np.radians(40.0), mu=0.3), closed=CLOSED)["n∩D"]
    assert found.holds is False
    assert found.value == 0.0


def test_hypotheses_of_a_wedge():
    jams = hypotheses(in_a_groove(np.radians(10.0), mu=0.3), closed=CLOSED)
    assert jams["H5"].holds is False
    assert jams["A"].holds is False  # two contacts a side: more rows than freedoms
    assert jams["B"].holds is True  # which part (B) does not mind
    assert hypotheses(in_a_groove(np.radians(40.0), mu=0.3), closed=CLOSED)["H5"].holds is True


def test_part_b_fails_where_a_wall_closes_in():
    """Between walls of which one is made to close in, no force helps: (B) must not hold."""
    gaps = [
        st.Gap(lambda q: q[0], lambda q: [1.0, 0.0], lambda q: [[0.0, 1.0]], 0.5, name="left"),
        st.Gap(lambda t, q: -0.5 * t**2 - q[0], lambda t, q: [-1.0, 0.0], lambda t, q: [[0.0, 1.0]], 0.5, name="right"),
    ]
    squeezed = st.GeneralizedSystem(np.eye(2), [0.0, -9.81], q=[0.0, 0.0], gaps=gaps)
    assert hypotheses(squeezed)["B"].holds is False
    still = st.GeneralizedSystem(np.eye(2), [0.0, -9.81], q=[0.0, 0.0], gaps=[gaps[0], st.Gap(
        lambda q: -q[0], lambda q: [-1.0, 0.0], lambda q: [[0.0, 1.0]], 0.5, name="right")])  # fmt: skip
    assert hypotheses(still)["B"].holds is True


def test_unbalanced_directions_are_found():
    ratchet = st.Gap(lambda q: q[0], lambda q: [1.0, 0.0], lambda q: [[0.0, 1.0]],
                     st.Polyhedral(0.5, directions=[[1.0]]), name="ratchet")  # fmt: skip
    system = st.GeneralizedSystem(np.eye(2), [-9.81, 0.0], q=[0.0, 0.0], gaps=[ratchet])
    assert hypotheses(system)["H6"].holds is False


@pytest.mark.parametrize("degrees", [40, 55, 66, 75])
def test_a_ladder_stands_exactly_from_the_friction_of_the_textbook_on(degrees):
    """With friction at both ends it slips while tan(angle) < (1 - µ²)/(2µ)."""
    angle = np.radians(degrees)

    def stands(mu):
        world = st.PlanarWorld()
        world.add_half_plane(name="floor")
        world.add_half_plane(normal=(-1, 0), name="wall")
        world.set_material("default", friction=mu)
        foot, top = np.array([-np.cos(angle), 0.0]), np.array([0.0, np.sin(angle)])
        ends = np.array([foot, top, 0.5 * (foot + top) + 1e-3 * np.array([-np.sin(angle), np.cos(angle)])])
        world.add_body(st.Polygon(ends), mass=10.0, com=0.5 * (foot + top), name="ladder")
        return balances(force_acceleration(world, closed=1e-9))

    low, high = 0.0, 1.0
    while high - low > 1e-8:
        mu = 0.5 * (low + high)
        low, high = (low, mu) if stands(mu) else (mu, high)
    assert high == pytest.approx(np.tan(0.5 * (np.pi / 2 - angle)), abs=1e-6)
