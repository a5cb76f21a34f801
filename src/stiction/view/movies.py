"""Pictures one after the other into a file: GIF by Pillow, MP4 by the ffmpeg that imageio-ffmpeg brings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import ModelError

GIF_MAX_PICTURES = 1500  # pictures of a GIF, which is made in memory


def write_movie(path: Path, pictures: Iterator[np.ndarray], count: int, fps: float) -> int:
    """Write `count` pictures (rows, columns, 3) uint8 by the ending of the name, and return their number."""
    kind = path.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise ModelError(f"cannot write {path}: a film ends in .gif or .mp4.")
    if not path.parent.is_dir():
        raise ModelError(f"cannot write {path}: there is no folder {path.parent}.")
    if kind == ".gif" and count > GIF_MAX_PICTURES:
        raise ModelError(
            f"{count} pictures are too many for a GIF (at most {GIF_MAX_PICTURES}); write .mp4, or give a higher speed."
        )
    write = _write_gif if kind == ".gif" else _write_mp4
    part = path.with_name(path.stem + ".part" + path.suffix)
    try:
        write(part, pictures, fps)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return count


def _write_gif(path: Path, pictures: Iterator[np.ndarray], fps: float) -> None:
    """One palette for all pictures and no dithering, so that what does not move does not flicker."""
    from PIL import Image

    images = [Image.fromarray(picture) for picture in pictures]
    some = images[:: max(1, len(images) // 8)]
    sample = Image.fromarray(np.concatenate([np.asarray(image) for image in some]))
    palette = sample.quantize(256, method=Image.Quantize.MEDIANCUT)
    indexed = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    indexed[0].save(path, save_all=True, append_images=indexed[1:], duration=1000.0 / fps, loop=0, disposal=1)


def _write_mp4(path: Path, pictures: Iterator[np.ndarray], fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ModelError('MP4 needs the extra `view`: pip install "stiction[view]"; GIF works without.') from None
    first = next(pictures)
    rows, columns = first.shape[:2]
    writer = imageio_ffmpeg.write_frames(
        str(path), (columns, rows), fps=fps, codec="libx264", quality=8, macro_block_size=2, ffmpeg_log_level="error"
    )
    writer.send(None)
    try:
        writer.send(np.ascontiguousarray(first))
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture))
    finally:
        writer.close()
