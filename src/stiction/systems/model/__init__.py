"""Frozen models of worlds: arrays and compiled loops behind the `System` interface.

base         what plane and space share
plane        `Model2`: bodies in the plane
space        `Model3`: bodies in space
detection    which shapes may touch, and where
candidates   the constraints that could act in a step, and the rows of those that do
mechanism    joints and springs as arrays: rows, laws and demands, coordinates of joints
records      the arrays that kernels of rows take
kernels/     the compiled loops
"""
