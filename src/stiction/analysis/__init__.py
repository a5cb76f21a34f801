"""Questions about systems and runs that go beyond one trajectory (docs/analysis.md).

convergence             whether the answer converges as the step goes to zero
inclusion               whether a run solves the measure differential inclusion
forms                   the problems of a state: forces, impulses, one step; with `instant`, `instant_rows`
motions, selection      all motions of a problem, and rules that select one; with `pieces`, `contact_modes`, `mode_map`
uniqueness              whether there is a solution, and one motion only; with `infinity`, `round_cones`, `sectors`
pairs, program          a problem as complementary pairs, and its mixed-integer program; with `pair_bounds`, `tighten`
bounds, holding         how much friction a machine takes, and what a resting part holds against; with `cones`, `slip`
statics                 whether a structure can stand, with how much friction, and how far tilted
hypotheses, dead_ends   hypotheses of the theorems; states from which nothing leads on
report                  all of it in plain words
"""

from .bounds import (
    FrictionBound,
    JammingBound,
    along,
    bound_of,
    friction_bound,
    jamming_bound,
    pointed,
    scan,
    theorem_bound,
)
from .contact_modes import ContactMode
from .convergence import Convergence, ImpulseScaling, compare, convergence
from .dead_ends import Search, search_dead_ends
from .forms import Form, force_acceleration, impulse_velocity, time_stepping
from .holding import Holding, balances, holding, largest_pull
from .hypotheses import Finding, Hypotheses, hypotheses
from .inclusion import Inclusion, inclusion
from .mode_map import ModeMap, mode_map
from .motions import Motion, Motions, all_motions
from .selection import Choosing, Followed, followed, rules_of, select
from .statics import Statics, statics
from .uniqueness import Existence, Extent, Uniqueness, existence, extent, uniqueness

__all__ = [
    "Choosing",
    "ContactMode",
    "Convergence",
    "Existence",
    "Extent",
    "Finding",
    "Followed",
    "Form",
    "FrictionBound",
    "Holding",
    "Hypotheses",
    "ImpulseScaling",
    "Inclusion",
    "JammingBound",
    "ModeMap",
    "Motion",
    "Motions",
    "Search",
    "Statics",
    "Uniqueness",
    "all_motions",
    "along",
    "balances",
    "bound_of",
    "compare",
    "convergence",
    "existence",
    "extent",
    "followed",
    "force_acceleration",
    "friction_bound",
    "holding",
    "hypotheses",
    "impulse_velocity",
    "inclusion",
    "jamming_bound",
    "largest_pull",
    "mode_map",
    "pointed",
    "rules_of",
    "scan",
    "search_dead_ends",
    "select",
    "statics",
    "theorem_bound",
    "time_stepping",
    "uniqueness",
]
