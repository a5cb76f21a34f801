"""Block Gauss–Seidel on bodies. The files, as a problem passes through them:

nsgs                           the solver: windows of sweeps, shorter steps, other starts; sweeps on a matrix
first_attempt, active_guess    the first attempt, on contacts that may act: what the compiled loop calls
prepare                        makes the data of the sweeps, once per problem: the sweep list (sweep_list) in order
                               (order), its rows (packed_rows, point_contacts), frames (local_frames) and packs of eight
                               contacts (point_contacts_simd)
records, kinds                 these data; kinds of entries of the sweep list, and the columns of their numbers
schedule, outcome              rounds of sweeps and the rules that stop them; outcomes, and what follows from each
sweep_island, sweep_cell       a sweep over an island, over a cell; over one block: local, local_nested
accelerate                     Anderson's method and momentum: sweeps combined with those before
measure                        the residual of an island
island_proximal, island_newton Newton's method on a small island
parameters                     every default, with its unit and its reason
"""
