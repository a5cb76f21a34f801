"""Where the viewer stands in time: play, pause, step, scrub, speed."""

from __future__ import annotations

import numpy as np

from ..._check import FloatArray


class Playhead:
    """A frame number that moves with the clock while it plays.

    speed: seconds of the run per second of the clock; at the end it stops, or waits while more frames are to come.
    follow: show the newest frame, until one scrubs.
    """

    def __init__(self, *, playing: bool = False, speed: float = 1.0, follow: bool = False):
        self.frame, self.playing, self.speed, self.follow = 0, playing, speed, follow
        self._time: float | None = None  # between frames; None: at the frame

    def go(self, frame: int, count: int) -> None:
        """Scrub to a frame of `count`; following ends."""
        self.frame, self._time, self.follow = max(0, min(int(frame), count - 1)), None, False

    def step(self, by: int, count: int) -> None:
        """Pause, and go some frames on."""
        self.playing = False
        self.go(self.frame + by, count)

    def toggle(self, count: int) -> None:
        """Play or pause; at the end, play from the start."""
        self.playing = not self.playing
        if self.playing and self.frame >= count - 1:
            self.go(0, count)

    def tick(self, seconds: float, times: FloatArray, growing: bool = False) -> int:
        """Let `seconds` of the clock pass; the frame to show."""
        if self.follow:
            self.frame, self._time = len(times) - 1, None
        elif self.playing:
            start = float(times[self.frame]) if self._time is None else self._time
            self._time = start + seconds * self.speed
            self.frame = int(np.searchsorted(times, self._time * (1.0 + 1e-12), side="right")) - 1
            self.frame = max(0, min(self.frame, len(times) - 1))
            if self._time >= times[-1]:
                self._time = float(times[-1])
                self.playing = growing
        return self.frame
