"""The papers that stiction implements: one module per paper, with its experiments, printed numbers and figures."""

from __future__ import annotations

from .. import _check
from .experiment import Experiment, Outcome, Quantity

__all__ = ["Experiment", "Outcome", "Quantity", "experiment", "experiments"]


def experiments() -> dict[str, Experiment]:
    """Every experiment, by name."""
    from . import st96_rod

    return {e.name: e for e in (st96_rod.EXPERIMENT,)}


def experiment(name: str) -> Experiment:
    """An experiment by name; a misspelt name gets a suggestion."""
    known = experiments()
    return known[_check.choice("experiment", name, list(known))]
