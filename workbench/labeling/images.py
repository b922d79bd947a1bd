"""Images of items: files in one folder and its subfolders, or arrays of gray values or colors."""

import struct
import zlib
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from workbench.checks import WrongValue

MOST = 20_000_000  # bytes
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}  # of PNG, by channels


def image_folder(folder: str | PathLike[str]) -> Path:
    """Return the real path of a folder of images, without links.

    Parameters
    ----------
    folder : str or path
        The folder.

    Raises
    ------
    ValueError
        If there is no such folder.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise WrongValue("images", f"must be an existing folder; {str(folder)!r} is not one")
    return path.resolve()


def read_image(folder: Path, name: str) -> bytes:
    """Return the bytes of an image in a folder or its subfolders.

    Parameters
    ----------
    folder : Path
        The folder, as `image_folder` returns it.
    name : str
        Name of the file, relative to the folder.

    Raises
    ------
    ValueError
        If the file is outside the folder, also by "..", by an absolute name or by a link. Also if
        there is no such file, if it has more than 20 MB, or if it is not a PNG, JPEG, GIF or WebP
        image. SVG images are refused because they may hold scripts.
    """
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder)
        size = path.stat().st_size if inside and path.is_file() else -1
    except (OSError, RuntimeError, ValueError):  # a name no file can have, or links in a circle
        inside = True
        size = -1
    if not inside:
        raise ValueError(f"{name!r} is not in the folder of images")
    if size < 0:
        raise ValueError(f"there is no image {name!r} in the folder of images")
    if size > MOST:
        raise ValueError(f"{name!r} has more than {MOST // 1_000_000} MB")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {name!r}: {error.strerror}") from error
    if not image_type(content):
        raise ValueError(f"{name!r} is not a PNG, JPEG, GIF or WebP image")
    return content


def image_type(content: bytes) -> str:
    """Return the media type of an image from its first bytes, or "" for an unsupported type.

    Examples
    --------
    >>> image_type(png_of([[0, 255]])), image_type(b"<svg>")
    ('image/png', '')
    """
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS if content.startswith(start)), "")


def png_of(image: ArrayLike) -> bytes:
    """Return an array as PNG bytes.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4) array_like
        Gray values, or red, green, blue and opacity: whole numbers from 0 (black) to 255, or floats
        from 0 to 1.

    Raises
    ------
    ValueError
        If the array has another shape, or a value out of range.
    """
    array = np.asarray(image)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in _COLOR_TYPES or 0 in array.shape:
        raise WrongValue(
            "image", f"must have shape (H, W), (H, W, 3) or (H, W, 4); got {np.shape(image)}"
        )
    top = 255 if array.dtype.kind in "iu" else 1
    if array.dtype.kind not in "iuf" or not ((array >= 0) & (array <= top)).all():
        raise WrongValue("image", "must hold whole numbers from 0 to 255, or floats from 0 to 1")
    rows = np.rint(array * (255 / top)).astype(np.uint8)
    height, width, channels = rows.shape
    lines = np.pad(rows.reshape(height, -1), ((0, 0), (1, 0)))
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    body = png_chunk(b"IDAT", zlib.compress(lines.tobytes()))
    return _STARTS[0][0] + png_chunk(b"IHDR", header) + body + png_chunk(b"IEND", b"")


def png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a part of a PNG file, with its length and its checksum."""
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
