"""Parameters of block Gauss–Seidel: each default with its unit and its reason.

Kernels read the records below as constants, so that a parameter costs no time; for the same reason a change of one
compiles the kernels again. They are no options: `maxiter`, `omega`, `tol` and `accept` are (`nsgs`). Names say the
unit: `_sweeps`, `_rows` (of the problem, or of an island where the text says so); a `_share` and a `_factor` are
ratios. Errors of islands are squares (`schedule.Progress`), and so are the ratios of errors here, as each says. After a
change run `python docs/parameters.py`, which makes the page docs/parameters.md anew.
"""

from __future__ import annotations

from typing import NamedTuple


class AttemptParameters(NamedTuple):
    """The first attempt at a problem on bodies, in `auto`, in `nsgs` and in the compiled loop alike."""

    few_rows: int = 3000
    """Problems up to this size are small: Newton's method is the better second half of their solution. In larger ones
    its factorisations cost more than many sweeps."""
    few_sweeps: int = 200
    """Limit for small problems."""
    many_sweeps: int = 5000
    """Limit for large problems."""
    bounded_few_sweeps: int = 2000
    """Limit for small problems where more than `tol` is accepted: sweeps are the cheapest way there."""
    bounded_many_sweeps: int = 1000
    """Limit for large problems where more than `tol` is accepted; after them contacts are made compliant."""
    elastic_sweeps: int = 5000
    """Limit for problems of more than `strict_rows` rows whose contacts are all elastic: these are well posed, sweeps
    converge, and nothing above `tol` is accepted before."""
    strict_rows: int = 300
    """Problems up to this size are solved to their tolerance, or not at all: there a missed tolerance is a real
    failure, such as joints that contradict each other, while large jammed piles miss it in every solver."""
    active_speeds: float = 3.0
    """Contacts whose bodies part more slowly than this, in units of the root mean square speed at which others
    approach, may act. In falling piles that hardly ever misses one that does."""
    likely_speeds: float = 0.5
    """The same for contacts that probably act, which share packs of eight. It misses up to three in a hundred."""


class WindowParameters(NamedTuple):
    """The windows of sweeps of the solver `nsgs`, after the first attempt and on matrices."""

    default_sweeps: int = 10_000
    """`maxiter` by default."""
    window_sweeps: int = 500
    """Sweeps in which the residual must have fallen, else steps are shortened: sweeps that go in a cycle do not end."""
    first_sweeps: int = 20
    """Sweeps without over-relaxation at the start, where sweeps are not accelerated: problems of a few blocks end
    there."""
    omega: float = 1.7
    """Over-relaxation where sweeps are not accelerated."""
    shorter_omegas: tuple[float, ...] = (1.0, 0.5, 0.25, 0.1, 0.05)
    """The steps that are tried one after the other where the residual has stopped falling."""
    slow_factor: float = 0.98
    """A window has not helped where the residual is above this share of the least one before."""
    restart_shares: tuple[float, ...] = (0.5, 0.5)
    """The shares of its impulses from which a large problem that has stalled starts again: jammed piles have solutions
    that repel sweeps, which wander for ever from one start and arrive from another."""
    restarts_elastic: int = 16
    """Restarts of a large problem whose contacts are all elastic, from no impulses first, and then from shares of its
    impulses that differ from contact to contact: of ten starts of the hardest steps of falling piles some arrive."""
    most_share_elastic: float = 2.0
    """The largest of these shares."""
    dense_max_rows: int = 300
    """Size up to which a Delassus matrix stays a full one."""
    certificate_sweeps: int = 100
    """The most sweeps on a matrix between two certificates."""


class ScheduleParameters(NamedTuple):
    """The rounds of sweeps over an island, and the rules that end them (`schedule`)."""

    full_every_sweeps: int = 4
    """One of these visits the open contacts too."""
    round_sweeps: tuple[int, ...] = (1, 4, 10, 20)
    """Sweeps before the first residual checks, each of which costs as much as a sweep; then always the last number."""
    check_min_sweeps: int = 3
    """The least number of sweeps before a later check of an island with momentum, whose checks are predicted; the most
    is the last number of `round_sweeps`."""
    check_sweeps_divisor: int = 20
    """After n sweeps checks are n over this apart at least: long solves need them less often."""
    check_max_sweeps: int = 40
    """But by no more than this."""
    patience_sweeps: int = 2000
    """Sweeps in which an island must have made progress, else it is given up at its next check. Only accelerated sweeps
    on Coulomb's law are: on a convex problem slow is never for good."""
    patience_elastic_sweeps: int = 1000
    """The same where contacts have springs: momentum and mixing have had two turns each by then."""
    progress_factor: float = 0.25
    """Progress is a squared error below this share of that at the last progress: the error has halved."""
    floor: float = 1e-17
    """A sweep that changes velocities less than this share of the problem's scale has come to rest: round-off."""
    newton_first_round: int = 2
    """The first round after which Newton's method is tried on small islands: sweeps settle most contacts before."""
    near_goals: float = 1e6
    """Squared error, over the goal's, from which Newton's method is taken at once, before any sweep."""
    close_goals: float = 1e2
    """The same where a factorisation costs more than `cheap_newton_sweeps`."""
    cheap_newton_sweeps: float = 10.0
    """Sweeps that take as long as a factorisation, up to which it is cheap."""
    further_goals: float = 1e-8
    """Squared error, over the goal's, at which Newton's method ends: below the goal, for the steps that start there."""
    furthest_goals: float = 1e-16
    """The same on tiny islands, where digits cost nothing."""
    tiny_max_velocities: int = 12
    """Size of a tiny island, in velocities of its bodies; it goes further than its goal at once."""
    accept_min_sweeps: int = 60
    """The least number of sweeps over an island whose error may be accepted: with 20 sweeps a pile of 1000 spheres took
    a tenth less time and left larger residuals, with 200 it took two thirds more."""
    accept_max_sweeps: int = 120
    """Such an island is swept on as long as it is expected to reach its goal within this. Jammed piles are not: their
    errors fall by a tenth in a thousand sweeps."""


