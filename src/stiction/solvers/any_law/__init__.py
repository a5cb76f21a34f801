"""Laws that no solver knows, solved with any solver inside, and solutions that miss the tolerance.

solve           `solve_any_law`, in front of every solver: what `solve` and a step call
coefficients    coefficients of friction that depend on the speed of slip; `speed_newton` finishes
written_sets    friction sets written in Python; `natural_newton` finishes
parameters      every default, with its reason
"""
