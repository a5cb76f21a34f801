"""Collision: pairs of near shapes, their contact features, and the gap of a feature pair at any configuration."""

from .broad import aabbs2, aabbs3, pairs

__all__ = ["aabbs2", "aabbs3", "pairs"]
