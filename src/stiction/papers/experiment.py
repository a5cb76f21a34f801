"""Experiments of the papers: what each one printed, what we get, and an honest verdict on every number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPRODUCED, DIFFERS, FITTED, NOT_PRINTED = "reproduced", "differs", "fitted", "no printed value"


@dataclass(frozen=True)
class Quantity:
    """One number of an experiment.

    paper: the printed value, None where nothing is printed; ours: what we get; tolerance: how near the two must be,
    from the printed digits; record: the value we have on record, to which `ours` must agree to `record_tolerance`;
    reason: why it differs, was fitted, or what it means; fitted: a datum was chosen to match it.
    """

    name: str
    ours: float
    record: float
    unit: str = ""
    paper: float | None = None
    tolerance: float | None = None
    reason: str = ""
    fitted: bool = False
    record_tolerance: float = 1e-6

    @property
    def verdict(self) -> str:
        """Reproduced, differs, fitted, or no printed value."""
        if self.paper is None:
            return NOT_PRINTED
        if self.fitted:
            return FITTED
        assert self.tolerance is not None
        return REPRODUCED if abs(self.ours - self.paper) <= self.tolerance * (1 + 1e-9) else DIFFERS

    @property
    def ok(self) -> bool:
        """Whether `ours` is the value on record (relative to its size, or absolute near zero)."""
        return bool(abs(self.ours - self.record) <= self.record_tolerance * max(1.0, abs(self.record)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": f"{self.name} [{self.unit}]" if self.unit else self.name,
            "paper": self.paper,
            "ours": float(self.ours),  # also where it came from an array
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "reason": self.reason,
            "ok": self.ok,
        }


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
