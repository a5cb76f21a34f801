"""How the sweeps of block Gauss–Seidel end; apart from the kernels, so that it can be read without compiling."""

SOLVED, LIMIT, NONFINITE, RESTING = 0, 1, 2, 3

FLOOR = 1e-17  # a sweep that changes velocities less than this (of the scale) has come to rest

QUICK = 200  # sweeps of the first attempt: what the compiled loop does before it asks for help
