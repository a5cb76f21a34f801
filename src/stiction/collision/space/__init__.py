"""Contacts of shapes in space.

narrow      features of rounded boxes, balls and capsules; `manifold` chooses among them
support     support points of curved shapes and hulls; `gjk`, `epa` and `newton` find nearest points with them
convex      contacts of curved shapes and hulls; `patch` has the points of their patch
search      all of detection for many steps
"""
