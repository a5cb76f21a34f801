"""How the sweeps of block Gauss–Seidel end; apart from the kernels, so that it can be read without compiling."""

SOLVED, LIMIT, NONFINITE = 0, 1, 2  # the tolerance is met; no sweeps are left; impulses grew without bound
RESTING = 3  # sweeps change nothing any more: another method is needed
STALLED = 4  # an island has made no progress for long: another start may help
ACCEPTED = 5  # above the tolerance, and taken
AT_REST = -1  # in the place of the number of sweeps: the first guess was the answer

FLOOR = 1e-17  # a sweep that changes velocities less than this (of the scale) has come to rest

# Sweeps of a first attempt at a problem on bodies, in `auto` and in the compiled loop alike: where problems are small,
# Newton's method is the better second half; where they are large, its factorisations cost more than many sweeps.
QUICK_ROWS, QUICK_FEW, QUICK_MANY = 3000, 200, 5000
# Where more than the tolerance is accepted, sweeps are the cheapest way there; after them contacts are made compliant.
BOUNDED_FEW, BOUNDED_MANY = 2000, 1000

STRICT_ROWS = 300  # up to which a problem is solved to its tolerance, or not at all


def quick_limit(rows: int, bounded: bool = False) -> int:
    """The sweeps of a first attempt at a problem with so many rows; bounded: where more than `tol` is accepted."""
    if rows <= QUICK_ROWS:
        return BOUNDED_FEW if bounded else QUICK_FEW
    return BOUNDED_MANY if bounded else QUICK_MANY
