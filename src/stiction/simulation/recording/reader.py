"""Reads recordings piece by piece, also while they are written, and says in one line why a file cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..._hdf5 import elsewhere
from ...errors import RecordingError
from ...problem.laws import Law, Mode
from .header import check_header, check_shapes
from .layout import EVENTS, FORMAT, KINDS, VERSION, Column, Layout
from .schedule import Schedule

OLD_FORMAT = "stiction-trajectory"
MOST_TEXT = 1 << 30  # bytes of a header or of shapes, which may come packed


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The HDF5 file, open for reading; anything that goes wrong inside is a `RecordingError`."""
    import h5py

    if not path.exists():
        raise RecordingError(f"there is no file {path}.")
    if path.is_dir() or not h5py.is_hdf5(path):
        raise RecordingError(f"{path} is not an HDF5 file, or it is damaged.")
    try:
        file = h5py.File(path, "r", libver="latest", swmr=True) if in_use(path) else h5py.File(path, "r")
    except OSError as error:
        raise RecordingError(f"{path} is not a readable HDF5 file, or it is damaged.") from error
    with file:
        try:
            yield file
        except RecordingError:
            raise
        except Exception as error:  # a damaged file can make HDF5, NumPy and JSON say anything
            said = (str(error).strip("\"'").rstrip(".") or type(error).__name__).replace("\n", " ")
            raise RecordingError(f"{path} is damaged or incomplete: {said}.") from error


def in_use(path: Path) -> bool:
    """Whether the file says that it is open for writing: it is, or its writer was killed.

    A reader of such a file waits for damaged parts to be mended; so no other file is opened that way.
    """
    with path.open("rb") as file:
        head = file.read(12)
    return len(head) == 12 and head[8] >= 3 and head[11] != 0  # version of the superblock, and its flags


def version_of(file: Any, path: Path) -> int:
    """The version of the layout, 1 to `VERSION`, of a file whose data is all its own."""
    foreign = elsewhere(file)
    if foreign is not None:
        raise RecordingError(f"{path} is not read, because it would read other files: {foreign}.")
    if file.attrs.get("format") not in (FORMAT, OLD_FORMAT):
        raise RecordingError(f"{path} is not a stiction trajectory.")
    version = int(file.attrs["format_version"])
    if version > VERSION:
        raise RecordingError(f"{path} was written by a newer stiction (format {version}; this one reads {VERSION}).")
    return version


