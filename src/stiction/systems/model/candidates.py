"""The constraints of a world that could act in a step: joints, and contacts as pairs of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._check import FloatArray, IntArray
from ...errors import ModelError
from ..base import Candidates
from ..builder.materials import LawTable
from ..compliance import RIGID
from ..elastic import RIGID_ROW
from .mechanism import Mechanism

if TYPE_CHECKING:
    from ...collision.records import FeaturePairs


@dataclass(frozen=True)
class Features:
    """Contacts as pairs of geometric features, in body frames (`stiction.collision`), one entry per contact."""

    body_a: IntArray
    body_b: IntArray
    type: IntArray
    pa: FloatArray
    da: FloatArray
    pb: FloatArray
    db: FloatArray
    ra: FloatArray
    rb: FloatArray
    shape_a: IntArray
    shape_b: IntArray

    @property
    def pairs(self) -> FeaturePairs:
        """What their geometry depends on, as kernels take it."""
        from ...collision.records import FeaturePairs

        return FeaturePairs(
            self.body_a, self.body_b, self.type, self.pa, self.da, self.pb, self.db, self.ra, self.rb
        )  # fmt: skip

    def take(self, chosen: IntArray) -> Features:
        """A selection."""
        return Features(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def __len__(self) -> int:
        return len(self.type)


@dataclass(frozen=True)
class WorldCandidates(Candidates):
    """Joints, then contacts with their features and the numbers of their laws in `laws`."""

    features: Features
    mechanism: Mechanism
    number: IntArray
    laws: LawTable

    @property
    def joints(self) -> int:
        """How many blocks come from joints and springs."""
        return self.mechanism.n

    def restitution(self, speed: FloatArray) -> FloatArray:
        """(nk,) the coefficient of restitution of each contact or limit that is hit at `speed` (nk,) [m/s, rad/s]."""
        e = np.zeros(len(self.key))
        if self.mechanism.bounciest > 0.0:
            e[: self.joints] = self.mechanism.restitution(speed[: self.joints])
        if self.laws.bounciest > 0.0:
            e[self.joints :] = self.laws.restitution(self.number, speed[self.joints :])
        return e

    @property
    def soft(self) -> FloatArray | None:
        """(nk, 3) kn, gamma_n and gamma_t of each; None where no law of the world gives way."""
        if self.laws.soft is None:
            return None
        return np.concatenate([np.tile(RIGID, (self.joints, 1)), self.laws.soft[self.number]])

    @property
    def elastic(self) -> FloatArray | None:
        """(nk, 6) the law of each in the columns of `systems/elastic.py`; None where no law of the world is elastic."""
        if self.laws.elastic is None:
            return None
        return np.concatenate([np.tile(RIGID_ROW, (self.joints, 1)), self.laws.elastic[self.number]])

    @property
    def impact_laws(self) -> IntArray:
        """(nk,) the impact law of each contact and limit; 0: that of the scheme."""
        return np.concatenate([self.mechanism.impact_laws, self.laws.impact[self.number]])

    @property
    def contact(self) -> np.ndarray:
        """(nk,) whether each is a contact: neither a joint nor a limit of one."""
        return np.arange(len(self.key)) >= self.joints

    @property
    def rigid(self) -> np.ndarray:
        """(nk,) whether each is a joint that holds exactly."""
        return self._padded(self.mechanism.rigid)

    @property
    def limit(self) -> np.ndarray:
        """(nk,) whether each is a limit that holds exactly."""
        return self._padded(self.mechanism.stops)

    def _padded(self, mask: np.ndarray) -> np.ndarray:
        out = np.zeros(len(self.key), dtype=bool)
        out[: self.joints] = mask
        return out

    @property
    def codes(self) -> IntArray:
        """(nk, 5) what the rows after the normal of each contact are, TANGENT_1 to ROLL_2; 0 for joints."""
        none = np.zeros((self.joints, self.laws.codes.shape[1]), dtype=np.int64)
        return np.concatenate([none, self.laws.codes[self.number]])

    def _take(self, chosen: IntArray) -> WorldCandidates:
        base = super()._take(chosen)
        contacts = chosen[chosen >= self.joints] - self.joints
        if len(chosen) - len(contacts) != self.joints:
            raise ModelError("joints always act; a selection of constraints cannot leave them out.")
        return WorldCandidates(
            base.key, base.law, base.row_ptr, base.friction, self.features.take(contacts), self.mechanism,
            self.number[contacts], self.laws,
        )  # fmt: skip


@dataclass(frozen=True)
class BodyRows:
    """The Jacobian of constraints between pairs of bodies: body_a, body_b (nk,); Ja, Jb (nr, dof)."""

    body_a: IntArray
    body_b: IntArray
    Ja: FloatArray
    Jb: FloatArray
