"""Random worlds by seed, a scheme and a solver for each, and every step before the judge."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import build
import numpy as np
from judge import RULES, Judge

import stiction as st

STEPS = 40
SCHEMES = ("AnitescuHart", "AnitescuHart", "StewartTrinkle", "Moreau", "TzitzourisPang", "Compliant")


@dataclass
class Run:
    """A world of a seed and what was found: (step, rule, sentence)."""

    seed: int
    dim: int
    scheme: str
    solver: str
    dt: float
    ordinary: bool
    steps: int = 0
    ended: str = ""
    found: list[tuple[int, str, str]] = field(default_factory=list)


def draw(seed):
    """A world, a scheme, and what is known of them."""
    rng = np.random.default_rng([22, seed])
    dim = int(rng.integers(2, 4))
    rich = bool(rng.random() < 0.5)
    world = build.random_world(rng, dim, rich)
    name, solver = str(rng.choice(SCHEMES)), str(rng.choice(["auto", "auto", "auto", "nsgs", "newton"]))
    dt = float(10 ** rng.uniform(np.log10(2e-3), np.log10(2e-2)))
    if name in ("Compliant", "TzitzourisPang") and (len(world.bodies) > 5 or world.joints or world.springs):
        name = "AnitescuHart"  # these take seconds a step where many stiff rows meet
    friction = world.materials.named["default"].friction
    scheme = getattr(st, name)
    if name == "Moreau":
        e = float(rng.choice([0.0, rng.uniform(0, 1)]))
        world.set_material("default", friction=friction, restitution=e)
        scheme = scheme(impact=str(rng.choice(["newton", "poisson", "stronge"])))
    elif name == "Compliant":
        scheme, solver = scheme(kn=10 ** rng.uniform(4, 6), gamma_n=10 ** rng.uniform(1, 2), gamma_t=1e3), "auto"
    else:
        if name == "AnitescuHart" and rng.random() < 0.2:
            soft = st.Compliance(kn=10 ** rng.uniform(4, 7), gamma_n=10 ** rng.uniform(0, 3))
            world.set_material("default", friction=friction, compliance=soft)
        scheme = scheme()
    free = not world.joints and not world.springs and all(b.kind != "kinematic" for b in world.bodies)
    ordinary = free and solver == "auto" and name in ("AnitescuHart", "StewartTrinkle", "Moreau")
    return world, scheme, Run(seed, dim, name, solver, dt, ordinary)


def fuzz(seed, steps=STEPS, tol=1e-8, rules=tuple(RULES)):
    """Take the steps of a world and judge each; only the given rules count."""
    world, scheme, run = draw(seed)
    try:
        sim = st.Simulator(world, run.dt, scheme=scheme, solver=run.solver, tol=tol, on_failure="continue")
    except st.ModelError:
        run.ended = "refused"
        return run
    judge = Judge(
        world, run.dt, tol, turns=run.scheme in ("AnitescuHart", "StewartTrinkle"), moments=run.scheme != "Compliant"
    )
    for k in range(steps):
        old = sim.state
        try:
            result = sim.step()
            found = judge.judge(old, result)
        except st.StictionError:
            run.ended = "raised"
            break
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
            run.found.append((k, "exception", said[:200]))
            break
        run.steps += 1
        if not result.success:
            run.ended = "failed"
            if run.ordinary and result.status is not st.Status.UNRESOLVED:  # a body turns too far: no ordinary step
                found.append(("failed", f"{result.status.name}: {result.message[:120]}"))
        run.found += [(k, rule, said) for rule, said in found if rule in rules]
        if not result.success:
            break
    return run


def line(run):
    """The first finding of each rule, and the command that shows all again."""
    first = {}
    for k, rule, said in run.found:
        first.setdefault(rule, (k, said))
    head = f"seed {run.seed} ({run.dim}D, {run.scheme}, {run.solver}, dt {run.dt:.2g} s)"
    lines = [f"{head}, step {k}: {rule}: {said}" for rule, (k, said) in first.items()]
    return "\n".join([*lines, f"    again: python tests/fuzz/run.py --only worlds --seed {run.seed}"])


def table(runs):
    """Findings by scheme and rule."""
    schemes = sorted(set(SCHEMES))
    counts = Counter((r.scheme, rule) for r in runs for rule in {rule for _, rule, _ in r.found})
    wide = max(map(len, RULES))
    lines = [f"{'worlds with findings':{wide + 14}s}" + "".join(f"{s:>16s}" for s in schemes)]
    for rule in RULES:
        lines.append(f"  {rule:{wide + 12}s}" + "".join(f"{counts[s, rule]:16d}" for s in schemes))
    of = [("worlds", len), ("steps", lambda rs: sum(r.steps for r in rs))]
    of += [(e, lambda rs, e=e: sum(r.ended == e for r in rs)) for e in ("refused", "failed", "raised")]
    for name, count in of:
        each = [count([r for r in runs if r.scheme == s]) for s in schemes]
        lines.append(f"{name:{wide + 14}s}" + "".join(f"{n:16d}" for n in each))
    return "\n".join(lines)
