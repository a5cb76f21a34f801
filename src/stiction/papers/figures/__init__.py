"""The figures of the papers' experiments, drawn from what the modules of `papers/` have found.

Modules are named by what they show. `drawings` has the set-ups and friction cones as the papers draw them.
"""
