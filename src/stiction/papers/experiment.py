"""Experiments of the papers: what each one printed, what we get, and an honest verdict on every number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPRODUCED, DIFFERS, FITTED, NOT_PRINTED = "reproduced", "differs", "fitted", "no printed value"
NOT_COMPARABLE = "not comparable"
# tolerances of words: "exact", "identical", "zero" (in the unit); "essentially zero"; the order of a convergence
EXACT, ESSENTIALLY, ORDER = 1e-8, 1e-6, 0.1
_NUMBER = re.compile(r"[-−]?\d+(?:\.(\d+))?(?:e([-+]?\d+))?")


def printed(text: str) -> tuple[float, float]:
    """The value of a printed number and half a unit of its last digit: "0.42" is 0.42 ± 0.005.

    "≈ 0.42" and "about 0.42" are judged by their digits like any other number, and so is what was read off a figure:
    give as many digits as it shows.
    """
    found = _NUMBER.search(text)
    if found is None:
        raise ModelError(
            f"paper={text!r}: there is no number in it; a claim in words is a number, such as 1.0 for yes."
        )
    decimals, power = len(found[1] or ""), int(found[2] or 0)
    return float(found[0].replace("−", "-")), 0.5 * 10.0 ** (power - decimals)


@dataclass(frozen=True)
class Quantity:
    """One number of an experiment, or one claim in words (`claim`: 1 = yes, 0 = no).

    paper: what is printed, as a string with the printed digits, from which the tolerance follows (`printed`); as a
    number where a count or a claim is exact, or where `tolerance` is that of a word (`EXACT`, `ESSENTIALLY`,
    `ORDER`); None where nothing is printed. ours: what we get. reason: why it differs, was fitted, or what it means.
    fitted: a datum was chosen to match it, or it rests on a rule that was chosen among several. comparable: False where
    the printed number measures something else, which `reason` names. tried: the readings of the paper with which this
    was computed; conclude: what a reader may conclude. What differs needs both.

    record: the value we have on record, to which `ours` must agree to `record_tolerance`, relative to the record, or to
    `record_within` in the unit of the quantity: for a record of 0, and for a chaotic run, where it is the spread over
    runs that differ by round-off or by a seed. A tolerance as large as the record would check nothing, and is refused.
    """

    name: str
    ours: float
    record: float
    unit: str = ""
    paper: str | float | None = None
    tolerance: float | None = None
    reason: str = ""
    fitted: bool = False
    record_tolerance: float = 1e-6
    record_within: float | None = None
    comparable: bool = True
    tried: tuple[str, ...] = ()
    conclude: str = ""
    in_words: bool = False

    def __post_init__(self) -> None:
        for what in ("ours", "record", "record_tolerance", "tolerance", "record_within"):
            value = getattr(self, what)
            if not isinstance(value, Real) and not (value is None and what in ("tolerance", "record_within")):
                raise ModelError(f"{self.name}: {what} must be a number; got {value!r}.")
        if isinstance(self.paper, str):
            if self.tolerance is not None:
                raise ModelError(f"{self.name}: the tolerance follows from the printed digits, {self.paper!r}.")
            printed(self.paper)
        elif self.tolerance not in (None, 0.0, EXACT, ESSENTIALLY, ORDER):
            raise ModelError(
                f"{self.name}: tolerance={self.tolerance!r} was chosen by nobody but us; give `paper` as it is printed."
            )
        if not isinstance(self.fitted, bool) or not isinstance(self.comparable, bool):
            raise ModelError(f"{self.name}: fitted and comparable must be True or False.")
        if (self.fitted or not self.comparable) and not self.reason:
            raise ModelError(f"{self.name}: what is fitted or not comparable needs a reason.")
        if self.record != 0.0 and self.within >= abs(self.record):
            raise ModelError(f"{self.name}: the record {self.record:g} to ±{self.within:g} checks nothing.")

    @property
    def value(self) -> float | None:
        """The printed value."""
        return printed(self.paper)[0] if isinstance(self.paper, str) else self.paper

    @property
    def digits(self) -> float:
        """How near ours must be to the printed value to reproduce it."""
        return printed(self.paper)[1] if isinstance(self.paper, str) else self.tolerance or 0.0

    @property
    def verdict(self) -> str:
        """Reproduced, differs, fitted, not comparable, or no printed value."""
        if self.value is None:
            return NOT_PRINTED
        if not self.comparable:
            return NOT_COMPARABLE
        if not abs(self.ours - self.value) <= self.digits * (1 + 1e-9):
            return DIFFERS
        return FITTED if self.fitted else REPRODUCED

    @property
    def within(self) -> float:
        """How near ours must be to the record, in the unit of the quantity."""
        relative = self.record_tolerance * abs(self.record)
        return relative if self.record_within is None else self.record_within

    @property
    def ok(self) -> bool:
        """Whether `ours` is the value on record."""
        return bool(abs(self.ours - self.record) <= self.within)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": f"{self.name} [{self.unit}]" if self.unit else self.name,
            "paper": self.value,
            "printed": self.paper if isinstance(self.paper, str) else None,
            "ours": float(self.ours),  # also where it came from an array
            "tolerance": None if self.value is None else self.digits,
            "verdict": self.verdict,
            "reason": self.reason,
            "tried": list(self.tried),
            "conclude": self.conclude,
            "record": float(self.record),
            "within": self.within,
            "ok": self.ok,
        }


def claim(
    name: str,
    holds: bool,
    reason: str = "",
    *,
    record: bool = True,
    paper: bool = True,
    fitted: bool = False,
    tried: tuple[str, ...] = (),
    conclude: str = "",
) -> Quantity:
    """A claim in words: whether it holds, and whether the paper says so (`paper`); `record`: what we have on record."""
    return Quantity(name, float(holds), float(record), "", float(paper), reason=reason, fitted=fitted, tried=tried,
                    conclude=conclude, in_words=True)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave: its quantities, the worst residuals of its runs, notes, and its figures on demand."""

    quantities: tuple[Quantity, ...]
    certificate: Mapping[str, float]
    figures: Callable[[], dict[str, Figure]] = field(default=dict)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every quantity is the one on record."""
        return all(quantity.ok for quantity in self.quantities)

    @property
    def residual(self) -> float | None:
        """The largest residual of any contact solve: the natural map, plain or scaled; None where none was solved."""
        found = [self.certificate[name] for name in ("natural_map", "scaled_map") if name in self.certificate]
        return max(found, default=None)

    @property
    def certified(self) -> str:
        """The certificate in a sentence."""
        if self.residual is not None:
            return f"largest residual of any solve: {self.residual:.1e}"
        worst = ", ".join(f"{name.replace('_', ' ')} {value:.1e}" for name, value in self.certificate.items())
        return f"no contact problem was solved; largest errors: {worst}"


@dataclass(frozen=True)
class Experiment:
    """An experiment by name, with the paper it comes from and a function that runs it.

    study: the long version, of many runs (`stiction reproduce NAME --study`), where there is one.
    """

    name: str
    paper: str
    title: str
    run: Callable[[], Outcome]
    study: Callable[[], Outcome] | None = None
