"""What `stiction analyze` says about a system at a state, in plain words and as data."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import FloatArray
from ..errors import ModelError
from ..problem.laws import UNILATERAL, Mode
from ..status import Status
from ..systems.base import State
from .bounds import friction_bound, jamming_bound, pointed
from .contact_modes import ContactMode, contact_modes
from .forms import Form, force_acceleration, impulse_velocity
from .holding import Holding, balances, holding
from .hypotheses import Hypotheses, hypotheses
from .instant import built
from .motions import all_motions
from .uniqueness import Uniqueness, uniqueness

LISTED_MAX_CONTACTS = 8  # contacts: with more of them, single ones are not listed and bounds by bisection are left out
ENUMERATED_MAX_PAIRS = 40  # of which all motions are enumerated


@dataclass(frozen=True)
class Touching:
    """A contact that touches: its name, gap [m], coefficient of friction, and what it does now and next."""

    name: str
    gap: float
    mu: float
    now: str
    next: str


@dataclass(frozen=True)
class Report:
    """What was found: `verdict` in a line, `contacts`, `findings` (heading and sentence), `hypotheses`, and numbers.

    decided: whether existence and uniqueness were decided within the time.
    """

    verdict: str
    contacts: tuple[Touching, ...]
    findings: tuple[tuple[str, str], ...]
    hypotheses: Hypotheses
    numbers: dict[str, Any]
    decided: bool

    def as_dict(self) -> dict[str, Any]:
        """For programs; infinite numbers are the text "infinite", and what does not apply is None."""
        return {
            "verdict": self.verdict,
            "decided": self.decided,
            "contacts": [vars(c) for c in self.contacts],
            "findings": dict(self.findings),
            "hypotheses": [
                {"name": f.name, "holds": f.holds, "value": _finite(f.value), "sentence": f.sentence}
                for f in self.hypotheses
            ],
            "numbers": {name: _finite(value) for name, value in self.numbers.items()},
        }


def report(
    system: Any, state: State | None = None, *, closed: float = 1e-6, rest: float = 1e-6,
    directions: int | None = None,    time_limit: float = 60.0, bounds: bool = True,
) -> Report:  # fmt: skip
    """Everything about a system at a state (by default the initial one): existence, uniqueness, bounds, hypotheses.

    Contacts with a gap of up to `closed` [m] touch; slower ones than `rest` [m/s] are at rest. Round friction cones in
    space are replaced by `directions` directions where motions are searched, if given. time_limit [s] is for all
    searches together; what is not decided within it is said to be so. bounds: find the bound of friction, too
    (`friction_bound`, which decides some forty problems).
    """
    deadline = time.monotonic() + time_limit
    system = built(system)
    near = {"closed": closed, "rest": rest}
    jam = _jamming(system, state, closed)
    try:
        posed = force_acceleration(system, state, directions=directions, **near)
    except ModelError as error:
        if "closing" not in str(error) and "off its speed" not in str(error):
            raise
        return _impact(system, state, str(error), closed, rest, directions, time_limit, jam)
    answer = uniqueness(posed.problem, time_limit=time_limit)
    solution = answer.first
    modes = _modes(posed, None if solution is None else solution.p)
    still = _at_rest(posed, rest)
    held = _held(system, state, near) if still else []
    verdict = _verdict(posed, answer, modes, still, held, jam["pointed"])
    findings = [_existence(answer, system, state, closed, directions), ("motions", answer.message)]
    if answer.second is not None:
        findings += _both(posed, answer)
    findings += [("jamming", jam["sentence"]), *_pulls(held)]
    bound: dict[str, Any] = {}
    if bounds and len(modes) <= LISTED_MAX_CONTACTS and _rubbing(posed) and time.monotonic() < deadline:
        bound, said = _bound(system, state, near, directions, deadline)
        findings.append(("friction", said))
    numbers = {
        "contacts": len(posed.names),
        "distance": answer.distance,
        "separation": answer.separation,
        "impulse_limit": answer.limit,
        "jamming_bound": jam["value"],
        "jamming_bounds": jam["single"],
        "holds": min((h.least for h in held if h.rests), default=None),
        **bound,
    }
    told = hypotheses(system, state, directions=directions or 8, **near)
    decided = answer.unique is not None or answer.status is Status.NO_SOLUTION
    return Report(verdict, _touching(posed, modes, rest), tuple(findings), told, numbers, decided)


def _impact(
    system: Any, state: State | None, why: str, closed: float, rest: float, directions: int | None, time_limit: float,
    jam: dict[str, Any],
) -> Report:  # fmt: skip
    """Something is closing: impulses come first."""
    posed = impulse_velocity(system, state, closed=closed, directions=directions)
    answer = uniqueness(posed.problem, time_limit=time_limit)
    modes = _modes(posed, None if answer.first is None else answer.first.p)
    verdict = "an impact comes first" + {True: "", False: ", and two outcomes are possible", None: ""}[answer.unique]
    findings = [("impact", why), ("motions", answer.message), *(_both(posed, answer) if answer.second else [])]
    findings.append(("jamming", jam["sentence"]))
    numbers = {
        "contacts": len(posed.names),
        "jamming_bound": jam["value"],
        "jamming_bounds": jam["single"],
        "separation": answer.separation,
    }
    told = hypotheses(system, state, closed=closed, rest=rest, directions=directions or 8)
    return Report(verdict, _touching(posed, modes, rest), tuple(findings), told, numbers, answer.unique is not None)


def _verdict(
    posed: Form, answer: Uniqueness, modes: tuple[ContactMode, ...], still: bool, held: list[Holding], pointy: bool
) -> str:
    if answer.status is Status.NO_SOLUTION:
        return "no finite forces: an impulse without an impact is forced"
    if answer.unique is False:
        assert answer.first is not None
        assert answer.second is not None
        ways = [_way(posed, s.p, s.v, still) for s in (answer.first, answer.second)]
        if held and not pointy:
            ways = [f"stays jammed and {_against(held)}" if way == "rests" else way for way in ways]
        return f"two motions possible: it {ways[0]}, or it {ways[1]}"
    if answer.first is None:
        return "not decided"
    way = _way(posed, answer.first.p, answer.first.v, still)
    if way == "rests" and held:
        return f"{'rests' if pointy else 'jammed'}: {_against(held)}"
    return way if answer.unique else f"{way}; whether that is the only motion was not decided"


def _against(held: list[Holding]) -> str:
    least = min(h.least for h in held)
    if np.isinf(least):
        return "holds against any pull, however strong"
    return f"holds against any pull below {least:.4g} N" if least > 0.0 else "holds, but some pull moves it at once"


def _way(posed: Form, p: FloatArray, a: FloatArray, still: bool) -> str:
    """A motion in a word or two."""
    load = float(np.abs(posed.problem.v_free).max(initial=0.0)) or 1.0
    if still and np.abs(a).max(initial=0.0) <= 1e-7 * load:
        return "rests"
    words = Counter(_word(m) for m in _modes(posed, p))
    touching = words["slides"] + words["begins to slide"] + words["sticks"]
    if not touching:
        return "comes free of all contacts" if len(posed.names) else "is free"
    if words["begins to slide"]:
        return "begins to slide"
    if words["slides"]:
        return "slides"
    return "turns or rolls without slip"


def _word(mode: ContactMode) -> str:
    if mode.mode in (Mode.BILATERAL, Mode.BOUND):
        return "holds"
    if mode.parts or mode.mode == Mode.OPEN:
        return "opens" if mode.parts else "carries nothing"
    if mode.slip.any():
        return "begins to slide" if mode.before == Mode.STICK else "slides"
    return "sticks"


def _modes(posed: Form, p: FloatArray | None) -> tuple[ContactMode, ...]:
    if p is None:
        return ()
    relative, forces = posed.relative(p), posed.forces(p)
    size = max(float(np.abs(x).max(initial=0.0)) for x in (posed.problem.v_free, posed.slip)) or 1.0
    load = float(np.abs(forces).max(initial=0.0)) or 1.0
    return contact_modes(posed, relative, forces, np.abs(forces), 1e-7 * size, 1e-7 * load)


def _touching(posed: Form, modes: tuple[ContactMode, ...], rest: float) -> tuple[Touching, ...]:
    """The contacts, with their coefficients as the system has them."""
    mu = dict(zip(posed.problem.key.tolist(), posed.problem.friction.mu.tolist()))
    out = []
    for k, name in enumerate(posed.names):
        if posed.law[k] != UNILATERAL:
            continue
        rows = slice(int(posed.row_ptr[k]) + 1, int(posed.row_ptr[k + 1]))
        now = "slides" if np.abs(posed.slip[rows]).max(initial=0.0) > rest else "at rest"
        after = _word(modes[k]) if modes else ""
        out.append(Touching(name, float(posed.gap[k]), _coefficient(posed, k, mu), now, after))
    return tuple(out)


def _coefficient(posed: Form, k: int, mu: dict[int, float]) -> float:
    """At contacts that slide the friction is in the direction of the force, and the coefficient in the system."""
    if posed.system is not None and posed.state is not None:
        found = posed.system.detect(posed.state.t, posed.state.q, posed.closed)
        at = np.flatnonzero(found.key == posed.key[k])
        if len(at):
            return float(found.friction.mu[at[0]])
    return mu.get(int(posed.key[k]), 0.0)


def _rubbing(posed: Form) -> bool:
    return any(posed.law[k] == UNILATERAL and posed.row_ptr[k + 1] - posed.row_ptr[k] > 1 for k in range(posed.nk))


def _at_rest(posed: Form, rest: float) -> bool:
    assert posed.state is not None
    moving = np.abs(posed.state.v[posed._moving]).max(initial=0.0)
    return bool(moving <= rest and np.abs(posed.slip).max(initial=0.0) <= rest)


def _held(system: Any, state: State | None, near: dict[str, float]) -> list[Holding]:
    posed = force_acceleration(system, state, **near)
    return holding(system, state, **near) if balances(posed) else []


def _existence(
    answer: Uniqueness, system: Any, state: State | None, closed: float, directions: int | None
) -> tuple[str, str]:
    if answer.status is not Status.NO_SOLUTION:
        found = answer.first is not None
        return "forces", "finite forces exist" if found else "whether finite forces exist was not decided"
    text = "no finite forces obey the laws: " + answer.message.lower().rstrip(".")
    posed = impulse_velocity(system, state, closed=closed, directions=directions or 8)
    if int((~posed.problem.to_lcp().free).sum()) <= ENUMERATED_MAX_PAIRS:
        for motion in all_motions(posed):
            if np.abs(motion.p).max(initial=0.0) > 0.0 and motion.goes_on:
                text += f"; this impulse ends it: {motion.words}"
                break
    return "forces", text


def _both(posed: Form, answer: Uniqueness) -> list[tuple[str, str]]:
    out = []
    for name, solution in (("first", answer.first), ("second", answer.second)):
        assert solution is not None
        modes = _modes(posed, solution.p)
        said = "; ".join(m.words for m in modes) if len(modes) <= LISTED_MAX_CONTACTS else _counted(modes)
        out.append((f"{name} motion", said))
    return out


def _counted(modes: tuple[ContactMode, ...]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(_word(m) for m in modes).items())


def _jamming(system: Any, state: State | None, closed: float) -> dict[str, Any]:
    posed = impulse_velocity(system, state, closed=closed)
    names = [name for name, law in zip(posed.names, posed.law) if law == UNILATERAL]
    holds, _ = pointed(posed.problem)
    bound = jamming_bound(system, state, closed=closed)
    if np.isinf(bound.value):
        sentence = "contacts cannot jam: no friction makes them press against each other without a load"
    elif holds:
        sentence = f"not now; with friction of {bound.value:.4g} at all contacts they could press against each other"
    else:
        sentence = f"contacts can press against each other without a load (from friction {bound.value:.4g} on)"
    single = {}
    if 1 < len(names) <= LISTED_MAX_CONTACTS:
        single = {name: _finite(jamming_bound(system, state, closed=closed, contact=name).value) for name in names}
    return {"pointed": holds, "value": bound.value, "sentence": sentence, "single": single}


def _pulls(held: list[Holding]) -> list[tuple[str, str]]:
    out = []
    for h in held[:LISTED_MAX_CONTACTS]:
        where = ", ".join(f"{x:.2g}" for x in h.direction)
        if np.isinf(h.least):
            text = "any pull at its centre of mass, however strong"
        else:
            text = f"any pull at its centre of mass below {h.least:.4g} N; the weakest direction is ({where})"
        out.append((f"{h.body} holds", text))
    return out


def _bound(
    system: Any, state: State | None, near: dict[str, float], directions: int | None, deadline: float
) -> tuple[dict[str, Any], str]:
    left = max(deadline - time.monotonic(), 1.0)
    options: dict[str, Any] = {"directions": directions, **near}
    found = friction_bound(system, state, most=4.0, tol=1e-6, time_limit=left, **options)
    estimate = found.estimate
    said = "no estimate by ttp01 theorem 1 (A)" if estimate is None else f"ttp01 theorem 1 (A) gives {estimate:.4g}"
    numbers = {"friction_bound": found.value, "friction_estimate": estimate}
    return numbers, f"{found.message.rstrip('.')}; {said}"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return "infinite" if value == np.inf else None
    return value
