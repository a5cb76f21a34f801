"""Writes recordings: whole compressed chunks, appended so that a killed process leaves a file that opens.

The file is in HDF5's SWMR mode before it gets its name: at any moment another process can read it, and so it can be
read after the writer was killed. Frames wait until a block of them is complete; then every dataset grows by whole
chunks, the file is flushed, and `committed` is raised: what it does not count is not there. Tables are padded to whole
chunks, so that blocks begin at chunks everywhere; the padding compresses to nothing. Chunks are compressed here, by the
filters that every HDF5 reads (shuffle and deflate), because ISA-L does it several times faster than the zlib in HDF5.
HDF5 does not survive a write that fails (its caches contradict each other, and closing the file ends in a crash). So
the disk gives room, filled with zeros, before HDF5 writes anything: a full disk is met by us alone.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import RecordingError
from .claim import Claim
from .layout import FORMAT, VERSION, Column, Layout
from .reader import Recording, opened

BLOCK_BYTES = 16 << 20  # of a block, about: what a killed process loses
BLOCK_MAX_FRAMES, CHUNK_MIN_ROWS, CHUNK_MAX_ROWS = 256, 256, 4096  # frames of a block; rows of a table's chunk
BLOCK_MAX_S = 30.0  # s: a block that takes longer is written before it is complete, and again when it is
DEFLATE_LEVEL = 1
SPARE_BYTES = 1 << 16  # bytes that are asked for beyond those to be written: what HDF5 needs to find them, and to close
FILE_END_BYTES = slice(28, 36)  # in a superblock of version 3: where the file ends
# Where the first bytes of a chunk shrink to no less than this share, its dataset is not packed for some chunks.
PACKED_MAX_SHARE, UNPACKED_CHUNKS, PROBE_BYTES = 0.55, 15, 1 << 15


class DiskError(RecordingError):
    """The disk is full: not the caller's mistake."""