class AccelerationParameters(NamedTuple):
    """Anderson's method and momentum (`accelerate`). r is the change of the impulses by a sweep."""

    anderson_sweeps: int = 8
    """Sweeps that Anderson's method combines."""
    anderson_max_rows: int = 500
    """Size of an island beyond which combining costs more than it saves: momentum takes over at once."""
    momentum_after_sweeps: int = 60
    """Sweeps in which |r|² must have halved, else momentum takes over from Anderson's method: contact modes change."""
    drop_growth: float = 4.0
    """Growth of |r|² over its least value at which Anderson's method drops its history."""
    first_damping: float = 0.25
    """1 - β at the start. On falling piles β of 0.7 to 0.8 took half the sweeps of nonlinear conjugate gradients."""
    least_damping: float = 0.02
    """The least 1 - β: long runs bear more momentum."""
    steady_updates: int = 10
    """Updates of β before it changes: most problems of a run have ended by then."""
    damping_shrink: float = 0.98
    """1 - β is multiplied by this with each later update."""
    growth: float = 3.0
    """Growth of |r|² over its least value at which 1 - β becomes larger."""
    damping_growth: float = 3.0
    """And by which factor."""
    stall_updates: int = 150
    """Updates in which |r|² must have halved, else the bound of 1 - β changes between `least_damping` and
    `first_damping`: some problems with friction go in circles under a large β."""
    mixed_groups: int = 10
    """Groups of sweeps that Anderson's method combines on large islands (`mixing`)."""
    momentum_sweeps: int = 250
    """Sweeps in which momentum must have halved the error, else mixing has its turn; where contacts have springs."""
    mixing_sweeps: int = 200
    """Sweeps in which mixing must have halved it, else momentum has its turn again."""


class IslandNewtonParameters(NamedTuple):
    """Newton's method and proximal steps on a small island (`island_newton`, `island_proximal`)."""

    max_multiplications: float = 3e6
    """Of one factorisation: larger islands are swept only."""
    contact_multiplications: float = 50.0
    """Multiplications that take as long as a contact in a sweep, for comparing costs."""
    theta_start: float = 1e4
    """The proximal step θ at first, in units of each block's inertia."""
    theta_least: float = 1e-2
    """Its lower bound: Newton's method is safe there."""
    theta_most: float = 1e8
    """Its upper bound, where few outer steps are needed; beyond, round-off times θ is seen."""
    proximal_steps: int = 12
    """The most proximal steps in one call."""
    centre_steps: int = 8
    """The most Newton steps in one proximal step."""
    rest_steps: int = 3
    """The most Newton steps towards rest: without overlaps rest is one linear step away."""


class LocalParameters(NamedTuple):
    """The exact solution of one block (`local`, `local_nested`), and its frame (`local_frames`)."""

    last_step: float = 1e-8
    """Relative size of the last step of Newton's method for the slip of a disk; the error left is about its square."""
    max_steps: int = 100
    """The most safeguarded steps of that iteration, and of the one for a ball: bisection alone would need about 60."""
    max_brackets: int = 200
    """The most evaluations of the function of the normal impulse."""
    newton_steps: int = 30
    """The most Newton steps on the law of a whole block."""
    max_cycles: int = 20_000
    """The most cycles over the groups of a product; a group coupled to another by 0.999 of what it could be needs 1e4
    for an accuracy of 1e-8."""
    raised_share: float = 1e-10
    """Of the largest eigenvalue of W_tt: smaller ones are raised to it. As the local problem is posed for the change of
    p, this is a proximal term, which does not move the solution."""
    point_accuracy: float = 1e-12
    """The largest relative error of rows that are stored as a point contact."""


ATTEMPT = AttemptParameters()
WINDOWS = WindowParameters()
SCHEDULE = ScheduleParameters()
ACCELERATION = AccelerationParameters()
ISLAND_NEWTON = IslandNewtonParameters()
LOCAL = LocalParameters()
