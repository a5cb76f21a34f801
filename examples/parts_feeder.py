"""A parts feeder that turns cups over: which way up do they leave, when do they jam, and would a simple change help?

    python examples/parts_feeder.py [picture.png]    some cups, and why they jam
    python examples/parts_feeder.py --full           the statistics and pictures of docs/feeder.md: some minutes

"The exit orientation of the cup-shaped part must be with the curved portion down, regardless of the entering
orientation" (ttp01, figure 1). Cups slide down a covered track, some nose first, some with their open end first, and
fall into a shaft. A pin reaches into it from the far wall. A cup that comes nose first is stopped by the pin and tips
over the edge of the track; one that comes open end first is caught by the pin, and its nose falls past it. So both
leave nose down, if they leave at all. The paper prints no data; those of this file are chosen.
"""

import csv
import math
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

import stiction as st
from stiction.analysis import Form, balances, force_acceleration, holding, jamming_bound

RADIUS, WALL, DEPTH = 0.010, 0.002, 0.020  # m: of the cup and its round nose, of its wall; length of its straight part
DENSITY = 8.0  # kg/m²
SLOPE, PLAY = math.radians(25), 0.0015  # rad, m: of the track, and the play of a cup below its cover
SHAFT, TUBE, THICK = 0.040, 0.024, 0.003  # m: widths of the shaft and of the tube below it, thickness of the pin
LOW, EXIT = -0.062, -0.090  # m: where the shaft narrows, and where a cup counts as having left
ALONG = np.array([math.cos(SLOPE), -math.sin(SLOPE)])  # down the track, whose edge is the origin
ABOVE = np.array([math.sin(SLOPE), math.cos(SLOPE)])
STEP, LIMIT = 0.001, 1.5  # s: a step, and how long a cup is watched
STILL, CLOSED = 1e-6, 1e-5  # m/s and rad/s, m: what counts as rest, and as touching
SPEEDS, DISTANCES, TILTS = (0.1, 0.8), (0.0, 0.02), (-0.03, 0.03)  # m/s, m, rad: how cups come
WAYS, OUTCOMES = ("nose first", "open end first"), ("right", "wrong", "jam", "late")
DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Design:
    """What may be changed: the friction, and how far the pin reaches into the shaft [m]."""

    mu: float
    reach: float


DRAFT, BETTER = Design(mu=0.3, reach=0.017), Design(mu=0.3, reach=0.013)


@dataclass(frozen=True)
class Start:
    """How a cup comes: nose first or not, its speed [m/s], its front before the edge [m], its tilt [rad]."""

    nose: bool
    speed: float = 0.4
    distance: float = 0.01
    tilt: float = 0.0


def starts(number: int, seed: int = 1) -> list[Start]:
    """Cups at random, half of them nose first."""
    rng = np.random.default_rng(seed)
    ranges = (SPEEDS, DISTANCES, TILTS)
    return [Start(bool(rng.random() < 0.5), *(rng.uniform(*limits) for limits in ranges)) for _ in range(number)]


def cup() -> list[st.Polygon]:
    """A solid round nose along x, and two walls; the origin is in the middle between them."""
    angle = np.radians(np.linspace(-90, 90, 19))
    nose = RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])
    walls = ([(-DEPTH, y), (0, y), (0, y + WALL), (-DEPTH, y + WALL)] for y in (-RADIUS, RADIUS - WALL))
    return [st.Polygon(nose), *map(st.Polygon, walls)]


