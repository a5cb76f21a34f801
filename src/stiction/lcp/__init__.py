"""The linear complementarity toolbox: `0 <= z ⟂ w = M z + q >= 0`, and mixed problems with free variables.

`lemke` finds one solution, `solutions` finds every one (points and continua), `residual` judges any answer.

pivoting     `lemke`; `kernels` is its compiled part, `mixed` eliminates free variables first
enumeration  `solutions`; `polyhedra`: continua of solutions, `simplex`: which coordinates vanish on them
measure      `residual`
gallery      problems with known properties
"""

from .enumeration import SolutionSet, solutions
from .measure import residual
from .pivoting import LCPResult, lemke, lemke_arrays
from .polyhedra import Face

__all__ = ["Face", "LCPResult", "SolutionSet", "lemke", "lemke_arrays", "residual", "solutions"]
