"""An Anitescu–Hart step of a world as compiled stages, and a loop over them.

    begin → detect → assemble → solve → finish → certify

    records    what the stages hand on
    motion     begin: forces, poses, inverse masses; finish: free flight; energy and drift. Plane and space differ here
    detection  detect: contacts within the band, and those that a step has met beyond it
    problem    assemble: the contact problem of the step, with its blocks (`blocks`) and rows (`rows`)
    solve      a first attempt of block Gauss–Seidel, and what its impulses do
    certify    overlaps, missed contacts, energy
    advance    many steps in one call
    exchange   the arrays of a world on the way in, the result of a step on the way out

What is detected at the end of a step certifies it, and is what the next step begins with: a run pays for one
detection a step. At a recorded frame the loop returns what it has found and solved, and `exchange` makes the contact
problem of it again, for the same functions that certify a step in Python: nothing is detected or solved twice.

Detection rests on `collision/plane/search.py` and `space/search.py`. `AnitescuHart.step` is the same step in Python,
for every system; tests hold the two to the same bits.
"""