def build(design: Design, start: Start) -> st.PlanarWorld:
    """The track and its cover, the shaft with its funnel and its pin, and a cup that comes."""
    world = st.PlanarWorld()
    world.set_material("default", friction=design.mu)

    def slab(name: str, one: np.ndarray, two: np.ndarray, out: np.ndarray) -> None:
        world.add_body(st.Polygon([one, two, two + 0.01 * out, one + 0.01 * out]), name=name, kind="fixed")

    cover = (2 * RADIUS + PLAY) * ABOVE
    slab("track", -0.11 * ALONG, 0 * ALONG, np.array([0, -1]))
    slab("cover", cover - 0.11 * ALONG, cover, ABOVE)
    for name, side, x, top in (("near", -1, 0.0, 0.0), ("far", 1, SHAFT, 0.05)):
        out, corner = np.array([side, 0]), np.array([x, LOW])
        neck = np.array([0.5 * (SHAFT + side * TUBE), LOW - 0.015])
        slab(f"{name} wall", np.array([x, top]), corner, out)
        slab(f"{name} funnel", corner, neck, out)
        slab(f"{name} tube", neck, neck - [0, 0.06], out)
    pin = st.Rod(THICK / 2, design.reach, position=(SHAFT - (design.reach - THICK) / 2, 0.0))
    world.add_body(pin, name="pin", kind="fixed")
    back = start.distance + (RADIUS if start.nose else DEPTH)
    turn = (0.0 if start.nose else math.pi) - SLOPE + start.tilt
    place = {"position": -back * ALONG + (RADIUS + PLAY / 2) * ABOVE, "angle": turn, "velocity": start.speed * ALONG}
    world.add_body(cup(), name="cup", density=DENSITY, **place)
    return world


@dataclass(frozen=True)
class Passage:
    """What became of a cup: it left "right" (nose down) or "wrong", rests inside ("jam"), or none of these ("late")."""

    outcome: str
    design: Design
    start: Start
    state: st.State


def passage(design: Design, start: Start, step: float = STEP) -> Passage:
    """A cup from its start until it has left, rests, or the time is over."""
    world = build(design, start)
    sim, index = st.Simulator(world, dt=step), world.body("cup")
    outcome = "late"
    while sim.time < LIMIT and outcome == "late":
        sim.advance(round(0.02 / step))
        body = sim.system.body_state(index, sim.state.q, sim.state.v)
        if body.position[1] < EXIT:
            outcome = "right" if math.sin(float(body.orientation)) < 0 else "wrong"
        elif np.abs(sim.state.v).max() < STILL:
            outcome = "jam"
    return Passage(outcome, design, start, sim.state)


@dataclass(frozen=True)
class Jam:
    """Why a cup rests: the `least` friction with which forces can balance its weight where it is.

    locks: the friction from which its contacts can press against each other without a load; pull: what it holds in its
    weakest direction, in weights, with the friction that it has.
    """

    least: float
    locks: float
    pull: float


def statics(found: Passage, mu: float) -> Form:
    """The forces of a cup at rest, with a friction."""
    world = build(replace(found.design, mu=mu), found.start)
    return force_acceleration(world, found.state, closed=CLOSED, rest=10 * STILL)


def where(found: Passage) -> str:
    """What a cup at rest touches; the edge of the track belongs to the track and to the wall below it."""
    names = {name.split("/")[0] for name in statics(found, found.design.mu).names}
    if "track" in names:
        names.discard("near wall")
    return ", ".join(sorted(names))


def explain(found: Passage) -> Jam:
    """The statics of a cup at rest."""
    mu = found.design.mu
    assert balances(statics(found, mu)), "a cup rests although no forces balance its weight"
    low, high = 0.0, 0.0 if balances(statics(found, 0.0)) else mu
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if balances(statics(found, middle)) else (middle, high)
    world = build(found.design, found.start)
    weight = 9.81 * world.bodies[world.body("cup")].mass
    locks = jamming_bound(world, found.state, closed=CLOSED).value
    held = holding(world, found.state, closed=CLOSED, rest=10 * STILL)[0]
    return Jam(high, locks, float(held.least) / weight)


