"""How things ended: one string enum for every result in the package."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The outcome of a solver, a scheme or a run. `status.sentence` says it for people."""

    SOLVED = "solved"
    ACCEPTED = "accepted"
    REGULARISED = "regularised"
    RAY = "ray"
    MAXITER = "maxiter"
    INACCURATE = "inaccurate"
    SINGULAR = "singular"
    NO_SOLUTION = "no solution"
    NOT_CONVERGED = "not converged"
    NONFINITE = "non-finite"
    REFUSED = "refused"
    LIMIT = "limit reached"
    GAIN = "energy gain"
    UNRESOLVED = "unresolved rotation"
    UNRESOLVED_IMPACT = "unresolved impact"

    @property
    def success(self) -> bool:
        """True for the one outcome that means the problem was solved to its tolerance."""
        return self is Status.SOLVED

    @property
    def taken(self) -> bool:
        """True where a step goes on with the answer: solved, or missed by no more than what is accepted."""
        return self in (Status.SOLVED, Status.ACCEPTED, Status.REGULARISED)

    @property
    def rank(self) -> int:
        """0 for solved, 1 for accepted, 2 for regularised, 3 for failed: of several solves the worst counts."""
        order = (Status.SOLVED, Status.ACCEPTED, Status.REGULARISED)
        return order.index(self) if self in order else len(order)

    @property
    def sentence(self) -> str:
        """What the status means, in a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.SOLVED: "The problem was solved to the stated tolerance.",
    Status.ACCEPTED: "The residual is above the tolerance, and no more than what is accepted of a large problem.",
    Status.REGULARISED: "The rigid problem was not solved; every contact was given a little compliance in this step.",
    Status.RAY: "Lemke's method ended on a secondary ray: no solution was found on its path (there may be none).",
    Status.MAXITER: "The iteration limit was reached before the tolerance.",
    Status.INACCURATE: "An answer was found, but its residual is above the tolerance.",
    Status.SINGULAR: "The equations of the free variables are singular and contradict each other.",
    Status.NO_SOLUTION: "The problem has no solution: every combination of complementary pairs was ruled out.",
    Status.NOT_CONVERGED: "The fixed-point iteration did not reach its tolerance; a smaller step may help.",
    Status.NONFINITE: "A force, gap or velocity became infinite or not-a-number.",
    Status.REFUSED: "The solver does not take problems of this kind.",
    Status.GAIN: "An impact would add energy, which was not allowed.",
    Status.UNRESOLVED: "A body turns so far in a step that the step gains energy; take a smaller step.",
    Status.UNRESOLVED_IMPACT: "A contact that is to bounce ends within too few steps; take a smaller step.",
    Status.LIMIT: "A limit on work was reached, so the answer may be incomplete.",
}
