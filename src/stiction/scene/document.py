"""The scene file as a whole."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .arrays import AnyArray
from .bodies import Body, Force, Spring
from .fields import Count, Name, Positive, Table, Vector
from .joints import AnyJoint
from .laws import Contact, Material
from .schemes import AnyScheme

VERSION = 1
RUN_MAX_STEPS = 1_000_000_000  # of a run


def _version(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > VERSION:
        raise PydanticCustomError(
            "version", "is format {value}; this stiction reads format {known}: install a newer one",
            {"value": str(value)[:20], "known": VERSION},
        )  # fmt: skip
    return value


class WorldTable(Table):
    """What the world is: [world]."""

    kind: Literal["space", "plane"]
    """Bodies in space (z is up) or in the plane (y is up)."""
    gravity: Vector | None = None
    """[m/s²]; by default 9.81 down."""
    exclude: list[Annotated[list[Name], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    """Pairs of bodies that pass through each other."""


class RunTable(Table):
    """How it runs: [run]."""

    dt: Positive
    """The step [s]."""
    duration: Positive
    """How long it runs [s]."""
    scheme: AnyScheme | None = None
    """How time advances: a name, or a table with a type and options; by default AnitescuHart."""
    solver: str = "auto"
    """By name; `stiction info` lists them."""
    tol: Positive = 1e-6
    """The certificate error that a solve aims at."""
    accept: Positive | None = None
    """The largest that is still taken, at least tol; by default tol itself up to 300 rows, and 1e-3 above."""
    on_failure: Literal["raise", "warn", "continue", "accept"] = "raise"
    """When a step fails: stop with a report, warn and go on, or go on ("accept" is the old name of "continue")."""
    on_overlap: Literal["raise", "warn", "separate"] | None = None
    """When bodies overlap at the start: refuse, warn, or move them apart; by default warn."""


class RecordTable(Table):
    """What is recorded: [record]."""

    every: Count | None = None
    """Each so many steps; by default each."""
    fps: Positive | None = None
    """Frames per second of simulated time, instead of every."""
    fields: list[str] | None = None
    """What is kept beside the configurations (docs/recordings.md); by default everything."""


class Document(Table):
    """A scene of stiction."""

    stiction: Annotated[Literal[1], BeforeValidator(_version, json_schema_input_type=Literal[1])]
    """The version of the format."""
    title: str = ""
    """What it shows."""
    world: WorldTable
    """What the world is."""
    run: RunTable
    """How it runs."""
    record: RecordTable = RecordTable()
    """What is recorded."""
    materials: dict[Name, Material] = Field(default_factory=dict)
    """By name; "default" is what bodies are made of unless they say otherwise."""
    contacts: list[Contact] = Field(default_factory=list)
    """Laws of pairs."""
    bodies: list[Body] = Field(default_factory=list)
    """One by one."""
    arrays: list[AnyArray] = Field(default_factory=list)
    """Many at once."""
    joints: list[AnyJoint] = Field(default_factory=list)
    """Between bodies, or a body and the world."""
    springs: list[Spring] = Field(default_factory=list)
    """Between bodies, or on joints."""
    forces: list[Force] = Field(default_factory=list)
    """Constant ones."""