class Recording:
    """A recording of version 3: its header and size at once, the rest on demand, frames `first` to `last`.

    Frames that are committed later, while the file is being written, are not seen: make another one.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        with opened(self.path) as file:
            version_of(file, self.path)
            self.header: dict[str, Any] = json.loads(self._bytes(file["header"]))
            check_header(self.header)
            frames, logged = (int(n) for n in file["committed"][()])
            self.first, self.last = 0, frames
            self.info: dict[str, Any] = dict(self.header["info"])
            for line in self._bytes(file["log"], logged).splitlines():
                self.info |= json.loads(line)
            check_header(self.header | {"info": self.info})
            self._check(file)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles, which another folder may read."""
        return {**vars(self), "path": self.path.resolve()}

    def text(self, name: str) -> str:
        """The text of `header` or `shapes`."""
        with opened(self.path) as file:
            return self._bytes(file[name]).decode()

    def shapes(self) -> Any:
        """What the bodies look like (`systems.shapes.surfaces.drawn`); None without bodies."""
        with opened(self.path) as file:
            shapes, world = json.loads(self._bytes(file["shapes"])), self.info["world"]
            if shapes is not None and world is not None:
                check_shapes(shapes, len(world["bodies"]), world["dim"])
            return shapes

    def _bytes(self, data: Any, end: int | None = None) -> bytes:
        """A text, or its first `end` bytes; what is packed may be a thousand times as long as the file."""
        length = data.size if end is None else min(max(0, end), data.size)
        if length > MOST_TEXT:
            raise RecordingError(f"{self.path} is damaged: {data.name[1:]} is a text of {length} bytes.")
        return np.asarray(data[()] if end is None else data[:length], dtype=np.uint8).tobytes()

    def _check(self, file: Any) -> None:
        """Every dataset is there, as wide as the header says, and long enough."""
        if self.last < 1:
            raise RecordingError(f"{self.path} has no frames: its run ended before the first was written.")
        layout, number = Layout.of(self.header), Column("first", "i8")
        columns = {f"frames/{column.name}": (column, self.last) for column in layout.frames}
        for table, its in layout.tables.items():
            columns |= {f"{table}/first": (number, self.last), f"{table}/count": (number, self.last)}
            columns |= {f"{table}/{column.name}": (column, 0) for column in its}
        for name, (column, least) in columns.items():
            data = file[name] if name in file else np.zeros(0)
            if data.shape[1:] != column.width or data.dtype.kind != column.dtype[0] or len(data) < least:
                raise RecordingError(f"{self.path} is damaged or incomplete: it has no {name}, or not all of it.")
            if getattr(data, "chunks", None) is None:
                raise RecordingError(f"{self.path} is damaged: {name} has no chunks.")

    def chunk_sizes(self) -> tuple[int, int]:
        """Frames per block, and rows per chunk of a table."""
        with opened(self.path) as file:
            columns = [f"{table}/{c[0].name}" for table, c in Layout.of(self.header).tables.items()]
            return int(file["frames/step"].chunks[0]), int(file[columns[0]].chunks[0]) if columns else 1

    @property
    def schedule(self) -> Schedule:
        """Which steps were recorded, and where the run was to end."""
        if "schedule" not in self.header:
            raise RecordingError(f"{self.path} was saved from memory, not recorded by a run that could go on.")
        return Schedule(**self.header["schedule"])

    @property
    def fields(self) -> list[str]:
        """What was recorded."""
        return list(self.header["fields"])

    @property
    def scene(self) -> str | None:
        """The text of the scene file that was run, where it is known."""
        return self.header.get("scene")

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    def frames(self, name: str, select: Any = slice(None), field: str | None = None) -> np.ndarray:
        """A column of `frames`, or the part `select` of its second axis."""
        with opened(self.path) as file:
            data = file.get(f"frames/{name}")
            if data is None:
                raise self._missing(field or name)
            return self._rows(data, select)

    def _rows(self, data: Any, select: Any = slice(None)) -> np.ndarray:
        rows = slice(self.first, self.last)
        return np.asarray(data[rows] if data.ndim == 1 else data[rows, select])

    def has(self, name: str) -> bool:
        """Whether there is a dataset of that name."""
        with opened(self.path) as file:
            return name in file

    def counts(self, table: str) -> np.ndarray:
        """Rows of a table in each frame."""
        with opened(self.path) as file:
            if table not in file:
                raise self._missing(table)
            return self._extents(file, table, slice(self.first, self.last))[1]

    def _extents(self, file: Any, table: str, frames: slice) -> tuple[np.ndarray, np.ndarray]:
        """The first row of each frame in a table, and their number: one frame after the other."""
        first, count = (np.asarray(file[f"{table}/{name}"][frames]) for name in ("first", "count"))
        rows = min(len(data) for name, data in file[table].items() if name not in ("first", "count"))
        if (
            (np.diff(first, prepend=0) < 0).any()
            or (count < 0).any()
            or (count > rows - first).any()
            or (count[:-1] > np.diff(first)).any()
        ):
            raise RecordingError(f"{self.path} is damaged: the rows of {table} are not one frame after the other.")
        return first, count

    def table(self, table: str, column: str, frames: slice | None = None) -> np.ndarray:
        """A column of a table, the rows of all frames or of some, one frame after the other."""
        with opened(self.path) as file:
            if f"{table}/{column}" not in file:
                raise self._missing(table if table not in file else f"{table}.{column}")
            chosen = slice(self.first, self.last) if frames is None else frames
            first, count = self._extents(file, table, chosen)
            if not len(first):
                return np.asarray(file[f"{table}/{column}"][:0])
            start, end = int(first[0]), int((first + count).max())
            rows = np.asarray(file[f"{table}/{column}"][start:end])
            if end - start > count.sum():  # padding between blocks
                covered = np.zeros(end - start + 1, dtype=np.int64)
                np.add.at(covered, first - start, 1)
                np.add.at(covered, first - start + count, -1)
                rows = rows[np.cumsum(covered)[:-1] > 0]
            self._in_range(f"{table}/{column}", rows)
            return rows

    def _in_range(self, name: str, rows: np.ndarray) -> None:
        """Refuse numbers of laws, modes, kinds and bodies that do not exist."""
        world = self.info["world"]
        bodies = 0 if world is None else len(world["bodies"])
        most = {"law": len(Law), "mode": len(Mode), "kind": len(KINDS), "bodies": bodies, "group": bodies}
        column = name.rpartition("/")[2]
        if column == "group":  # -1 and the key of a constraint, or two bodies
            rows = rows[rows[:, 0] != -1]
        if column in most and rows.size and not -(column == "bodies") <= rows.min() <= rows.max() < most[column]:
            raise RecordingError(f"{self.path} is damaged: {name} has numbers that stand for nothing.")

    def event_rows(self) -> list[dict[str, Any]]:
        """The events of each step, as they were found while the run was recorded."""
        counts = self.counts("events")[1:]
        rows = {column.name: self.table("events", column.name) for column in EVENTS}
        ends = np.cumsum(counts)
        return [
            {name: values[end - count : end] for name, values in rows.items()} if count else {}
            for count, end in zip(counts.tolist(), ends.tolist())
        ]

    def _missing(self, field: str) -> RecordingError:
        return RecordingError(f"{self.path} was recorded without {field}; it has {', '.join(self.fields)}.")

    def row(self, frame: int) -> dict[str, Any]:
        """The row of one frame in every column of `frames`."""
        with opened(self.path) as file:
            return {name: np.asarray(data[frame]) for name, data in file["frames"].items()}
