"""What is asked of every HDF5 file that comes from elsewhere, recordings and FCLIB files alike."""

from __future__ import annotations

from typing import Any


def elsewhere(file: Any) -> str | None:
    """What the file would read from other files, as a sentence; None where all of its data is its own.

    HDF5 follows links to other files, data kept in raw files and virtual datasets without a word: a file from a
    stranger would put files of this machine into exports.
    """
    import h5py

    links: list[tuple[str, Any]] = []
    file.visititems_links(lambda name, link: links.append((name, link)))
    for name, link in links:
        if isinstance(link, h5py.ExternalLink):
            return f"{name} is a link to another file, {link.filename}"
        found = file[name] if isinstance(link, h5py.HardLink) else None
        if isinstance(found, h5py.Dataset) and found.external:
            return f"{name} has its data in another file, {found.external[0][0]}"
        if isinstance(found, h5py.Dataset) and found.is_virtual:
            return f"{name} is a virtual dataset, put together from other files"
    return None
