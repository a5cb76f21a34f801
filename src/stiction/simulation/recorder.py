"""Collects the steps of a run and makes a Trajectory of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .. import __version__
from .._check import FloatArray
from ..schemes.base import Contacts, StepResult
from ..systems.base import State, System
from .trajectory import BALANCE, CERTIFICATE, ContactTable, EnergyRecord, RunCertificate, Trajectory


def residuals(result: StepResult) -> dict[str, float]:
    """The residuals of a step by name: those of its last solve, and of the step itself."""
    certificate, solution = result.certificate, result.solution
    assert certificate is not None
    solved = {} if solution is None else solution.certificate.as_dict()
    own = {
        "penetration": certificate.penetration,
        "joint_drift": certificate.joint_drift,
        "energy": certificate.energy.residual,
    }
    return {name: own[name] if name in own else solved.get(name, 0.0) for name in CERTIFICATE}


class Recorder:
    """Grows by one step at a time; nothing is computed that the step has not computed already."""

    def __init__(self, system: System, state: State):
        self._system = system
        self._mechanism = getattr(system, "mechanism", None)
        self._states = [state]
        self._energy = [system.energy(state.q, state.v)]
        self._joints: list[FloatArray] = []
        self._turns = np.zeros(self._mechanism.coordinates.turns if self._mechanism is not None else 0)
        self._measure(state)
        self._contacts: list[Any] = []
        self._work: list[tuple[float, ...]] = []
        self._residuals: list[tuple[float, ...]] = []
        self._success: list[bool] = []
        self._gains: list[tuple[int, int, float, bool]] = []

    def add(self, result: StepResult, between: dict[str, float]) -> None:
        """Record a step that was taken; `between`: the worst residuals of steps before it that are not recorded."""
        state, certificate = result.state, result.certificate
        assert certificate is not None
        self._states.append(state)
        self._measure(state)
        self._energy.append(self._system.energy(state.q, state.v))
        self._gains += [(len(self._contacts), gain.key, gain.energy, gain.capped) for gain in result.gains]
        self._contacts.append(result.contacts)
        self._work.append(tuple(getattr(certificate.energy, name) for name in BALANCE))
        own = residuals(result)
        self._residuals.append(tuple(max(own[name], between.get(name, -np.inf)) for name in CERTIFICATE))
        self._success.append(result.success)

    def _measure(self, state: State) -> None:
        """The coordinates of joints and their speeds."""
        if self._mechanism is not None and self._mechanism.coordinates.n:
            system: Any = self._system
            now, self._turns = system.coordinates(state.q, state.v, self._turns)
            self._joints.append(now)

    def trajectory(self, info: dict[str, Any]) -> Trajectory:
        """The run so far."""
        states, n, first = self._states, len(self._contacts), self._states[0]
        work = np.array(self._work, dtype=float).reshape(n, len(BALANCE))
        residuals = np.array(self._residuals, dtype=float).reshape(n, len(CERTIFICATE))
        info = {
            **info,
            "version": __version__,
            "coordinates": list(self._system.coordinate_names),
            "velocities": list(self._system.velocity_names),
            "constraints": {str(key): self._system.constraint_name(key) for key in self._keys()},
            "world": self._world(),
            "joints": [] if self._mechanism is None else self._mechanism.coordinate_names,
            "indeterminate": self._indeterminate(),
            "closed": first.keys[first.impulses[:, 0] > 0].tolist(),
            "gains": self._gains,
        }
        return Trajectory(
            times=np.array([s.t for s in states]),
            q=np.array([s.q for s in states]),
            v=np.array([s.v for s in states]),
            table=self._table(),
            energy=EnergyRecord(
                kinetic=np.array([e.kinetic for e in self._energy]),
                potential=np.array([e.potential for e in self._energy]),
                work={name: work[:, i] for i, name in enumerate(BALANCE)},
            ),
            certificate=RunCertificate(
                {name: residuals[:, i] for i, name in enumerate(CERTIFICATE)}, np.array(self._success, dtype=bool)
            ),
            info=info,
            joints=np.array(self._joints).reshape(len(states), -1, 2)
            if self._joints
            else np.zeros((len(states), 0, 2)),
        )

    def _indeterminate(self) -> list[str] | None:
        """The joints whose impulses are not unique, at the first and at the last recorded configuration."""
        system: Any = self._system
        if self._mechanism is None:
            return []
        first, last = (system.indeterminate(self._states[i].q) for i in (0, -1))
        return None if first is None or last is None else sorted({*first} & {*last})

    def _world(self) -> dict[str, Any] | None:
        """What is needed to read positions of bodies from q; None for generalized systems."""
        specs = getattr(self._system, "specs", None)
        if specs is None:
            return None
        return {
            "dim": len(specs[0].com),
            "bodies": [s.name for s in specs],
            "com": [s.com.tolist() for s in specs],
        }

    def _keys(self) -> list[int]:
        """The constraints that acted, and those that could act at the end."""
        last = self._states[-1]
        known = self._system.detect(last.t, last.q, 0.0).key.tolist()
        return sorted({*known, *(int(k) for c in self._contacts for k in c.key)})

    def _table(self) -> ContactTable:
        contacts = self._contacts
        step = np.repeat(np.arange(len(contacts)), [len(c) for c in contacts]).astype(np.int64)

        def join(name: str) -> Any:
            return np.concatenate([getattr(c, name) for c in (*contacts, Contacts.none())])

        return ContactTable(step, *(join(field.name) for field in fields(Contacts)))
