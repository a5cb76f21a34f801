"""Schemes by the names that they have in Python, with their options."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from .. import schemes
from .fields import Count, NotNegative, Number, Positive, Table

Rows = Annotated[list[Annotated[list[Number], Field(min_length=1, max_length=5)]], Field(min_length=1, max_length=1000)]
Edges = Annotated[int, Field(strict=True, ge=3, le=1000)]


def _directions(value: Any) -> str:
    return "<rows>" if isinstance(value, list) else "<smooth>" if isinstance(value, str) else "<count>"


Directions = Annotated[
    Annotated[Edges, Tag("<count>")] | Annotated[Rows, Tag("<rows>")] | Annotated[Literal["smooth"], Tag("<smooth>")],
    Discriminator(_directions),
]


class Scheme(Table):
    """How time advances."""

    def make(self) -> Any:
        """The scheme."""
        given = self.given()
        if given.get("directions") == "smooth":
            given["directions"] = None
        return getattr(schemes, self.type)(**given)  # type: ignore[attr-defined]


class AnitescuHart(Scheme):
    """One problem per step; inelastic impacts."""

    type: Literal["AnitescuHart"]
    stabilize: bool = True
    """Pull joints and contacts back to zero violation."""
    relaxation: Literal["none", "convex", "fixed-point"] = "none"
    """Coulomb's law, its convex relaxation, or Coulomb's law by a sequence of convex problems."""
    eps: NotNegative | None = None
    """Contacts with a gap of up to this act [m]."""
    directions: Directions | None = None
    """Edges of the polygon that replaces a smooth friction cone, directions as rows, or "smooth"."""
    tolerance: Positive = 1e-5
    """Of the fixed point."""
    maxiter: Count = 100
    """Of the fixed point."""


class StewartTrinkle(Scheme):
    """Position level; inelastic impacts."""

    type: Literal["StewartTrinkle"]
    nonlinear: bool = False
    """Gaps met at the new configuration itself."""
    evaluate: Literal["prediction", "midpoint", "new"] = "prediction"
    """Where the mass, normals and tangents are taken."""
    active: Annotated[
        Annotated[Literal["growing", "closing", "speculative"], Tag("<rule>")]
        | Annotated[NotNegative, Tag("<distance>")],
        Discriminator(lambda value: "<rule>" if isinstance(value, str) else "<distance>"),
    ] = "growing"
    """Which contacts act: a rule by name, or a distance [m]."""
    directions: Directions = 8
    """Edges of the polygon that replaces a smooth friction cone, directions as rows, or "smooth"."""
    tolerance: Positive = 1e-10
    """Of the fixed point."""
    maxiter: Count = 200
    """Of the fixed point."""


class WorkDriven(Table):
    """Contacts as springs that share an impact."""

    type: Literal["WorkDriven"]
    exponent: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=1.0)] = 1.0
    """1 for linear springs, 1.5 for Hertz' contact."""


class Moreau(Scheme):
    """Velocity level, with restitution."""

    type: Literal["Moreau"]
    impact: Literal["newton", "poisson", "stronge"] = "newton"
    """The impact law."""
    multiple: Annotated[
        Annotated[Literal["simultaneous", "sequential", "work"], Tag("<rule>")]
        | Annotated[WorkDriven, Tag("<springs>")],
        Discriminator(lambda value: "<rule>" if isinstance(value, str) else "<springs>"),
    ] = "simultaneous"
    """How an impact at several contacts is resolved."""
    follow: bool = True
    """Follow slip through an impact at one contact."""
    gains: Literal["allow", "refuse", "cap"] = "allow"
    """What happens when an impact would add energy."""
    drift: Positive = 1e-9
    """Overlap [m] above which the configuration is projected."""
    mass: Literal["start", "new"] = "start"
    """Where the mass matrix is taken."""
    directions: Directions | None = None
    """As in StewartTrinkle; by default smooth."""

    def make(self) -> Any:
        """The scheme."""
        given = self.given()
        if isinstance(self.multiple, WorkDriven):
            given["multiple"] = schemes.WorkDriven(**self.multiple.given())
        if self.directions == "smooth":
            given["directions"] = None
        return schemes.Moreau(**given)


class Stewart(Scheme):
    """Velocity level, with Newton's restitution, as printed in Stewart's survey; to compare with."""

    type: Literal["Stewart"]
    directions: Directions = 8
    """As in StewartTrinkle."""
    drift: Positive | None = None
    """Overlap [m] above which the configuration is projected; by default never."""


class TzitzourisPang(Scheme):
    """Fully implicit; inelastic impacts."""

    type: Literal["TzitzourisPang"]
    tolerance: Positive = 1e-10
    """The certificate error that a step aims at."""
    maxiter: Count = 30
    """Newton iterations from one start."""
    hot: bool = True
    """Start from the impulses of the last step."""


class Compliant(Scheme):
    """Contacts as springs and dampers, by stiff integrators."""

    type: Literal["Compliant"]
    kn: Positive
    """Normal stiffness of contacts [N/m]."""
    gamma_n: NotNegative
    """Damping of approach [N s/m]."""
    gamma_t: Positive
    """Damping of slip, up to the bound of friction [N s/m]."""
    method: Literal["Radau", "LSODA"] = "Radau"
    """The integrator."""
    rtol: Positive = 1e-8
    """Its relative tolerance."""


Schemes = AnitescuHart | StewartTrinkle | Moreau | Stewart | TzitzourisPang | Compliant
Names = Literal["AnitescuHart", "StewartTrinkle", "Moreau", "Stewart", "TzitzourisPang"]
AnyScheme = Annotated[
    Annotated[Schemes, Field(discriminator="type")],
    BeforeValidator(
        lambda value: {"type": value} if isinstance(value, str) else value, json_schema_input_type=Schemes | Names
    ),
]
