"""What contacts do in a solution, in words: open, stick, slide and where to, and what they did before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._check import FloatArray
from ..problem.laws import BOX, DRY, EQUALITY, UNILATERAL, Mode
from .forms import BARE, FORCES, Form


@dataclass(frozen=True)
class ContactMode:
    """One contact (or joint, motor, friction) in a solution.

    mode: OPEN (no load), STICK, SLIP, BILATERAL or BOUND; parts: it separates; slip: the direction of the slip after, a
    unit vector over its friction rows, zeros where there is none; before: its mode before, None where that is not
    known; letter: o (parts), t (touches without load), s, +, - (slip in the plane), d (slip otherwise), b.
    """

    name: str
    mode: Mode
    parts: bool
    slip: FloatArray
    before: Mode | None
    letter: str

    @property
    def changes(self) -> bool:
        """Whether it does something else than before: parts, comes to rest, or begins to slide."""
        if self.before is None or self.mode in (Mode.BILATERAL, Mode.BOUND):
            return False
        now = Mode.OPEN if self.parts else Mode.SLIP if self.slip.any() else Mode.STICK
        return now != self.before

    @property
    def words(self) -> str:
        """For people."""
        where = f" {direction(self.slip)}" if self.slip.any() else ""
        if self.mode in (Mode.BILATERAL, Mode.BOUND):
            return f"{self.name} {'holds' if self.mode == Mode.BILATERAL else 'is at its bound'}"
        if self.parts:
            return f"{self.name} opens" if self.before != Mode.OPEN else f"{self.name} stays open"
        if self.mode == Mode.OPEN:
            return f"{self.name} touches without load" + (f", sliding{where}" if where else "")
        if self.mode == Mode.STICK:
            return f"{self.name} comes to rest" if self.before == Mode.SLIP else f"{self.name} sticks"
        return f"{self.name} {'begins to slide' if self.before == Mode.STICK else 'slides'}{where}"


def direction(slip: FloatArray) -> str:
    """A direction of slip in words."""
    if len(slip) == 1:
        return "along +t" if slip[0] > 0 else "along -t"
    text = ""
    if np.hypot(*slip[:2]) > 1e-9:
        text = f"at {round(float(np.degrees(np.arctan2(slip[1], slip[0]))))}° from tangent 1"
    return text + (" while turning" if np.abs(slip[2:]).max(initial=0.0) > 1e-9 else "")


def contact_modes(
    form: Form, relative: FloatArray, forces: FloatArray, load: FloatArray, zero_v: float, zero_p: float
) -> tuple[ContactMode, ...]:
    """The mode of each constraint: relative (nr,) the motion of its rows, load (nr,) the most that they can bear."""
    made = []
    for k, (name, law) in enumerate(zip(form.names, form.law.tolist())):
        rows = slice(int(form.row_ptr[k]), int(form.row_ptr[k + 1]))
        if law in (EQUALITY, BOX):
            at = law == BOX and not np.abs(relative[rows]).max() <= zero_v
            made.append(ContactMode(name, Mode.BOUND if at else Mode.BILATERAL, False, np.zeros(0), None, "b"))
            continue
        first = rows.start + (1 if law == UNILATERAL else 0)
        before = _before(form, k, rows.start, slice(first, rows.stop), zero_v)
        slip = _slip(form, before, relative, slice(first, rows.stop), zero_v)
        if law == DRY:
            mode = Mode.SLIP if slip.any() else Mode.STICK
            made.append(ContactMode(name, mode, False, slip, before, _letter(mode, False, slip)))
            continue
        idle = form.kind == FORCES and before == Mode.OPEN
        parts = bool(relative[rows.start] > zero_v) or idle
        mode = Mode.OPEN
        if not parts and load[rows.start] > zero_p:
            mode = Mode.SLIP if slip.any() or rows.stop == first else Mode.STICK
        slip = np.zeros(len(slip)) if parts else slip
        made.append(ContactMode(name, mode, parts, slip, before, _letter(mode, parts, slip)))
    return tuple(made)


def _before(form: Form, k: int, row: int, friction: slice, zero: float) -> Mode | None:
    """Open, sliding or at rest at the state."""
    if form.kind == BARE and form.problem.v_start is None:
        return None
    if form.law[k] == UNILATERAL and (form.slip[row] > zero or form.gap[k] > form.closed):
        return Mode.OPEN
    return Mode.SLIP if np.abs(form.slip[friction]).max(initial=0.0) > zero else Mode.STICK


def _slip(form: Form, before: Mode | None, relative: FloatArray, friction: slice, zero: float) -> FloatArray:
    """The unit direction of slip after: in a force problem that of now, or of the acceleration from rest."""
    sliding = form.kind == FORCES and before == Mode.SLIP
    u = (form.slip if sliding else relative)[friction]
    size = float(np.linalg.norm(u))
    return u / size if np.abs(u).max(initial=0.0) > zero else np.zeros(len(u))


def _letter(mode: Mode, parts: bool, slip: FloatArray) -> str:
    if parts or mode == Mode.OPEN:
        return "o" if parts else "t"
    if not slip.any():
        return "s" if mode == Mode.STICK else "d"
    return ("+" if slip[0] > 0 else "-") if len(slip) == 1 else "d"
