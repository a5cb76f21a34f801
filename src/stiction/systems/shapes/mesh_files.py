"""What a mesh file holds, looked at before it is read: its size when it is unpacked, and what it counts."""

from __future__ import annotations

import bz2
import gzip
import json
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import ModelError

MESH_MAX_BYTES = 200_000_000  # of a mesh file, unpacked
COMPANION_ENDINGS = ("mtl", "png", "jpg", "jpeg", "bin", "txt", "md")  # what may be in an archive with a mesh
_PIECE_BYTES = 1 << 20


def check_mesh_file(path: Path, what: str, endings: Sequence[str] = ()) -> None:
    """Refuse a file that is too large, also where it is packed, and an STL file of another length than it says.

    endings: of the mesh files that are read, also in archives; by default any.
    """
    total = 0
    try:
        for name, size in _members(path):
            ending = name.lower().rpartition(".")[2]
            if endings and not name.endswith("/") and ending not in (*endings, *COMPANION_ENDINGS):
                raise ModelError(f"{what}: {name} is not read; meshes end in {', '.join(endings)}.")
            total += size
            if total > MESH_MAX_BYTES:
                raise ModelError(f"{what} has more than {MESH_MAX_BYTES} bytes when it is unpacked; no more are read.")
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{what} cannot be read: {error}") from None
    if path.suffix.lower() == ".stl":
        _check_stl(path, what)
    if path.suffix.lower() in (".gltf", ".glb"):
        _check_gltf(path, what)


def _members(path: Path) -> Iterator[tuple[str, int]]:
    """Names and unpacked sizes [bytes] of the files in an archive; otherwise those of the file itself."""
    ending = path.name.lower()
    if zipfile.is_zipfile(path):  # as some kinds of meshes are that are not called so
        with zipfile.ZipFile(path) as archive:
            yield from ((one.filename, one.file_size) for one in archive.infolist())
    elif ending.endswith((".tar.gz", ".tar.bz2")):
        with tarfile.open(path) as tar:  # one by one: what follows a large one is not unpacked
            yield from ((one.name + "/" * one.isdir(), one.size) for one in tar)
    elif ending.endswith(("bz2", ".gz")):
        with bz2.open(path) if ending.endswith("bz2") else gzip.open(path) as file:
            while piece := file.read(_PIECE_BYTES):
                yield path.stem, len(piece)
    else:
        yield path.name, path.stat().st_size


def _check_stl(path: Path, what: str) -> None:
    with path.open("rb") as file:
        head = file.read(84)
    if b"\0" not in head:  # text
        return
    size = path.stat().st_size
    counted = struct.unpack("<I", head[80:])[0] if len(head) == 84 else 0
    if size != 84 + 50 * counted or not counted:
        room = max(0, size - 84) // 50
        raise ModelError(f"{what} cannot be read: its header counts {counted} triangles; the file has room for {room}.")


def _check_gltf(path: Path, what: str) -> None:
    """Numbers that a glTF file counts without having them are zeros, as many as it says."""
    data = path.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    try:
        counted = sum(one["count"] for one in json.loads(data)["accessors"] if "bufferView" not in one)
    except (ValueError, LookupError, TypeError, RecursionError):
        return  # its reader says what is wrong
    if 16 * counted > MESH_MAX_BYTES:  # bytes of an item, about
        raise ModelError(
            f"{what} counts {counted} items that are not in it; no more than {MESH_MAX_BYTES} bytes are read."
        )
