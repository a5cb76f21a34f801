"""Which contacts act in a step: the rule of every scheme, each in one place.

    AnitescuHart      every contact within its band; with `eps` those with gap <= eps (`Within`, ah03 eq. 2.13). Applied
                      in `AnitescuHart.active`, compiled in `steps/blocks.select_within`
    StewartTrinkle    its argument `active`: by default `Growing` (st96 §4). Applied in `StewartTrinkle._grown`
    Stewart           `Closing` (s00 eq. 3.9–3.13). Applied in `stewart._acting`
    Moreau            `Touching`: where a contact bounces, what touches within the drift, else within half the band;
                      grown by contacts that the step then closes and that are no impacts. Applied in `moreau._Step`
    TzitzourisPang    every contact within its band: complementarity at the new configuration decides, without a rule
    Compliant         every contact that overlaps, at each moment. Applied in `compliance/motion.py`

Moreau and StewartTrinkle add contacts that bodies would pass right through. Joints always act. How far a scheme looks
for contacts at all is its `band`; what a step runs into beyond that is found after it (`missed_contacts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .. import _check
from .._check import FloatArray
from ..errors import ModelError


class ActiveRule(Protocol):
    """Chooses the contacts that a step holds, from the gaps at its start and at the prediction q + h v."""

    grows: bool

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """(nk,) bool; `was_active`: carried an impulse in the last step. `grows`: add those violated by the solve."""


@dataclass(frozen=True)
class Growing:
    """st96 §4: active before, or violated at the prediction; any violated after the solve are added, and again."""

    grows = True

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """Active in the last step, or predicted to overlap."""
        return was_active | (predicted < 0.0)


@dataclass(frozen=True)
class Within:
    """ah03: contacts with gap <= eps [m] at the start of the step; the guideline is eps = v_max·h."""

    eps: float
    grows = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", _check.number("active eps", self.eps, low=0.0))

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """Near enough now."""
        return gap <= self.eps


@dataclass(frozen=True)
class Closing:
    """s00 eq. 3.9–3.13: contacts that the free motion q + h v would close in this step."""

    grows = False

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """Predicted to overlap."""
        return predicted < 0.0


@dataclass(frozen=True)
class Touching:
    """Moreau: contacts with a gap of at most reach (nk,) [m], and those that the motion would close in this step."""

    reach: FloatArray
    grows = True

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """Near enough now, or predicted to touch."""
        return (gap <= self.reach) | (predicted <= 0.0)


@dataclass(frozen=True)
class Speculative:
    """Every contact in the band, however far: the LCP decides."""

    grows = False

    def choose(self, gap: FloatArray, predicted: FloatArray, was_active: np.ndarray) -> np.ndarray:
        """All of them."""
        return np.ones(len(gap), dtype=bool)


_BY_NAME: dict[str, type] = {"growing": Growing, "closing": Closing, "speculative": Speculative}


def active_rule(value: ActiveRule | str | float) -> ActiveRule:
    """A rule by name ("growing", "closing", "speculative"), a number as `Within(eps)`, or the rule itself."""
    if isinstance(value, str):
        made: ActiveRule = _BY_NAME[_check.choice("active", value, list(_BY_NAME))]()
        return made
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Within(value)
    if isinstance(value, bool) or not hasattr(value, "choose"):
        raise ModelError(f"active must be a rule, its name or a distance in metres; got {type(value).__name__}.")
    return value
