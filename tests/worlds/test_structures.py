"""Builders of structures: their counts, their places, what is refused, and that they stand or fall as statics says."""

import math
from itertools import pairwise

import numpy as np
import pytest

import stiction as st

S = st.structures


def moved(world, dt, seconds, **options):
    """The largest displacement [m] of a body."""
    run = st.Simulator(world, dt, **options).run(seconds, every=10)
    bodies = [b.name for b in world.bodies if b.kind == "dynamic"]
    return max(float(np.linalg.norm(run.position(b) - run.position(b)[0], axis=1).max()) for b in bodies)


def stones(world, name):
    return [b for b in world.bodies if b.name.startswith(name + " ") and b.kind == "dynamic"]


@pytest.mark.parametrize(
    ("ends", "count", "face"),
    [("half", 3 * 5 + 2 * 6, 5 * 5.0), ("toothed", 3 * 5 + 2 * 4, 23.0), ("stepped", 15, 15.0)],
)
@pytest.mark.parametrize("dim", [2, 3])
def test_walls_have_their_stones_and_stand(ends, count, face, dim):
    """Rows of 5 and 4; the mass is that of the face of the wall."""
    size = (1.0, 0.5) if dim == 2 else (1.0, 0.5, 0.5)
    world = S.wall(5, 5, size=size, ends=ends, density=100.0)
    assert len(stones(world, "wall")) == count
    mass = sum(b.mass for b in stones(world, "wall"))
    assert mass == pytest.approx(face * 100.0 * np.prod(size))
    model = world.build()
    found = model.detect(0.0, model.initial_state().q, 1e-3)
    assert np.abs(model.gaps(found, 0.0, model.initial_state().q)).max() < 1e-12
    assert st.analysis.statics(world).stands
    assert moved(world, 0.01, 0.2) < 1e-6


def test_wall_with_gaps():
    world = S.wall(3, 4, gap=0.01, size=(0.4, 0.2, 0.2))
    lower = sorted(b.place.position[0] for b in stones(world, "wall")[:4])
    assert [b - a for a, b in pairwise(lower)] == pytest.approx([0.41] * 3)
    second = sorted(b.place.position[0] for b in stones(world, "wall")[4:9])
    ends = [second[0] - 0.5 * 0.195, second[-1] + 0.5 * 0.195]
    assert ends == pytest.approx([lower[0] - 0.2, lower[-1] + 0.2])  # flush


@pytest.mark.parametrize("depth", [None, pytest.param(0.2, marks=pytest.mark.long)])
def test_arches_stand_or_fall_as_statics_says(depth):
    least = S.least_thickness(15)
    for factor in (1.01, 0.99):
        world = S.arch(15, factor * least, depth=depth, radius=2.0)
        assert [b.kind for b in world.bodies if b.name in ("arch left", "arch right")] == ["fixed"] * 2
        assert (moved(world, 0.01, 2.0) < 1e-6) == (factor > 1.0)


def test_arch_of_part_of_a_circle():
    """Its stones are the ring: mass and width in closed form; it stands on its springers."""
    world = S.arch(20, 0.1, radius=3.0, angle=math.radians(120), density=10.0)
    mass = sum(b.mass for b in stones(world, "arch"))
    step = math.radians(6)
    assert mass == pytest.approx(10.0 * 20 * 0.5 * math.sin(step) * 9.0 * (1.05**2 - 0.95**2))
    assert st.analysis.statics(world).stands
    assert moved(world, 0.01, 0.5) < 1e-6


def test_tower_of_planks():
    world = S.plank_tower(12)
    assert len(stones(world, "tower")) == 24
    assert st.analysis.statics(world).contacts == 8 + 16 * 11
    assert moved(world, 0.01, 1.0) < 1e-7
    assert st.analysis.statics(S.plank_tower(3, planks=3)).contacts == 12 + 36 * 2


@pytest.mark.parametrize("storeys", [1, 2, 3])
def test_house_of_cards_needs_the_friction_of_statics(storeys):
    world = S.card_house(storeys)
    assert len(stones(world, "cards")) == storeys * (storeys + 1) + storeys * (storeys - 1) // 2
    least = st.analysis.statics(world).least_friction
    if storeys == 1:  # the feet: (V + w/2) tan a over V + w, without a load V
        assert least == pytest.approx(0.5 * math.tan(math.radians(20)), rel=0.01)
    for factor in (1.01, 0.99):
        far = moved(S.card_house(storeys, friction=factor * least), 0.002, 0.5, tol=1e-8)
        assert (far < 1e-7) == (factor > 1.0)


@pytest.mark.parametrize("size", [(0.008, 0.048), (0.008, 0.024, 0.048)])
def test_dominoes_fall_one_by_one(size):
    world = S.dominoes(6, size=size, push=4.0)
    run = st.Simulator(world, 0.002).run(0.6)
    lean = [run.position(f"domino {k}")[-1][-1] for k in range(6)]
    assert max(lean) < 0.6 * 0.5 * size[-1] + 0.5 * size[0]
    assert moved(S.dominoes(3, size=size), 0.01, 0.2) < 1e-9


