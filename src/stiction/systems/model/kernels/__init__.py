"""The compiled loops of models.

plane            rows of contacts and joints in the plane
space            rotations, free motion, inverse masses, and rows of joints in space
space_contacts   frames of contacts in space; rows of slip, spin and rolling
mechanism        what rows of joints, limits, motors and springs demand of a step
motion           motion of bodies that plane and space share
"""
