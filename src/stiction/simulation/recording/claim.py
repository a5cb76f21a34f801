"""The right to write a file, which one run has at a time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ...errors import RecordingError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # no such locks on this platform: two runs into one file are not noticed
    flock = None  # type: ignore[assignment]


class Claim:
    """A lock on the name of a recording until `release`; the system takes it back from a process that dies.

    The lock is on an empty file beside the recording, because HDF5 has locks of its own on the recording, for readers.
    """

    def __init__(self, path: Path):
        place = Path(os.path.realpath(path))  # links to one file are one name
        if not place.parent.is_dir():
            raise RecordingError(f"cannot write {path}: there is no folder {place.parent}.")
        self._path = place.with_name(place.name + ".lock")
        while True:
            self._file = self._path.open("wb")
            try:
                if flock is not None:
                    flock(self._file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise RecordingError(
                    f"another run is writing {path}; wait for its end, or choose another name."
                ) from None
            except OSError:  # a file system without locks
                return
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file.fileno()), self._path.stat()):
                    return
            self._file.close()  # the lock of a run that has just ended, and has removed its file

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others write."""
        if not self._file.closed:
            self._path.unlink(missing_ok=True)
            self._file.close()