def test_structures_with_springs():
    world = S.plank_tower(3, compliance=st.Elastic(1e7))
    assert st.analysis.statics(world).stands
    assert 1e-9 < moved(world, 0.01, 0.3) < 1e-5


def linked(a, b, steps=50):
    """Gauss's linking number of two closed polygons (n, 3)."""

    def parts(corners):
        s = np.linspace(0.0, 1.0, steps, endpoint=False)[:, None]
        return np.concatenate([p + s * (q - p) for p, q in zip(corners, np.roll(corners, -1, axis=0))])

    x, y = parts(a), parts(b)
    dx, dy = np.roll(x, -1, axis=0) - x, np.roll(y, -1, axis=0) - y
    r = (x + 0.5 * dx)[:, None] - (y + 0.5 * dy)[None]
    triple = np.einsum("ijk,ijk->ij", r, np.cross(dx[:, None], dy[None]))
    return float((triple / np.linalg.norm(r, axis=2) ** 3).sum() / (4.0 * np.pi))


def test_links_of_mail_hang_in_four_others_and_touch_none():
    world = S.chain_mail(5, 4, held="none")
    model, a = world.build(), 0.005
    q = model.initial_state().q
    gaps = model.gaps(found := model.detect(0.0, q, 1e-3), 0.0, q)
    assert len(found.key) > 20
    assert gaps.min() == pytest.approx(0.2e-3, rel=1e-6)  # a fifth of the wire's radius
    corners = {}
    for k, body in enumerate(stones(world, "link")):
        tilt = math.radians(30) * (1 if k // 4 % 2 == 0 else -1)
        y = np.array([0.0, math.cos(tilt), math.sin(tilt)]) * a
        x = np.array([a, 0.0, 0.0])
        corners[k] = body.place.position + np.array([x + y, y - x, -x - y, x - y])
    middle = 2 * 4 + 1
    hangs = {k: round(linked(corners[middle], corners[k])) for k in corners if k != middle}
    assert {k for k, number in hangs.items() if number} == {4, 5, 12, 13}


@pytest.mark.long
def test_mail_in_a_frame_sags_and_holds():
    world = S.chain_mail(8, 8, held="frame")
    run = st.Simulator(world, 0.001).run(0.5, every=50)
    sag = [run.position(b.name)[0, 2] - run.position(b.name)[-1, 2] for b in stones(world, "link")]
    assert 0.0 < max(sag) < 0.01
    assert max(np.abs(run.velocity(b.name)[-1]).max() for b in stones(world, "link")) < 1e-3


def test_structures_in_a_world_of_ones_own():
    world = st.World()
    world.set_material("ground", friction=0.5)
    world.add_plane(material="ground")
    assert S.wall(2, 2, world=world, position=(1.0, 0.0, 0.0), name="left") is world
    S.plank_tower(2, world=world, position=(-1.0, 0.0, 0.0))
    world.set_material("left", friction=0.4, young=50e9)
    assert st.analysis.statics(world).stands
    assert {b.material for b in stones(world, "left")} == {"left"}
    assert np.mean([b.place.position[0] for b in stones(world, "left")]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: S.wall(5, 4, ends="stepped"), "rows must be at most stones"),
        (lambda: S.wall(5, 4, size=(1.0, 1.0, 1.0, 1.0)), "size must be two edge lengths"),
        (lambda: S.wall(5, 4, size=(1.0, -1.0)), "size must be greater than zero"),
        (lambda: S.wall(5, 4, ends="haf"), "Did you mean 'half'"),
        (lambda: S.wall(5, 4, gap=0.5), "gap must be less than half"),
        (lambda: S.wall(5, 10**6), "stones must be at most"),
        (lambda: S.wall(2, 2, friction=-1.0), "friction"),
        (lambda: S.wall(2, 2, world=st.PlanarWorld()), "world has 2 dimensions"),
        (lambda: S.wall(2, 2, world=S.wall(2, 2)), "one called 'wall'"),
        (lambda: S.arch(5, 2.5), "thickness must be less than twice"),
        (lambda: S.arch(5, 0.1, angle=6.0), "angle must be at most"),
        (lambda: S.arch(1, 0.1), "stones must be at least"),
        (lambda: S.least_thickness(5, most=3.0), "most must be less"),
        (lambda: S.plank_tower(3, planks=9), "planks must be at least 2"),
        (lambda: S.plank_tower(3, size=(1, 0, 1)), "size must be greater"),
        (lambda: S.card_house(2, slant=1.2), "slant must be less"),
        (lambda: S.card_house(2, edge=0.01), "edge must be at most"),
        (lambda: S.dominoes(0), "count must be at least 1"),
        (lambda: S.chain_mail(2, 2, side=0.005), "side must be at least 9 radii"),
        (lambda: S.chain_mail(2, 2, held="top"), "held must be one of"),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(call, said):
    with pytest.raises(st.ModelError, match=said):
        call()
