"""Friction, restitution and stiffness: materials, and the laws of pairs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from .. import friction as sets
from ..systems import compliance as soft
from ..systems import restitution as bounce
from .fields import Name, NotNegative, Number, Positive, Table, Unit, Vector3


class Stribeck(Table):
    """A coefficient that falls with the slip speed from `static` towards `kinetic`."""

    type: Literal["Stribeck"]
    static: Positive
    """At rest."""
    kinetic: NotNegative
    """In slip."""
    speed: NotNegative
    """Over which it falls [m/s]; 0: at once."""
    viscous: NotNegative = 0.0
    """Grows with the speed [s/m]."""

    def make(self) -> Any:
        """The law."""
        return sets.Stribeck(**self.given())


def _kind(value: Any) -> str:
    return "<law>" if isinstance(value, (dict, Stribeck)) else "<number>"


Coefficient = Annotated[
    Annotated[NotNegative, Tag("<number>")] | Annotated[Stribeck, Tag("<law>")], Discriminator(_kind)
]


class Friction(Table):
    """A friction set."""

    def make(self) -> Any:
        """The set."""
        given = self.given()
        if isinstance(given.get("mu"), Stribeck):
            given["mu"] = given["mu"].make()
        return getattr(sets, self.type)(**given)  # type: ignore[attr-defined]


class Frictionless(Friction):
    """No friction; `friction = "none"` for short."""

    type: Literal["Frictionless"]


class Coulomb(Friction):
    """The same in every direction; `friction = 0.4` for short."""

    type: Literal["Coulomb"]
    mu: Coefficient
    """The coefficient."""


class Anisotropic(Friction):
    """An ellipse."""

    type: Literal["Anisotropic"]
    mu_x: NotNegative
    """Along the axis."""
    mu_y: NotNegative
    """Across it."""
    axis: Vector3 | None = None
    """The direction of mu_x in the axes of the first body."""


class Torsional(Friction):
    """Slip and spin together, in an ellipsoid."""

    type: Literal["Torsional"]
    mu: Coefficient
    """The coefficient."""
    et: Positive = 1.0
    """Semi-axis along tangent 1."""
    eo: Positive = 1.0
    """Semi-axis along tangent 2."""
    er: Positive = 1.0
    """Semi-axis of spin [m]."""
    axis: Vector3 | None = None
    """The direction of tangent 1 in the axes of the first body."""


class Mixed(Friction):
    """Slip in an ellipse, and spin on its own."""

    type: Literal["Mixed"]
    mu: Coefficient
    """The coefficient."""
    et: Positive = 1.0
    """Semi-axis along tangent 1."""
    eo: Positive = 1.0
    """Semi-axis along tangent 2."""
    er: Positive = 1.0
    """Of spin [m]."""
    axis: Vector3 | None = None
    """The direction of tangent 1 in the axes of the first body."""


class Rolling(Friction):
    """Slip, rolling and spin, each on its own."""

    type: Literal["Rolling"]
    mu: Coefficient
    """Of slip."""
    mu_r: NotNegative
    """Of rolling [m]."""
    mu_s: NotNegative | None = None
    """Of spin [m]."""


Row = Annotated[list[Number], Field(min_length=1, max_length=5)]


class Polyhedral(Friction):
    """A polyhedron by its directions, or by normals and offsets of its facets."""

    type: Literal["Polyhedral"]
    mu: Coefficient
    """The coefficient."""
    directions: Annotated[list[Row], Field(min_length=1, max_length=1000)] | None = None
    """Its vertices at unit radius."""
    normals: Annotated[list[Row], Field(min_length=1, max_length=1000)] | None = None
    """Of facets, A in A f <= c."""
    offsets: Annotated[list[NotNegative], Field(min_length=1, max_length=1000)] | None = None
    """Of facets, c."""
    axis: Vector3 | None = None
    """The direction of tangent 1 in the axes of the first body."""

    def make(self) -> Any:
        """The set."""
        from ..errors import ModelError

        mu = self.mu.make() if isinstance(self.mu, Stribeck) else self.mu
        if (self.normals is None) != (self.offsets is None):
            raise ModelError("Polyhedral friction: normals and offsets go together.")
        facets = None if self.normals is None else (self.normals, self.offsets)
        for name, rows in (("directions", self.directions), ("normals", self.normals)):
            if rows is not None and len({len(row) for row in rows}) > 1:
                raise ModelError(f"Polyhedral friction: the rows of {name} must have the same length.")
        return sets.Polyhedral(mu, directions=self.directions, facets=facets, axis=self.axis)


def _spread(value: Any) -> Any:
    """A table in place of a number or a word."""
    if isinstance(value, str):
        return {"type": "Frictionless" if value == "none" else value}
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {"type": "Coulomb", "mu": value} if number else value


Sets = Frictionless | Coulomb | Anisotropic | Torsional | Mixed | Rolling | Polyhedral
AnyFriction = Annotated[
    Annotated[Sets, Field(discriminator="type")],
    BeforeValidator(_spread, json_schema_input_type=Sets | float | Literal["none"]),
]


class Restitution(Table):
    """A coefficient of restitution with more to say; `restitution = 0.8` for short."""

    e: Unit
    """From 0 to 1."""
    law: Literal["newton", "poisson", "stronge"] | None = None
    """Whose; by default that of the scheme."""
    fades: Positive | None = None
    """Speed [m/s] below which impacts bounce less, e (1 - exp(-v / fades)); by default e holds at any speed."""

    def make(self) -> Any:
        """The coefficient, or the law with it."""
        e = self.e if self.fades is None else bounce.Fading(self.e, self.fades)
        laws = {"newton": bounce.NewtonImpact, "poisson": bounce.PoissonImpact, "stronge": bounce.StrongeImpact}
        return e if self.law is None else laws[self.law](e)


def _alone(value: Any) -> Any:
    """A table in place of a number."""
    return {"e": value} if not isinstance(value, (dict, Restitution)) else value


AnyRestitution = Annotated[Restitution, BeforeValidator(_alone, json_schema_input_type=Restitution | Unit)]


class Compliance(Table):
    """A contact that gives way, with dampers (pr11); the type may be left out."""

    type: Literal["Compliance"]
    kn: Positive
    """Normal stiffness [N/m]."""
    gamma_n: NotNegative = 0.0
    """Damping of approach [N s/m]."""
    gamma_t: Positive | None = None
    """Damping of slip, up to the bound of friction [N s/m]; by default none: contacts stick."""

    def make(self) -> Any:
        """The law."""
        return soft.Compliance(**self.given())


class Elastic(Table):
    """A contact with springs; that of the tangents remembers its displacement."""

    type: Literal["Elastic"]
    kn: Positive
    """Normal stiffness [N/m]."""
    kt: Positive | None = None
    """Tangential stiffness [N/m]; by default 6/7 of the normal one."""
    damping: NotNegative = 0.0
    """Damping of the normal [N s/m]."""
    restitution: Positive | None = None
    """Up to 1, instead of damping: how the contact bounces."""

    def make(self) -> Any:
        """The law."""
        return soft.Elastic(**self.given())


def _typed(value: Any) -> Any:
    """A table without a type is a `Compliance`."""
    return {"type": "Compliance"} | value if isinstance(value, dict) else value


AnyCompliance = Annotated[
    Annotated[Compliance | Elastic, Field(discriminator="type")],
    BeforeValidator(_typed, json_schema_input_type=Compliance | Elastic),
]


class PairLaw(Table):
    """What materials and pairs of them have in common."""

    friction: AnyFriction | None = None
    """A coefficient, "none", or a table with the type of a friction set; by default 0.5."""
    restitution: AnyRestitution | None = None
    """From 0 to 1, or a table with a law; by default 0. Above 0 with the scheme Moreau, or of an elastic material."""
    compliance: AnyCompliance | None = None
    """How contacts give way; by default they are rigid."""

    def law(self) -> dict[str, Any]:
        """The arguments of `World.set_material` or `World.set_contact`."""
        made = self.given("bodies", "materials")
        if "friction" in made:
            made["friction"] = made["friction"].make()
        if "restitution" in made:
            made["restitution"] = made["restitution"].make()
        if "compliance" in made:
            made["compliance"] = made["compliance"].make()
        return made


class Material(PairLaw):
    """What bodies are made of."""

    like: str | None = None
    """One of the named materials (docs/elastic.md), whose values hold where none are given."""
    young: Positive | None = None
    """Young's modulus [Pa], which makes it elastic; by default it is rigid."""
    poisson: Number | None = None
    """Poisson's ratio, above -1 and up to 0.5; by default 0.25."""
    density: Positive | None = None
    """[kg/m³], in the plane [kg/m²]: of bodies that say neither mass nor density."""
    fillet: Positive | None = None
    """Radius of edges and corners [m]; by default a hundredth of half the diagonal of the shape."""


class Contact(PairLaw):
    """The law between two bodies, or between two materials."""

    bodies: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    """Two bodies by name; an axis of friction is fixed in the first."""
    materials: Annotated[list[Name], Field(min_length=2, max_length=2)] | None = None
    """Two materials by name, instead of bodies."""
    friction: AnyFriction | None = None
    """As in a material; by default there is none."""
