"""Newton's method on the laws of a contact problem, alone (`newton`) and in proximal steps (`proximal`).

equations   its steps, and the inertia of blocks by which they are scaled
response    laws with their derivatives
assembly    linear algebra for each form of dynamics, with `kernels`
parameters  every default, with its reason
"""
