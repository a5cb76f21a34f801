"""Outcomes of the sweeps of block Gauss–Seidel; apart from the kernels, so that it can be read without compiling.

What follows from an outcome that is neither solved nor accepted. The compiled loop hands the step on to Python. `Nsgs`
returns at once where impulses grew or came to rest, or where no sweeps are left; a large problem that has stalled
starts again twice, from half of its impulses, unless no more sweeps are left than its first window; anything else goes
on in the next window, with shorter steps where the error has not fallen. An island that is given up does not end the
others; where one of them has used up its sweeps, the outcome is LIMIT.
"""

from .parameters import ATTEMPT

SOLVED, LIMIT, NONFINITE = 0, 1, 2  # the tolerance is met; no sweeps are left; impulses grew without bound
RESTING = 3  # sweeps change nothing any more: another method is needed
STALLED = 4  # an island has made no progress for long: another start may help
ACCEPTED = 5  # above the tolerance, and accepted
AT_REST = -1  # in place of the number of sweeps: the first guess met the tolerance


def attempt_limit(rows: int, bounded: bool = False, elastic: bool = False) -> int:
    """The sweeps of a first attempt at a problem with `rows` rows; bounded: where more than `tol` is accepted."""
    if elastic and rows > ATTEMPT.strict_rows:
        return ATTEMPT.elastic_sweeps
    if rows <= ATTEMPT.few_rows:
        return ATTEMPT.bounded_few_sweeps if bounded else ATTEMPT.few_sweeps
    return ATTEMPT.bounded_many_sweeps if bounded else ATTEMPT.many_sweeps
