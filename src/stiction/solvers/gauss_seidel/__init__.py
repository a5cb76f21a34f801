"""Block Gauss–Seidel on bodies. The files, as a problem passes through them:

nsgs                           the solver: windows of sweeps, shorter steps, other starts; sweeps on a matrix
first_attempt, active_guess    the first attempt, on contacts that may act: what the compiled loop calls
prepare                        all that is made once: the list of items (sweep_list) in order (order), their rows
                               (packed_rows, point_contacts), frames (local_frames) and packs of eight
                               (point_contacts_simd)
records, kinds                 what is handed on; kinds of items, and the columns of their numbers
schedule, outcome              rounds of sweeps and the rules that stop them; outcomes, limits shared with others
sweep_island, sweep_cell       a sweep over an island, over a cell; over one block: local, local_nested
accelerate                     sweeps combined with those before
measure                        the error of an island
island_proximal, island_newton Newton's method on a small island
"""