class RecordingWriter:
    """Appends frames to a recording; header: the run as it begins, as JSON."""

    def __init__(
        self, path: str | Path, layout: Layout, header: Mapping[str, Any], *, shapes: Any = None,
        copy: Recording | None = None, frames: int = 0,
    ):  # fmt: skip
        """A new file; shapes: what bodies look like, JSON; it begins with the first frames of the recording `copy`."""
        import h5py

        self.path = Path(path)
        self._place = Path(os.path.realpath(path))  # where a link leads: that is locked and written
        self.header = dict(header)
        self._frames, self._tables = layout.frames, layout.tables
        self.block, self._rows = chunk_sizes(layout) if copy is None else copy.chunk_sizes()
        self.committed, self.readable, self.closed = 0, 0, False
        self._file: Any = None
        self._given = 0  # bytes of the file that the disk has given
        self._noisy: dict[str, int] = {}
        self._buffer = {f"frames/{column.name}": _Rows(column, self.block) for column in self._frames}
        for table, columns in self._tables.items():
            self._buffer[f"{table}/first"] = _Rows(Column("first", "i8"), self.block)
            self._buffer[f"{table}/count"] = _Rows(Column("count", "i8"), self.block)
            self._buffer |= {f"{table}/{column.name}": _Rows(column, self._rows) for column in columns}
        self._clear()
        self._part: Path | None = self._place.with_name(self._place.name + ".part")
        self._claim: Claim | None = None
        with self._guarded():
            self._claim = Claim(self.path)
            self._part.write_bytes(bytes(SPARE_BYTES))
            self._file = h5py.File(self._part, "w", libver="latest")
            self._file.attrs.update(format=FORMAT, format_version=VERSION)
            text = copy.text("shapes") if copy is not None else json.dumps(shapes)
            for name, said in {"header": json.dumps(self.header), "shapes": text}.items():
                data = np.frombuffer(said.encode(), dtype=np.uint8)
                self._reserve(2 * len(data))
                self._file.create_dataset(name, data=data, compression="gzip" if name == "shapes" else None)
            self._sets = dict(self._datasets())
            self._chunks = {name: tuple(data.chunks or ()) for name, data in self._sets.items()}
            self._lengths, self._logged = dict.fromkeys(self._sets, 0), 0
            if copy is not None:
                with opened(copy.path) as source:
                    self._copy(source, frames)
            self._file.swmr_mode = True
            self._commit(frames)
            os.replace(self._part, self._place)
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
        # the spin and rolling of contacts have chunks of their own, which are not there where no contact has them
        width = (3,) if column.width == (6,) else column.width
        self._reserve(0)
        return self._file.create_dataset(
            name, (0, *column.width), column.dtype, maxshape=(None, *column.width), chunks=(rows, *width),
            compression="gzip", compression_opts=DEFLATE_LEVEL, shuffle=True,
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
        self._lengths[name] = length
        if data.chunks != here.chunks:  # as older versions made them
            rows = data[:length]
            self._reserve(2 * rows.nbytes)
            here[:] = rows
            return
        for corner in _corners(length, data.shape, data.chunks):
            if data.id.get_chunk_info_by_coord(corner).byte_offset is not None:
                mask, raw = data.id.read_direct_chunk(corner)
                self._put(here, corner, raw, mask)

    def _put(self, data: Any, corner: tuple[int, ...], packed: Any, left_out: int) -> None:
        """Write a chunk as it is; left_out: a mask of the filters that it did not pass."""
        self._reserve(len(packed))
        data.id.write_direct_chunk(corner, packed, left_out)

    def _reserve(self, count: int) -> None:
        """Get room from the disk for all that HDF5 has not written yet, and for `count` bytes more."""
        used = self._file.id.get_filesize()
        begin, end = max(used, self._given), used + count + SPARE_BYTES
        if end > begin:
            with (self._part or self._place).open("r+b") as file:
                file.seek(begin)
                file.write(bytes(end - begin))
            self._given = end

    def _clear(self) -> None:
        self.waiting, self._since = 0, time.monotonic()
        for rows in self._buffer.values():
            rows.n = 0

    @property
    def full(self) -> bool:
        """Whether the frames that wait make a block."""
        return self.waiting == self.block

    def add(self, frame: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """One more frame: a row of each column of `frames`, and the rows of the tables."""
        for column in self._frames:
            self._buffer[f"frames/{column.name}"].add(1)[0] = frame[column.name]
        for table in self._tables:
            self._buffer[f"{table}/count"].add(1)[0] = 0
        self.waiting += 1
        self.amend({}, rows)

    def amend(self, frame: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Change values of the last frame, and add rows to its tables."""
        for name, value in frame.items():
            if f"frames/{name}" in self._buffer:
                self._buffer[f"frames/{name}"].values[-1] = value
        for table, given in rows.items():
            if table not in self._tables or not given:
                continue
            n = len(next(iter(given.values())))
            self._buffer[f"{table}/count"].values[-1] += n
            for column in self._tables[table]:
                self._buffer[f"{table}/{column.name}"].add(n)[:] = given[column.name]

    def tick(self) -> None:
        """Write what waits if it has waited long."""
        if self.waiting and time.monotonic() - self._since > BLOCK_MAX_S:
            self.flush(complete=False)

    def flush(self, complete: bool = True) -> None:
        """Write and commit the frames that wait; those of an incomplete block wait on, and are written again."""
        if not self.waiting:
            return
        before, committed = dict(self._lengths), self.committed
        with self._guarded():
            self._write(self.waiting)
        if complete:
            self._clear()
        else:
            self.committed, self._lengths, self._since = committed, before, time.monotonic()

    def _write(self, frames: int) -> None:
        for column in self._frames:
            self._append(f"frames/{column.name}", frames)
        for table, columns in self._tables.items():
            count, first = (self._buffer[f"{table}/{name}"] for name in ("count", "first"))
            start = self._lengths[f"{table}/{columns[0].name}"]
            first.n = 0
            first.add(frames)[:] = start + np.cumsum(count.values) - count.values
            self._append(f"{table}/first", frames)
            self._append(f"{table}/count", frames)
            for column in columns:
                self._append(f"{table}/{column.name}", -(-int(count.values.sum()) // self._rows) * self._rows)
        self._commit(self.committed + frames)

    def log(self, entry: Mapping[str, Any]) -> None:
        """Append what a run knows at its end: its keys replace those of the header's `info`."""
        line = np.frombuffer((json.dumps(dict(entry)) + "\n").encode(), dtype=np.uint8)
        with self._guarded():
            log = self._sets["log"]
            self._reserve(2 * len(line))
            log.resize((self._logged + len(line),))
            log[self._logged :] = line
            self._logged += len(line)
            self._commit(self.committed)

    def _append(self, name: str, length: int) -> None:
        """Write the rows that wait as whole chunks, and count `length` of them."""
        if not length:
            return
        data, start, chunks = self._sets[name], self._lengths[name], self._chunks[name]
        self._lengths[name] = start + length
        rows = self._buffer[name].padded(chunks[0])
        shape = data.shape
        if start + length > shape[0]:
            data.resize(start + length, axis=0)
        for corner in _corners(length, shape, chunks):
            chunk = rows[tuple(slice(at, at + size) for at, size in zip(corner, chunks))]
            chunk = np.ascontiguousarray(chunk)
            if not any(corner[1:]) or np.count_nonzero(chunk.view("u1")):  # what is not there reads as zero
                packed, left_out = self._packed(f"{name} {corner[1:]}", chunk)
                self._put(data, (start + corner[0], *corner[1:]), packed, left_out)

    def _packed(self, name: str, chunk: np.ndarray) -> tuple[Any, int]:
        """A chunk, and a mask of the filters that it did not pass: where packing saves little, it is given a rest."""
        if self._noisy.get(name, 0) > 0:
            self._noisy[name] -= 1
            return chunk.data.cast("B"), 0b11
        probe = chunk.reshape(-1)[: PROBE_BYTES // chunk.itemsize]
        if len(compressed(probe)) > PACKED_MAX_SHARE * probe.nbytes:
            self._noisy[name] = UNPACKED_CHUNKS
            return chunk.data.cast("B"), 0b11
        return compressed(chunk), 0

    def _commit(self, frames: int) -> None:
        """First everything else, then the number of frames that it makes complete."""
        self._reserve(0)
        self._file.flush()
        counted = self._sets["committed"]
        counted[...] = np.array([frames, self._logged], dtype=np.int64)
        counted.flush()
        self.committed = self.readable = frames

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
        path = self._part or self._place
        with contextlib.suppress(OSError, RuntimeError):  # a broken disk was reported; nothing more can be said
            if self._file:
                self._file.close()
                with path.open("r+b") as file:
                    file.truncate(int.from_bytes(file.read(FILE_END_BYTES.stop)[FILE_END_BYTES], "little"))
        if self._claim is not None:
            if self._part is not None or not self.readable:
                path.unlink(missing_ok=True)
            self._claim.release()
            self._claim = None

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except RecordingError:  # of the recording that is copied, or of a file that another run writes
            self.abandon()
            raise
        except (OSError, RuntimeError) as error:
            self.abandon()
            if self.readable and self._part is None:
                known = (
                    f"; its first {self.readable} frames can be read"
                    if self.readable > 1
                    else "; its start can be read"
                )
            else:
                known = "; the file there is as it was" if self.path.exists() else ""
            kind, reason = (DiskError, "the disk is full") if _is_full(error) else (RecordingError, str(error))
            raise kind(f"cannot write {self.path}: {reason}{known}.") from error


class _Rows:
    """The rows of a dataset that wait to be written, in an array that is kept from block to block."""

    def __init__(self, column: Column, room: int):
        self._data = np.zeros((room, *column.width), dtype=column.dtype)
        self.n = 0

    @property
    def values(self) -> np.ndarray:
        """What waits."""
        return self._data[: self.n]

    def _reserve(self, room: int) -> None:
        if room > len(self._data):
            more = np.zeros((max(room, len(self._data) * 3 // 2) - len(self._data), *self._data.shape[1:]))
            self._data = np.concatenate([self._data, more.astype(self._data.dtype)])

    def add(self, count: int) -> np.ndarray:
        """Room for `count` rows more, to be filled."""
        self._reserve(self.n + count)
        self.n += count
        return self._data[self.n - count : self.n]

    def padded(self, size: int) -> np.ndarray:
        """What waits, with zeros up to a whole number of chunks."""
        whole = -(-self.n // size) * size
        self._reserve(whole)
        self._data[self.n : whole] = 0
        return self._data[:whole]


def _corners(length: int, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Where the chunks of the first `length` rows of a dataset begin."""
    return itertools.product(*(range(0, size, chunk) for size, chunk in zip((length, *shape[1:]), chunks)))


def chunk_sizes(layout: Layout) -> tuple[int, int]:
    """Frames per block, about `BLOCK_BYTES` if every body has three contacts; and rows per chunk of a table."""
    rows = sum(_bytes(column) for columns in layout.tables.values() for column in columns)
    frame = sum(_bytes(column) for column in layout.frames) + 3 * layout.bodies * rows
    block = int(np.clip(BLOCK_BYTES // frame, 1, BLOCK_MAX_FRAMES))
    return block, int(np.clip(2 ** np.ceil(np.log2(3 * max(1, layout.bodies) * block)), CHUNK_MIN_ROWS, CHUNK_MAX_ROWS))


def _bytes(column: Column) -> int:
    return int(np.dtype(column.dtype).itemsize * np.prod(column.width, dtype=int))


def compressed(chunk: np.ndarray) -> bytes:
    """A chunk as HDF5's filters shuffle and deflate leave it."""
    from isal import isal_zlib

    size = chunk.dtype.itemsize
    raw = chunk.reshape(-1).view(np.uint8)
    mixed = np.ascontiguousarray(raw.reshape(-1, size).T) if size > 1 else raw
    return bytes(isal_zlib.compress(mixed, DEFLATE_LEVEL))


def _is_full(error: Exception) -> bool:
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return getattr(error, "errno", None) in codes or any(os.strerror(c).lower() in str(error).lower() for c in codes)
