"""Contacts of shapes in the plane: features (`narrow`), ellipses, and all of detection for many steps (`search`)."""