def wilson(hits: int, number: int) -> tuple[float, float]:
    """The interval of 95 % for a fraction of which `hits` of `number` were seen (Wilson)."""
    z, f = 1.959964, hits / number
    middle, half = f + z * z / (2 * number), z * math.sqrt(f * (1 - f) / number + (z / (2 * number)) ** 2)
    return (middle - half) / (1 + z * z / number), (middle + half) / (1 + z * z / number)


def longest_pin() -> float:
    """How far the pin may reach in [m] before a cup that comes nose first cannot turn out of the track, by geometry.

    While it turns by an angle, its lower wall is on the edge and its upper rim below the cover. That gives the place of
    its nose, and with it what is left for the pin; the least over all angles counts.
    """
    high, rim = 2 * RADIUS + PLAY, 2 * RADIUS

    def room(turn: float) -> float:
        below = (high * math.cos(turn) - rim) / math.sin(turn)  # of the rim, from the end of the cover
        front = DEPTH - high * math.sin(turn) - below * math.cos(turn)
        c, s = math.cos(SLOPE + turn), math.sin(SLOPE + turn)
        x, y = front * c + RADIUS * s, -front * s + RADIUS * c  # the centre of the nose
        return SHAFT + THICK / 2 - x - math.sqrt(max((RADIUS + THICK / 2) ** 2 - y * y, 0.0))

    return float(minimize_scalar(room, bounds=(0.1, math.acos(rim / high)), method="bounded").fun)


def longest_pin_simulated(start: Start, mu: float) -> float:
    """The same for one cup, by bisection."""
    low, high = 0.013, 0.017
    while high - low > 1e-5:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if passage(Design(mu, middle), start).outcome == "right" else (low, middle)
    return low


def some(design: Design, number: int) -> list[Passage]:
    """The passages of cups at random, and a line about them."""
    found = [passage(design, start) for start in starts(number)]
    count = Counter(one.outcome for one in found)
    said = ", ".join(f"{count[outcome]:2d} {outcome}" for outcome in OUTCOMES)
    print(f"pin {1000 * design.reach:.0f} mm, µ = {design.mu:g}: of {number} cups {said}")
    return found


def main(path: str | None = None) -> None:
    """A dozen cups: the draft jams by its shape, whatever the friction, and with a shorter pin it feeds them all."""
    draft, better = some(DRAFT, 12), some(BETTER, 12)
    jams = [one for one in draft if one.outcome == "jam" and one.start.nose]
    jam = explain(jams[0])
    print(
        f"nose first, on {where(jams[0])}: rests from µ = {jam.least:.2f} on, holds any pull of {jam.pull:.2f} weights"
    )
    limit, seen = longest_pin(), longest_pin_simulated(Start(nose=True), 0.1)
    print(f"nose first, by geometry: they pass pins of up to {1000 * limit:.2f} mm; simulated {1000 * seen:.2f} mm")
    assert BETTER.reach < limit < DRAFT.reach
    assert abs(seen - limit) < 2e-5
    assert len(jams) == sum(one.start.nose for one in draft)
    assert jam.least == 0.0  # no friction is needed: smoother parts would not help
    assert all(one.outcome == "right" for one in better)
    if path is not None:
        draw_ways(path)


def draw_ways(path: str | Path) -> None:
    """Both ways through the better design."""
    from stiction.view.jamming import draw_planar
    from stiction.view.style import COLOURS, finish, new_figure

    figure = new_figure(9, 5.4)
    for row, nose in enumerate((True, False)):
        world = build(BETTER, Start(nose))
        run = st.Simulator(world, dt=STEP).run(0.3, progress=False)
        for column, time in enumerate((0.0, 0.06, 0.10, 0.13, 0.17, 0.22)):
            axes, k = figure.add_subplot(2, 6, 6 * row + column + 1), round(time / STEP)
            state = st.State(time, run.q[k], run.v[k])
            draw_planar(axes, world, state, closed=0.0, colours={"cup": COLOURS[row], "pin": "black"})
            thin(axes).set(xlim=(-0.052, 0.05), ylim=(-0.1, 0.055))
            axes.set_title(f"{1000 * time:.0f} ms", fontsize=8)
            if not column:
                axes.text(-0.05, -0.095, WAYS[row], fontsize=9, rotation=90)
    finish(figure, path)


