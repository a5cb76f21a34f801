"""How the sweeps of block Gauss–Seidel end; apart from the kernels, so that it can be read without compiling."""

SOLVED, LIMIT, NONFINITE, RESTING, STALLED = 0, 1, 2, 3, 4
AT_REST = -1  # in the place of the number of sweeps: the first guess was the answer

FLOOR = 1e-17  # a sweep that changes velocities less than this (of the scale) has come to rest

# Sweeps of a first attempt at a problem on bodies, in `auto` and in the compiled loop alike: where problems are small,
# Newton's method is the better second half; where they are large, its factorisations cost more than many sweeps.
QUICK_ROWS, QUICK_FEW, QUICK_MANY = 3000, 200, 5000


def quick_limit(rows: int) -> int:
    """The sweeps of a first attempt at a problem with so many rows."""
    return QUICK_FEW if rows <= QUICK_ROWS else QUICK_MANY
