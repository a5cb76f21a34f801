"""Runs: time, failure policy, recording and events."""

from .._moved import keep_old_paths
from .events import Event
from .recording.recording import load
from .simulator import OverlapWarning, Simulator, StepWarning
from .trajectory import ContactSeries, Trajectory

__all__ = ["ContactSeries", "Event", "OverlapWarning", "Simulator", "StepWarning", "Trajectory", "load"]

keep_old_paths(__name__)
