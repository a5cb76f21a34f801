"""Parameters of the loops around a solver for laws that none knows: each default with its reason."""

from __future__ import annotations

from typing import NamedTuple


class CoefficientParameters(NamedTuple):
    """Coefficients of friction that depend on the speed of slip (`coefficients`, `speed_newton`)."""

    max_rounds: int = 60
    """The most rounds; each is one solve with given coefficients."""
    restart_round: int = 30
    """The round from which on everything begins anew, with plain steps."""
    inner_share: float = 0.5
    """Of the tolerance: left to the solver, the remainder to the coefficients."""
    strict_round: int = 6
    """The round from which on `strict_share` is left to it: errors of the solver blur what is compared."""
    strict_share: float = 0.05
    """See `strict_round`."""
    rest_speeds: float = 10.0
    """Slip speed at the start, over the residual that the tolerance allows, below which a contact is at rest."""
    anderson_rounds: int = 8
    """Earlier rounds that Anderson's method combines."""
    astray_factor: float = 2.0
    """Growth of what is missing over its least value at which Anderson's method drops its history."""
    max_halvings: int = 60
    """The most steps of the search for a zero of one contact's equation."""
    newton_rounds: tuple[int, ...] = (4, 8, 16, 32, 48)
    """Rounds after which Newton's method tries to finish."""
    newton_steps: int = 20
    """The most Newton steps for that."""
    newton_max_rows: int = 300
    """Size of problems up to which it is tried."""
    nudge_share: float = 1e-7
    """Of a coefficient: the difference by which the map is differentiated by it."""


class WrittenSetParameters(NamedTuple):
    """Friction sets written in Python (`written_sets`, `natural_newton`)."""

    max_rounds: int = 12
    """The most rounds; each is one problem with polyhedra in place of the sets."""
    stalled_rounds: int = 3
    """Rounds in a row that do not halve the residual after which it ends: the functions are not accurate enough."""
    base_directions: int = 16
    """Vertices around the origin that each polyhedron keeps."""
    kept_vertices: int = 8
    """The newest other vertices that it keeps."""
    same_vertex_share: float = 1e-9
    """Of the size of a vertex: nearer ones are one vertex."""
    newton_steps: int = 25
    """The most Newton steps on the natural map of the true sets."""
    newton_max_rows: int = 1500
    """Size of problems whose dense equations are solved for that."""


COEFFICIENTS = CoefficientParameters()
WRITTEN_SETS = WrittenSetParameters()
