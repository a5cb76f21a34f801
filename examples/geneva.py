"""A Geneva drive: a pin on a turning driver moves a slotted wheel by a quarter turn, and a cam locks it in between.

    python examples/geneva.py [picture.png]

The wheel touches the driver only by contact: the pin in a slot, or the cam in a seat. Both have some clearance. A motor
turns the driver, and while the pin is in a slot the wheel follows it by the geometry of the two.
"""

import math
import sys
from itertools import pairwise

import numpy as np

import stiction as st

ARM = 0.1  # of the pin, about the driver's axis [m]
AXES = math.sqrt(2) * ARM  # distance of the axes: the pin enters the slots lengthwise
PIN, CAM, CLEARANCE = 0.005, 0.08, 0.0002  # radii, and what is left around them [m]
SPEED = math.pi  # of the driver [rad/s]
SIDE = math.pi / 12  # the angle that each of the six sides of a seat covers


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points (n, 2), turned about the origin."""
    c, s = math.cos(angle), math.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def wheel_parts() -> list[st.Disk | st.Polygon]:
    """A hub, and around each slot its walls and behind them the sides of the seats, tangent to the cam."""
    wall, corner = PIN + CLEARANCE, (CAM + CLEARANCE) / math.cos(SIDE / 2)
    angle = math.radians(225) + SIDE * np.arange(4)
    seat = ARM + corner * np.column_stack([np.cos(angle), np.sin(angle)])
    pieces = [np.array([[0.25 * ARM, wall], [seat[-1, 0], wall], [seat[-1, 0], 2 * wall], [0.25 * ARM, 2 * wall]])]
    for one, two in pairwise(seat):
        pieces.append(np.array([one, two, [two[0], 1.5 * wall], [one[0], 1.5 * wall]]))
    pieces += [piece * [1, -1] for piece in pieces]
    low, high = 1.5 * wall, seat[0, 0]
    pieces.append(np.array([[low, low], [high, low], [high, high], [low, high]]))
    return [st.Disk(0.3 * ARM), *(st.Polygon(turned(piece, k * math.pi / 2)) for k in range(4) for piece in pieces)]


def driver_parts() -> list[st.Disk | st.Polygon]:
    """The pin, and a cam of three quarters of a circle, in polygons."""
    parts: list[st.Disk | st.Polygon] = [st.Disk(PIN, position=(ARM, 0))]
    for start in (45, 135, 225):
        angle = np.radians(start + 2.5 * np.arange(37))
        rim = CAM * np.column_stack([np.cos(angle), np.sin(angle)])
        parts.append(st.Polygon(np.vstack([[0.0, 0.0], rim])))
    return parts


def build() -> st.PlanarWorld:
    """The wheel about the origin, the driver to the right of it, its pin pointing away."""
    world = st.PlanarWorld()
    wheel = world.add_body(wheel_parts(), mass=0.5, inertia=2.5e-3, com=(0, 0), angle=math.pi / 4, name="wheel")
    place = {"position": (AXES, 0), "angular_velocity": SPEED}
    driver = world.add_body(driver_parts(), mass=0.5, inertia=2e-3, com=(-0.01, 0), **place, name="driver")
    world.set_contact(wheel, driver, friction=0.1)
    world.add_joint(st.Revolute(wheel, None, anchor=(0, 0), friction=0.01, name="wheel axis"))
    motor = st.Motor(speed=SPEED, bound=2.0)
    world.add_joint(st.Revolute(driver, None, anchor=(AXES, 0), motor=motor, name="driver axis"))
    return world


def geometry(driver: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The angle of the wheel for an angle of the driver without clearance, and what clearance can change about it."""
    passages = np.round(driver / (2 * math.pi) - 0.5)  # of the pin; the next or the present one has this number
    pin = np.clip(driver - (2 * passages + 1) * math.pi, -math.pi / 4, math.pi / 4)
    x, y = AXES - ARM * np.cos(pin), ARM * np.sin(pin)
    return -np.arctan2(y, x) - math.pi / 4 - passages * math.pi / 2, CLEARANCE / np.hypot(x, y)


def picture(world: st.PlanarWorld, run: st.Trajectory, path: str) -> None:
    """The drive in four positions, and both angles over time."""
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Patch

    from stiction.view.style import dress, finish, new_figure

    colours = {"wheel": "#1b62a5", "driver": "#c0392b"}
    figure = new_figure(8, 4)
    grid = figure.add_gridspec(2, 4)
    for column, time in enumerate((0.0, 0.8, 1.0, 1.2)):
        axis = figure.add_subplot(grid[0, column])
        step = int(np.argmin(np.abs(run.times - time)))
        for name, colour in colours.items():
            place, angle = run.position(name)[step], run.angle(name)[step]
            for shape in next(b for b in world.bodies if b.name == name).shapes:
                points, radius = shape.core()
                points = place + turned(points, angle)
                axis.add_patch(Circle(points[0], radius, color=colour) if radius else Patch(points, color=colour))
        axis.set(xlim=(-0.115, 0.255), ylim=(-0.12, 0.12), aspect="equal", title=f"{time:.1f} s")
        axis.set_axis_off()
    axis = dress(figure.add_subplot(grid[1, :]), y="turns")
    for name in ("driver", "wheel"):
        joint = run.joint(f"{name} axis")
        axis.plot(joint.times, joint.coordinate / (2 * math.pi), label=name, color=colours[name])
    axis.legend(frameon=False)
    finish(figure, path)


def main(path: str | None = None) -> None:
    """Two turns of the driver: the wheel has made two quarter turns, and followed the geometry within its clearance."""
    world = build()
    run = st.Simulator(world, dt=0.002).run(4 * math.pi / SPEED)
    driver, wheel = run.joint("driver axis").coordinate, run.joint("wheel axis").coordinate
    angle, play = geometry(driver)
    off = np.abs(wheel - angle)
    print(f"driver {driver[-1] / (2 * math.pi):.4f} turns, wheel {wheel[-1] / (2 * math.pi):.4f} turns")
    print(f"the wheel is off the geometry by at most {off.max():.4f} rad; clearance allows for {play.max():.4f}")
    assert (off < 1.1 * play).all()
    assert abs(wheel[-1] + math.pi) < 1.1 * CLEARANCE / ARM
    assert run.certificate.worst["joint_drift"] < 1e-6
    if path is not None:
        picture(world, run, path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
