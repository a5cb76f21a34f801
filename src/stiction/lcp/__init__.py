"""The linear complementarity toolbox: `0 <= z ⟂ w = M z + q >= 0`, and mixed problems with free variables.

`lemke` finds one solution, `solutions` finds every one (points and continua), `residual` judges any answer.
"""

from .measure import residual as residual
from .pivoting import LCPResult as LCPResult
from .pivoting import lemke as lemke
from .pivoting import lemke_arrays as lemke_arrays

__all__ = ["LCPResult", "lemke", "lemke_arrays", "residual"]