def draw_jams(kinds: dict[str, list[Passage]], path: str | Path) -> None:
    """The first jam of each kind with the forces that hold it, and how many cups of the study end so."""
    from stiction.view.jamming import draw_planar
    from stiction.view.style import finish, new_figure

    figure = new_figure(11, 3.9)
    for column, (touches, members) in enumerate(kinds.items()):
        axes, one = figure.add_subplot(1, len(kinds), column + 1), members[0]
        form = statics(one, one.design.mu)
        forces, least = form.forces(st.solve(form.problem).p), explain(one).least
        style = {"cones": 0.014, "arrows": 0.024, "colours": {"pin": "black"}}
        draw_planar(axes, build(one.design, one.start), one.state, closed=CLOSED, forces=forces, **style)
        thin(axes).set(xlim=(-0.055, 0.055), ylim=(-0.1, 0.055))
        why = "without friction, too" if least == 0.0 else f"from µ = {least:.2f} on"
        device = f"µ = {one.design.mu:g}, pin {1000 * one.design.reach:.0f} mm"
        axes.set_title(f"{touches}\n{why}\n({device}; {len(members)} cups)", fontsize=8)
    finish(figure, path)


def thin(axes: Any) -> Any:
    """Outlines that leave thin walls visible."""
    for patch in axes.patches:
        patch.set_linewidth(0.3)
    return axes


FRICTIONS, REACHES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5), tuple(range(5, 23, 2))  # of the study; reaches in mm
FIELDS = ("step", "mu", "reach_mm", "entering", "starts", *OUTCOMES)
KINDS = ("touches", "cups", "analysed", "least_friction_from", "least_friction_to", "locked", "median_pull_in_weights")


def study(number: int = 200) -> tuple[list[tuple[object, ...]], list[Passage]]:
    """Rows of docs/data/parts_feeder.csv, and every jam; with half the step for the two designs of this file."""
    from rich.progress import track

    cells = [(STEP, Design(mu, reach / 1000)) for mu in FRICTIONS for reach in REACHES]
    cells += [(STEP / 2, DRAFT), (STEP / 2, BETTER)]
    rows, jams = [], []
    for step, design in track(cells, description="designs"):
        found = [passage(design, start, step) for start in starts(number)]
        jams += [one for one in found if one.outcome == "jam" and step == STEP]
        for entering in WAYS:
            mine = Counter(one.outcome for one in found if one.start.nose == (entering == WAYS[0]))
            head = (step, design.mu, round(1000 * design.reach), entering, mine.total())
            rows.append((*head, *(mine[outcome] for outcome in OUTCOMES)))
    return rows, jams


def draw_map(rows: list[dict[str, str]], path: str | Path) -> None:
    """Which fraction leaves nose down over friction and the reach of the pin, in all and by how cups come."""
    from stiction.view.style import finish, new_figure

    figure = new_figure(11, 3.9)
    for column, entering in enumerate((WAYS, WAYS[:1], WAYS[1:])):
        axes = figure.add_subplot(1, 3, column + 1)
        fraction = np.zeros((len(REACHES), len(FRICTIONS)))
        for i, reach in enumerate(REACHES):
            for j, mu in enumerate(FRICTIONS):
                mine = cell(rows, mu, reach, entering)
                low, high = wilson(mine["right"], mine["starts"])
                fraction[i, j] = mine["right"] / mine["starts"]
                style = {"ha": "center", "color": "white" if fraction[i, j] < 0.55 else "black"}
                axes.text(j, i, f"{100 * fraction[i, j]:.3g}", va="bottom", fontsize=8, **style)
                axes.text(j, i + 0.05, f"{100 * low:.0f}–{100 * high:.0f}", va="top", fontsize=5.5, **style)
        axes.imshow(fraction, vmin=0, vmax=1, cmap="viridis", aspect="auto", origin="lower")
        axes.set_xticks(range(len(FRICTIONS)), [f"{mu:g}" for mu in FRICTIONS])
        axes.set_yticks(range(len(REACHES)), [str(reach) for reach in REACHES])
        axes.set(xlabel="friction", ylabel="the pin reaches in by [mm]" if not column else "")
        title = "all cups" if not column else entering[0]
        axes.set_title(f"{title}: % right, and 95 % interval", fontsize=9, loc="left")
    finish(figure, path)


