"""The viewer in the browser: a server on this machine that shows a run, live or from a recording (extra `view`)."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from typing import Any

from ... import _check
from ..._arguments import checks_arguments
from ...errors import ModelError, StictionError
from .panel import GONE, WebPanel
from .play import Playhead
from .reel import LiveReel, Reel, reel_of
from .scene import WebScene
from .stage import Stage

PICTURES_PER_S, FULL_RATE_MAX_BODIES = (
    30.0,
    4000,
)  # pictures per second, of worlds with up to so many bodies; larger ones in proportion fewer
CHARTS_PERIOD_S = 0.25  # s between updates of the charts and of the list of frames
HEARTBEAT_S = 2.0  # s between signs of life


class Viewer:
    """A page with the bodies of a run: play, pause, step, scrub, pick. It runs beside the program until `stop`.

    what: a `Trajectory`, the path of a recording (also of one that is being written), or a `LiveReel`. host: only this
    machine by default; "0.0.0.0" lets others look who have the address. port: the next free one is taken. open_browser:
    show the page.
    """

    @checks_arguments
    def __init__(
        self,
        what: Any,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        open_browser: bool = False,
        speed: float = 1.0,
        playing: bool = False,
    ):
        guard = _guard()
        self.reel: Reel = what if isinstance(what, Reel) else reel_of(what)
        self.stage = Stage(self.reel)
        live = isinstance(self.reel, LiveReel)
        self.playhead = Playhead(speed=_check.number("speed", speed, positive=True), playing=playing, follow=live)
        self.guard = guard(host, _check.count("port", port))
        with contextlib.redirect_stdout(io.StringIO()):  # its own banner
            self.server = self.guard.serve(port, label="stiction")
        self.host, self.port = host, int(self.server.get_port())
        self._lock, self._stopped = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="stiction viewer", daemon=True)
        self.run: Any = None if isinstance(what, Reel) else what
        self._picked: int | None = None
        self._stale = True  # something but the frame has changed
        try:
            self._furnish(speed)
            self._thread.start()
            if open_browser:
                import webbrowser

                webbrowser.open(self.url)
        except BaseException:  # Ctrl-C too: the server's threads would keep the program alive
            self.stop()
            raise

    def _furnish(self, speed: float) -> None:
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
        self.server.gui.main_panel.dock_right()
        self.scene = WebScene(self.server, self.stage, self.reel, self.pick)
        self.panel = WebPanel(self.server, self.stage, len(self.reel), speed, self.scene.options, self._actions())

    @property
    def url(self) -> str:
        """The address of the page, with the token that lets one in."""
        return self.guard.address(self.port)

    @property
    def frame(self) -> int:
        """The number of the frame that is shown."""
        return self.playhead.frame

    def play(self) -> None:
        """Let time pass."""
        with self._lock:
            if not self.playhead.playing:
                self.playhead.toggle(len(self.reel))

    def pause(self) -> None:
        """Stop time, also that of a live run's page."""
        with self._lock:
            self.playhead.playing = self.playhead.follow = False

    def go(self, frame: int) -> None:
        """Show a frame."""
        with self._lock:
            self.playhead.go(frame, len(self.reel))

    def pick(self, body: int | None) -> None:
        """Show the numbers of a body, by its number in the world."""
        with self._lock:
            self._picked, self._stale = body, True
            self.scene.select(body)

    def wait(self) -> None:
        """Stay until the viewer is stopped or the user interrupts (Ctrl-C)."""
        try:
            while not self._stopped.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """End the server; pages that are open say so."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)
        for client in self.server.get_clients().values():
            client.add_notification("The viewer has stopped", GONE, color="red", with_close_button=False)
            client.flush()
        time.sleep(0.3)  # until the pages have it
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def _actions(self) -> dict[str, Any]:
        """What the controls do."""
        return {
            "toggle": self._toggle,
            "step": self._step,
            "scrub": self._scrub,
            "speed": lambda value: setattr(self.playhead, "speed", value),
            "pick": self.pick,
            "show": lambda name, value: self._change(self.scene.options.__setitem__, name, value),
            "through": lambda value: self._change(self.scene.look_through, value),
            "arrows": lambda value: self._change(setattr, self.scene, "arrows", value),
        }

    def _toggle(self) -> None:
        with self._lock:
            if self.playhead.follow and self.reel.growing:
                self.pause()
            else:
                self.playhead.toggle(len(self.reel))

    def _step(self, which: str) -> None:
        with self._lock:
            count = len(self.reel)
            by = {"|<": -count, "<": -1, ">": 1, ">|": count}[which]
            self.playhead.step(by, count)
            self.playhead.follow = which == ">|" and self.reel.growing

    def _scrub(self, frame: int) -> None:
        with self._lock:
            self.playhead.playing = False
            self.playhead.go(frame, len(self.reel))

    def _change(self, action: Any, *given: Any) -> None:
        with self._lock:
            action(*given)
            self._stale = True

    def _work(self) -> None:
        """Show frames until it is over; what cannot be shown, such as a damaged file, is said on the page."""
        try:
            self._loop()
        except StictionError as error:
            self.panel.status.content = f"**This cannot be shown any further:** {error}"

    def _loop(self) -> None:
        """Show frames at a steady pace."""
        shown, then, slow, beat = -1, time.monotonic(), 0.0, 0.0
        charted = -1
        series, pause = self.reel.series(), max(1.0, self.stage.count / FULL_RATE_MAX_BODIES) / PICTURES_PER_S
        while not self._stopped.is_set():
            now = time.monotonic()
            with self._lock:
                if now - slow > CHARTS_PERIOD_S:
                    grown = self.reel.refresh()
                    if grown:
                        series = self.reel.series()
                        self.scene.scale = self.scene.scale or self.stage.force_scale(self.reel)
                k = self.playhead.tick(now - then, self.reel.times, self.reel.growing)
                if k != shown or self._stale:
                    frame = self.scene.show(k)
                    if self._picked is not None or self._stale:
                        self.panel.tell(self._picked, self._numbers(frame))
                if now - slow > CHARTS_PERIOD_S or not self.playhead.playing:
                    moving = self.playhead.playing or (self.playhead.follow and self.reel.growing)
                    self.panel.at(k, len(self.reel), float(self.reel.times[k]), moving, self._said())
                if now - slow > CHARTS_PERIOD_S:
                    if k != charted or grown:
                        self.panel.draw(series, float(self.reel.times[k]))
                    slow, charted = now, k
                if now - beat > HEARTBEAT_S:
                    self.panel.beat(int(now / HEARTBEAT_S))
                    beat = now
                shown, self._stale = k, False
            then = now
            self._stopped.wait(max(0.0, pause - (time.monotonic() - now)))

    def _numbers(self, frame: Any) -> list[tuple[str, str]]:
        return [] if self._picked is None else self.stage.numbers(frame, self._picked)

    def _said(self) -> str:
        return " (newest)" if self.playhead.follow and self.reel.growing else ""


def show(what: Any, *, wait: bool | None = None, open_browser: bool = True, **options: Any) -> Viewer:
    """A viewer of a run or recording; wait: stay until Ctrl-C, by default outside of an interactive session."""
    viewer = Viewer(what, open_browser=open_browser, **options)
    print(f"stiction: the run is at {viewer.url} (Ctrl-C ends it)", flush=True)
    if not hasattr(sys, "ps1") and not sys.flags.interactive if wait is None else wait:
        viewer.wait()
    return viewer


def _guard() -> Any:
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise ModelError(
            'the viewer needs viser: pip install "stiction[view]" (films do not: --out FILE.gif).'
        ) from error
    from .guard import Guard

    return Guard
