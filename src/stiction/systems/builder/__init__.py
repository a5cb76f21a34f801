"""Worlds as their users describe them; `build()` freezes a world into a model (`systems/model`).

world       `World` and `PlanarWorld`: what is added, and `build()`
bodies      `Body`, the handle of a body, and the checked values of one, with its mass properties
handles     the marks by which worlds, their copies and their models recognise bodies and joints
materials   which friction and restitution act between two bodies
forces      forces that users apply to bodies
motions     prescribed motions of kinematic bodies: `Oscillation`, `Rotation`, `Table`

Shapes are in `systems/shapes`, joints and springs in `systems/joints`.
"""
