"""Everything exotic in one place: compiled kernels, where they are kept on disk, eight numbers side by side, memory.

Tried with Numba 0.63.1 to 0.68 (see the bounds in pyproject.toml): `cache`, `lanes` and `sealed` rest on parts of it
that are not public.
"""
