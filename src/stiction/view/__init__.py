"""Plots; nothing in the physics depends on this folder."""
