"""The errors a user can meet. Each message names the culprit and says what would be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .problem.certificate import SolveCertificate


class StictionError(Exception):
    """Base of all errors that stiction raises on purpose."""


class ModelError(StictionError, ValueError):
    """A model, a problem or an argument is not acceptable; the message names the field and what would be right."""


class RecordingError(ModelError):
    """A recording cannot be read or written: the file is missing, foreign, damaged or newer, or the disk is full."""


class SceneError(StictionError, ValueError):
    """A scene file is not acceptable. `problems` are its lines: each says where, what, and what would be right."""

    def __init__(self, message: str, problems: tuple[str, ...] = ()):
        super().__init__("\n  ".join([message, *problems]))
        self.problems = problems or (message,)


class SolverError(StictionError, RuntimeError):
    """A contact problem was not solved to its tolerance.

    `certificate` says how far the laws of the model were missed and by which contact; `status` is the solver's
    or the scheme's own word, and `result` the whole result (a `Solution` or a `StepResult`); `report` is the folder
    that a failed step of a simulator has left, None where there is none.
    """

    def __init__(
        self,
        message: str,
        *,
        certificate: SolveCertificate | None = None,
        status: object = None,
        result: object = None,
        report: Path | None = None,
    ):
        super().__init__(message)
        self.certificate = certificate
        self.status = status
        self.result = result
        self.report = report
