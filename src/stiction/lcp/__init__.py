"""The linear complementarity toolbox: `0 <= z ⟂ w = M z + q >= 0`, and mixed problems with free variables.

`lemke` finds one solution, `solutions` finds every one (points and continua), `residual` judges any answer.
"""

from .enumeration import SolutionSet as SolutionSet
from .enumeration import solutions as solutions
from .measure import residual as residual
from .pivoting import LCPResult as LCPResult
from .pivoting import lemke as lemke
from .pivoting import lemke_arrays as lemke_arrays
from .polyhedra import Face as Face

__all__ = ["Face", "LCPResult", "SolutionSet", "lemke", "lemke_arrays", "residual", "solutions"]
