"""Runs: time, failure policy, recording and events.

simulator    `Simulator`: time, what happens to a step that fails, `run`, `resume`
loop         the compiled loop of many steps, and steps at a fixed point, which are replayed
prefetch     the next steps, taken by a thread while the last one is certified and recorded
trajectory   `Trajectory`, in memory or read from a file; `motion` of its bodies
events       contacts that are made and broken, and change between sticking and slipping
recording/   files: what is written, when and how, and how it is read again
separate     bodies that overlap at the start
dump         hard contact problems as files
report       what a step that failed leaves behind
"""

from .._moved import keep_old_paths
from .events import Event
from .recording.recording import load
from .simulator import OverlapWarning, Simulator, StepWarning
from .trajectory import ContactSeries, Trajectory

__all__ = ["ContactSeries", "Event", "OverlapWarning", "Simulator", "StepWarning", "Trajectory", "load"]

keep_old_paths(__name__)
