"""Detect: the contacts that a step may meet, and whether it has met others on its way."""

from __future__ import annotations

from ...collision.plane import search as search2
from ...collision.space import search as search3
from ...runtime.jit import njit
from .certify import met_beyond_band


def _make_stages(d):
    collision = search2 if d == 3 else search3
    search, search_on_the_way, measure = collision.search, collision.search_on_the_way, collision.measure

    @njit
    def detect(start, band, room, parallel, near_pairs, shapes, moves):
        """The near pairs for the next call, the contacts with gaps up to `band` [m], and where they are.

        room: contacts for which there is room at first; near_pairs: from the last call, or `no_neighbours`.
        """
        return search(start.x, start.turn, band, room, parallel, near_pairs, shapes, moves)

    @njit
    def ran_into(start, end, found, band, reach, room, parallel, near_pairs, shapes, moves):
        """Whether a step has met contacts beyond its band, of bodies that approached each other by up to `reach` [m].

        start, end: where it begins, and where it ends.
        """
        wide, at_start = search_on_the_way(
            start.x, start.turn, end.x, end.turn, band, reach, room, parallel, near_pairs, shapes, moves
        )
        at_end = measure(end.x, end.turn, parallel, wide)
        return met_beyond_band(len(shapes.kind), found, wide, at_end.gap, at_start.normal, at_end.normal)

    return detect, ran_into


planar, spatial = _make_stages(3), _make_stages(6)
