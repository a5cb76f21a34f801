"""Parameters of the solvers `newton` and `proximal`: each default with its reason."""

from __future__ import annotations

from typing import NamedTuple


class NewtonParameters(NamedTuple):
    """Newton's method on the laws alone (`newton`)."""

    default_steps: int = 60
    """`maxiter` by default: factorisations."""
    start_sweeps: int = 100
    """Sweeps of Gauss–Seidel before the first step: Newton's method needs a start nearby."""
    least_slack: float = 1e-8
    """Regularisation of sticking rows, so that hyperstatic contacts get the change of least size."""
    slack_growth: float = 100.0
    """Its growth after a step that did not help."""
    slack_shrink: float = 0.1
    """Its factor after one that did."""
    max_failures: int = 5
    """Steps without progress in a row after which it ends."""
    shortest_part: float = 2.0**-7
    """The shortest part of a step that is tried in a line search, here and in `proximal`."""


class ProximalParameters(NamedTuple):
    """Proximal points with Newton's method inside (`proximal`): small θ makes it safe, large θ outer steps few."""

    default_steps: int = 1000
    """`maxiter` by default: Newton steps of an island."""
    centre_steps: int = 20
    """The most Newton steps in one outer step."""
    patience_steps: int = 200
    """Newton steps in which the residual must have halved, from no impulses: that start is slow and sure."""
    nearby_steps: int = 100
    """The same from a start nearby, which is soon at the end or leads nowhere."""
    goal_share: float = 0.01
    """Of the residual: the accuracy to which an outer step is solved."""
    theta_first_most: float = 1e4
    """The largest θ at the start, which is the root of the error's reciprocal."""
    theta_least: float = 1e-3
    """The lower bound of θ."""
    theta_most: float = 1e11
    """The upper bound of θ."""
    theta_shrink: float = 0.2
    """Factor of θ after Newton's method has failed."""
    careful_growth: float = 2.0
    """The largest growth of θ after that."""
    growth_recovery: float = 1.2
    """Factor by which that limit grows with each success, up to `most_growth`."""
    most_growth: float = 10.0
    """The largest growth of θ."""
    idle_steps: int = 8
    """Outer steps without progress after which a large θ falls: round-off, times θ, may be all that is left."""
    theta_noisy: float = 1e6
    """The θ from which that is so."""
    theta_low: float = 1e3
    """The θ to which it falls."""


class AssemblyParameters(NamedTuple):
    """The linear algebra of both (`assembly`)."""

    dense_max_velocities: int = 150
    """Velocities of bodies up to which a dense factorisation beats a sparse one."""
    dense_max_rows: int = 2500
    """Size up to which a Delassus matrix that is given as a sparse one is made dense."""
    factored_velocities_share: float = 0.8
    """Velocities over rows below which W = H M⁻¹ Hᵀ of dense dynamics is kept in factors."""
    low_rank_min_rows: int = 60
    """Size from which on a given W is factored by a pivoted Cholesky decomposition."""
    low_rank_share: float = 0.6
    """The largest rank over rows at which they pay."""


NEWTON = NewtonParameters()
PROXIMAL = ProximalParameters()
ASSEMBLY = AssemblyParameters()
