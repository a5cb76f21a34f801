"""Writes recordings: whole compressed chunks, appended so that a killed process leaves a file that opens.

The file is in HDF5's SWMR mode before it gets its name: at any moment another process can read it, and so it can be
read after the writer was killed. Frames wait until a block of them is complete; then every dataset grows by whole
chunks, the file is flushed, and `committed` is raised: what it does not count is not there. Tables are padded to whole
chunks, so that blocks begin at chunks everywhere; the padding compresses to nothing. Chunks are compressed here, by the
filters that every HDF5 reads (shuffle and deflate), because ISA-L does it several times faster than the zlib in HDF5.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RecordingError
from .layout import FORMAT, VERSION, Column, Layout
from .reader import Recording, opened

BLOCK_BYTES = 16 << 20  # of a block, about: what a killed process loses
MOST, LEAST_ROWS, MOST_ROWS = 256, 256, 4096  # frames of a block; rows of a table's chunk
PATIENCE = 30.0  # s: a block that takes longer is written before it is complete, and again when it is
LEVEL = 1
SAVED, REST = 0.55, 15  # a dataset whose chunk is not packed to this part of its size goes unpacked for so many chunks


class RecordingWriter:
    """Appends frames to a recording; header: what is known at the start, as JSON."""

    def __init__(
        self, path: str | Path, layout: Layout, header: Mapping[str, Any], *, shapes: Any = None,
        copy: Recording | None = None, frames: int = 0,
    ):  # fmt: skip
        """A new file; shapes: what bodies look like, JSON; it begins with the first frames of the recording `copy`."""
        import h5py

        self.path = Path(path)
        self.header = dict(header)
        self._frames, self._tables = layout.frames, layout.tables
        self.block, self._rows = chunk_sizes(layout) if copy is None else copy.chunk_sizes()
        self.committed, self.closed = 0, False
        self._file: Any = None
        self._buffer: dict[str, list[Any]] = {}
        self._noisy: dict[str, int] = {}
        self._clear()
        if not self.path.parent.is_dir():
            raise RecordingError(f"cannot write {path}: there is no folder {self.path.parent}.")
        self._part: Path | None = self.path.with_name(self.path.name + ".part")
        with self._guarded():
            self._file = h5py.File(self._part, "w", libver="latest")
            self._file.attrs.update(format=FORMAT, format_version=VERSION)
            self._file["header"] = np.frombuffer(json.dumps(self.header).encode(), dtype=np.uint8)
            text = copy.text("shapes") if copy is not None else json.dumps(shapes)
            self._file.create_dataset("shapes", data=np.frombuffer(text.encode(), dtype=np.uint8), compression="gzip")
            self._sets = dict(self._datasets())
            self._lengths, self._logged = dict.fromkeys(self._sets, 0), 0
            if copy is not None:
                with opened(copy.path) as source:
                    self._copy(source, frames)
            self._file.swmr_mode = True
            self._commit(frames)
            os.replace(self._part, self.path)
            self._part = None

    def _datasets(self) -> Iterator[tuple[str, Any]]:
        for column in self._frames:
            yield f"frames/{column.name}", self._create(f"frames/{column.name}", column, self.block)
        for table, columns in self._tables.items():
            for name in ("first", "count"):
                yield f"{table}/{name}", self._create(f"{table}/{name}", Column(name, "i8"), self.block)
            for column in columns:
                yield f"{table}/{column.name}", self._create(f"{table}/{column.name}", column, self._rows)
        yield "log", self._file.create_dataset("log", (0,), "u1", maxshape=(None,), chunks=(1024,))
        yield "committed", self._file.create_dataset("committed", data=np.zeros(2, dtype=np.int64))

    def _create(self, name: str, column: Column, rows: int) -> Any:
        return self._file.create_dataset(
            name, (0, *column.width), column.dtype, maxshape=(None, *column.width), chunks=(rows, *column.width),
            compression="gzip", compression_opts=LEVEL, shuffle=True,
        )  # fmt: skip

    def _copy(self, source: Any, frames: int) -> None:
        """Take the chunks of the first frames as they are; what follows must begin with a block."""
        for column in self._frames:
            self._take(source, f"frames/{column.name}", frames)
        for table, columns in self._tables.items():
            for name in ("first", "count"):
                self._take(source, f"{table}/{name}", frames)
            end = int((source[f"{table}/first"][:frames] + source[f"{table}/count"][:frames]).max(initial=0))
            for column in columns:
                self._take(source, f"{table}/{column.name}", -(-end // self._rows) * self._rows)

    def _take(self, source: Any, name: str, length: int) -> None:
        data, here = source[name], self._sets[name]
        here.resize(length, axis=0)
        corner = (0,) * (data.ndim - 1)
        for start in range(0, length, data.chunks[0]):
            mask, raw = data.id.read_direct_chunk((start, *corner))
            here.id.write_direct_chunk((start, *corner), raw, mask)
        self._lengths[name] = length

    def _clear(self) -> None:
        self.waiting, self._since = 0, time.monotonic()
        self._buffer = {}
        for column in self._frames:
            self._buffer[f"frames/{column.name}"] = []
        for table, columns in self._tables.items():
            self._buffer[f"{table}/count"] = []
            for column in columns:
                self._buffer[f"{table}/{column.name}"] = []

    @property
    def full(self) -> bool:
        """Whether the frames that wait make a block."""
        return self.waiting == self.block

    def add(self, frame: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """One more frame: a row of each column of `frames`, and the rows of the tables."""
        for column in self._frames:
            self._buffer[f"frames/{column.name}"].append(frame[column.name])
        for table in self._tables:
            self._buffer[f"{table}/count"].append(0)
        self.waiting += 1
        self.amend({}, rows)

    def amend(self, frame: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Change values of the last frame, and add rows to its tables."""
        for name, value in frame.items():
            if f"frames/{name}" in self._buffer:
                self._buffer[f"frames/{name}"][-1] = value
        for table, given in rows.items():
            if table not in self._tables or not given:
                continue
            self._buffer[f"{table}/count"][-1] += len(next(iter(given.values())))
            for column in self._tables[table]:
                self._buffer[f"{table}/{column.name}"].append(given[column.name])

    def tick(self) -> None:
        """Write what waits if it has waited long."""
        if self.waiting and time.monotonic() - self._since > PATIENCE:
            self.flush(complete=False)

    def flush(self, complete: bool = True) -> None:
        """Write and commit the frames that wait; those of an incomplete block wait on, and are written again."""
        if not self.waiting:
            return
        before, committed = dict(self._lengths), self.committed
        with self._guarded():
            self._write(self._buffer, self.waiting)
        if complete:
            self._clear()
        else:
            self.committed, self._lengths, self._since = committed, before, time.monotonic()

    def _write(self, block: dict[str, list[Any]], frames: int) -> None:
        for column in self._frames:
            rows = np.array(block[f"frames/{column.name}"], dtype=column.dtype)
            self._append(f"frames/{column.name}", rows.reshape(frames, *column.width))
        for table, columns in self._tables.items():
            count = np.array(block[f"{table}/count"], dtype=np.int64)
            start = self._lengths[f"{table}/{columns[0].name}"]
            self._append(f"{table}/first", start + np.concatenate([[0], np.cumsum(count)[:-1]]))
            self._append(f"{table}/count", count)
            for column in columns:
                padding = np.zeros((-int(count.sum()) % self._rows, *column.width), dtype=column.dtype)
                parts = [*block[f"{table}/{column.name}"], padding]
                self._append(f"{table}/{column.name}", np.concatenate(parts, dtype=column.dtype, casting="unsafe"))
        self._commit(self.committed + frames)

    def log(self, entry: Mapping[str, Any]) -> None:
        """Append what became known: its keys replace those of the header's `info`."""
        line = np.frombuffer((json.dumps(dict(entry)) + "\n").encode(), dtype=np.uint8)
        with self._guarded():
            log = self._sets["log"]
            log.resize((self._logged + len(line),))
            log[self._logged :] = line
            self._logged += len(line)
            self._commit(self.committed)

    def _append(self, name: str, rows: np.ndarray) -> None:
        if not len(rows):
            return
        data, start = self._sets[name], self._lengths[name]
        size = data.chunks[0]
        chunks = -(-len(rows) // size)
        whole = rows
        if len(rows) < chunks * size:
            whole = np.zeros((chunks * size, *rows.shape[1:]), dtype=rows.dtype)
            whole[: len(rows)] = rows
        length = self._lengths[name] = start + len(rows)
        if length > data.shape[0]:
            data.resize(length, axis=0)
        corner = (0,) * (rows.ndim - 1)
        for i in range(chunks):
            packed, left_out = self._packed(name, whole[i * size : (i + 1) * size])
            data.id.write_direct_chunk((start + i * size, *corner), packed, left_out)

    def _packed(self, name: str, chunk: np.ndarray) -> tuple[Any, int]:
        """A chunk, and a mask of the filters that it did not pass: where packing saved nothing, it is given a rest."""
        if self._noisy.get(name, 0) > 0:
            self._noisy[name] -= 1
            return chunk.data.cast("B"), 0b11
        packed = compressed(chunk)
        self._noisy[name] = REST if len(packed) > SAVED * chunk.nbytes else 0
        return packed, 0

    def _commit(self, frames: int) -> None:
        """First everything else, then the number of frames that it makes complete."""
        self._file.flush()
        counted = self._sets["committed"]
        counted[...] = np.array([frames, self._logged], dtype=np.int64)
        counted.flush()
        self.committed = frames

    def close(self) -> None:
        """Write what waits, and close; afterwards any HDF5 reader opens the file."""
        if self.closed:
            return
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close without writing what waits."""
        self.closed = True
        if self._file is not None:
            with contextlib.suppress(OSError, RuntimeError):  # a full disk was reported; nothing more can be said
                self._file.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError) as error:
            self.abandon()
            known = f"; its first {self.committed} frames can be read"
            if self._part is not None:
                self._part.unlink(missing_ok=True)
                known = "; the file there is as it was" if self.path.exists() else ""
            raise RecordingError(f"cannot write {self.path}: {_reason(error)}{known}.") from error


def chunk_sizes(layout: Layout) -> tuple[int, int]:
    """Frames per block, about `BLOCK_BYTES` if every body has three contacts; and rows per chunk of a table."""
    rows = sum(_bytes(column) for columns in layout.tables.values() for column in columns)
    frame = sum(_bytes(column) for column in layout.frames) + 3 * layout.bodies * rows
    block = int(np.clip(BLOCK_BYTES // frame, 1, MOST))
    return block, int(np.clip(2 ** np.ceil(np.log2(3 * max(1, layout.bodies) * block)), LEAST_ROWS, MOST_ROWS))


def _bytes(column: Column) -> int:
    return int(np.dtype(column.dtype).itemsize * np.prod(column.width, dtype=int))


def compressed(chunk: np.ndarray) -> bytes:
    """A chunk as HDF5's filters shuffle and deflate leave it."""
    from isal import isal_zlib

    size = chunk.dtype.itemsize
    raw = chunk.reshape(-1).view(np.uint8)
    mixed = np.ascontiguousarray(raw.reshape(-1, size).T) if size > 1 else raw
    return bytes(isal_zlib.compress(mixed, LEVEL))


def _reason(error: Exception) -> str:
    said, number = str(error), getattr(error, "errno", None)
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    full = number in codes or any(os.strerror(code).lower() in said.lower() for code in codes)
    return "the disk is full" if full else said
