"""The kinds of entries of the sweep list, and the columns of the numbers of their local problems."""

INTERVAL, BILATERAL, PLANAR, DISK, NESTED = 0, 1, 2, 3, 4  # one row; a joint; contacts in the plane, in space; others
KINDS = 5  # the number of kinds

# Columns of `par`: the numbers of an entry's local problem, by its kind.
PARAMETERS = 8  # columns: a cache line
INTERVAL_INVERSE, INTERVAL_LOW, INTERVAL_HIGH, INTERVAL_W = 0, 1, 2, 3  # 1/W (0: cannot move), the bounds, W
BILATERAL_SIZE = 0  # √ of the largest entry of W before the frame: velocity per impulse in it
PLANAR_NN, PLANAR_NT, PLANAR_TT = 0, 1, 2  # W
PLANAR_MU_DOWN, PLANAR_MU_UP, PLANAR_R0_DOWN, PLANAR_R0_UP = 3, 4, 5, 6  # friction down and up the tangent
DISK_INVERSE, DISK_E1, DISK_E2 = 0, 1, 2  # 1/W_nn, W_nt / W_nn
DISK_S1, DISK_S2, DISK_MU, DISK_GUESS, DISK_NN = 3, 4, 5, 6, 7  # Schur complement, mu, λ of the last solve, W_nn
NESTED_NN, NESTED_NORMAL, NESTED_MU, NESTED_R0 = 0, 1, 2, 3  # W_nn, whether there is a normal row, mu, r0
NESTED_GUESS, NESTED_PRODUCT = 4, 5  # as DISK_GUESS; the kind of a product of sets, 0 for others