def cell(rows: list[dict[str, str]], mu: float, reach: int, entering: tuple[str, ...], step: float = STEP) -> Counter:
    """The counts of one design in the rows of the study."""
    total: Counter[str] = Counter()
    for row in rows:
        same = (float(row["step"]), float(row["mu"]), int(row["reach_mm"])) == (step, mu, reach)
        if same and row["entering"] in entering:
            total.update({name: int(row[name]) for name in ("starts", *OUTCOMES)})
    return total


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table of docs/data."""
    with (DOCS / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def lines() -> list[str]:
    """The rows of the tables of docs/feeder.md: both designs of this file, and the kinds of jams."""
    out = []
    for design in (DRAFT, BETTER):
        for entering in WAYS:
            for step in (STEP, STEP / 2):
                mine = cell(table("parts_feeder.csv"), design.mu, round(1000 * design.reach), (entering,), step)
                low, high = wilson(mine["right"], mine["starts"])
                share = f"{mine['right']} ({100 * low:.0f}–{100 * high:.0f} %)"
                rest = " | ".join(str(mine[outcome]) for outcome in OUTCOMES[1:])
                head = f"{1000 * design.reach:.0f} mm | {entering} | {1000 * step:g} ms | {mine['starts']}"
                out.append(f"| {head} | {share} | {rest} |")
    for row in table("parts_feeder_jams.csv"):
        least = f"{float(row['least_friction_from']):.2f} to {float(row['least_friction_to']):.2f}"
        locked = f"{row['locked']} of {row['analysed']}"
        pull = f"{float(row['median_pull_in_weights']):.2f}"
        out.append(f"| {row['touches']} | {row['cups']} | {least} | {locked} | {pull} |")
    return out


def write(name: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """A table of docs/data."""
    with (DOCS / "data" / name).open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(rows)


def full() -> None:
    """The whole study: docs/data/parts_feeder.csv and parts_feeder_jams.csv, and the pictures."""
    rows, jams = study()
    write("parts_feeder.csv", FIELDS, rows)
    kinds: dict[str, list[Passage]] = {}
    for one in jams:
        kinds.setdefault(where(one), []).append(one)
    kinds = dict(sorted(kinds.items(), key=lambda kind: -len(kind[1])))
    found = []
    for touches, members in kinds.items():
        sample = [(one, explain(one)) for one in members[:: max(1, len(members) // 20)]]
        low, high = (f"{pick(jam.least for _, jam in sample):.3f}" for pick in (min, max))
        locked = sum(jam.locks <= one.design.mu for one, jam in sample)
        pull = f"{np.median([jam.pull for _, jam in sample]):.3f}"
        found.append((touches, len(members), len(sample), low, high, locked, pull))
    write("parts_feeder_jams.csv", KINDS, found)
    draw_jams(dict(list(kinds.items())[:5]), DOCS / "images" / "parts-feeder-jams.png")
    draw()
    print("\n".join(lines()))


def draw() -> None:
    """The pictures that need no more than the rows of the study."""
    draw_map(table("parts_feeder.csv"), DOCS / "images" / "parts-feeder-map.png")
    draw_ways(DOCS / "images" / "parts-feeder.png")


if __name__ == "__main__":
    if sys.argv[1:] == ["--full"]:
        full()
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else None)
