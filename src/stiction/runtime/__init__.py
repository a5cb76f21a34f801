"""All that is tied to Numba and the platform.

jit      `njit`, the only door to Numba's compiler
cache    compiled kernels on disk
sealed   large kernels, compiled once for all their callers
lanes    eight numbers side by side, and software prefetch
memory   work arrays of large steps are kept

Tried with Numba 0.63.1 to 0.68 (see the bounds in pyproject.toml): `cache`, `lanes` and `sealed` rest on parts of it
that are not public.

Rules for kernels, each guarded by a test in tests/test_package.py, test_sealed.py or test_cache.py:

Leaves. A function that neither makes nor returns arrays is `@njit(leaf=True)`: it is compiled without counting
references, which Numba does by atomic increments. They were half the time of a step where they were made for every
contact. A loop that hands records on for each pair or row is a leaf for the same reason.

Records. Kernels take records of arrays (`problem/records.py`). A parallel loop takes records, but no record of records.

Sealed kernels. Numba links the code of a kernel into each of its callers. Large ones are sealed: compiled once, and
called through a symbol. What is small and called for every contact must not be sealed. Large helpers are not inlined.

One signature. A kernel is compiled for one combination of types: a second one costs as much again.

Deterministic partitioning. Every stage of a large step is cut into parts by counts alone (`THREAD_PARTS`), and sums go
part by part. Threads take the parts, so that the bits do not depend on their number.

No BLAS beside the compiled loop. After a product of some thousand numbers the threads of OpenBLAS spin for longer than
a step takes, on the cores of the next one: between compiled steps there are kernels and `einsum`.
"""
