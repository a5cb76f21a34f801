"""`stiction check`: read scenes and say what is in them, or everything that is wrong with them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, SceneError
from ..scene import Scene, read_scene
from .output import console, failure, write_json


def check_scenes(paths: Sequence[Path], changes: Sequence[str], json: Path | None) -> bool:
    """Whether all scenes can be run."""
    if json is not None:
        write_json(json, None)
    reports = [_report(path, changes) for path in paths]
    for report in reports:
        _show(report)
    if json is not None:
        write_json(json, reports)
    return all(report["ok"] for report in reports)


def _report(path: Path, changes: Sequence[str]) -> dict[str, Any]:
    try:
        scene = read_scene(path, changes)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            simulator = scene.simulator()
    except SceneError as error:
        return {"file": str(path), "ok": False, "problems": list(error.problems), "error": str(error)}
    except ModelError as error:
        return {"file": str(path), "ok": False, "problems": [str(error)], "error": f"{path}: {error}"}
    state = simulator.state
    near = simulator.system.detect(state.t, state.q, 1e-6)
    return {
        "file": str(path),
        "ok": True,
        "problems": [],
        "warnings": [str(one.message) for one in caught],
        "title": scene.title,
        **_contents(scene),
        "contacts at the start": int(np.count_nonzero(near.contact)),
        "scheme": type(simulator.scheme).__name__,
        "solver": simulator.solver.name,
        "steps": max(1, int(np.ceil(scene.duration / scene.dt - 1e-9))),
        "duration": scene.duration,
        "dt": scene.dt,
    }


def _contents(scene: Scene) -> dict[str, Any]:
    world = scene.world
    bodies = world.bodies[1:]
    return {
        "world": "space" if world.dim == 3 else "plane",
        "bodies": dict(Counter(body.kind for body in bodies)),
        "shapes": dict(Counter(type(shape).__name__ for body in bodies for shape in body.shapes)),
        "mass": float(sum(body.mass for body in bodies)),
        "joints": dict(Counter(type(joint).__name__ for joint in world.joints)),
        "springs": len(world.springs),
        "forces": len(world.forces),
        "materials": len(world.materials.named),
    }


def _show(report: dict[str, Any]) -> None:
    if not report["ok"]:
        failure(report["error"])
        return
    screen = console()
    screen.print(f"{report['file']}: [green]good[/green]  {report['title']}", highlight=False)

    def listed(name: str) -> str:
        return ", ".join(f"{n} {what}" for what, n in report[name].items()) or "none"

    rows = {
        "bodies": f"{listed('bodies')}; {report['mass']:g} kg; {listed('shapes')}",
        "joints": f"{listed('joints')}; springs {report['springs']}; forces {report['forces']}",
        "start": f"{report['contacts at the start']} contacts",
        "run": f"{report['steps']} steps of {report['dt']:g} s, {report['scheme']} with solver {report['solver']}",
    }
    for name, text in rows.items():
        screen.print(f"  {name:<7s} {text}", highlight=False)
    for text in report["warnings"]:
        screen.print(f"  [yellow]warning[/yellow] {text}", highlight=False)
