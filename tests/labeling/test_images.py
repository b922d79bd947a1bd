"""Images come from below one folder, whatever a name says, and are what their bytes are."""

import os
import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest

from workbench.labeling.images import MOST, image_folder, image_type, png_of, read_image

# one pixel each, as other programs wrote them
FILES = {
    "png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    "webp": "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
    "jpeg": "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////"
    "////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
}


def drawn(kind, path=None):
    content = b64decode(FILES[kind])
    if path:
        path.write_bytes(content)
    return content


def pixels(png):
    """Decode a PNG whose lines are not filtered; checks every chunk's sum."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, png = [], png[8:]
    while png:
        (length,), kind = struct.unpack(">I", png[:4]), png[4:8]
        content, (total,) = png[8 : 8 + length], struct.unpack(">I", png[8 + length : 12 + length])
        assert zlib.crc32(kind + content) == total
        chunks.append((kind, content))
        png = png[12 + length :]
    (first, header), (second, body), last = chunks
    assert (first, second, last) == (b"IHDR", b"IDAT", (b"IEND", b""))
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", header)
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, -1)
    assert (depth, rest) == (8, [0, 0, 0]) and (lines[:, 0] == 0).all()
    return color, lines[:, 1:].reshape(height, width, -1)


@pytest.fixture
def photos(tmp_path):
    (tmp_path / "photos" / "deep").mkdir(parents=True)
    drawn("png", tmp_path / "secret.png")
    drawn("png", tmp_path / "photos" / "a.png")
    drawn("jpeg", tmp_path / "photos" / "deep" / "b.jpg")
    return image_folder(tmp_path / "photos")


def refused(folder, name):
    with pytest.raises(ValueError) as error:
        read_image(folder, name)
    return str(error.value)


def test_an_image_in_the_folder_or_below_is_read(photos):
    assert read_image(photos, "a.png") == (photos / "a.png").read_bytes()
    assert read_image(photos, "deep/../deep/b.jpg") == (photos / "deep" / "b.jpg").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "../secret.png",
        "deep/../../secret.png",
        "{}/secret.png",
        "link.png",
        "door/secret.png",
        "../photos-too/a.png",
    ],
)
def test_no_name_and_no_link_leaves_the_folder(photos, tmp_path, name):
    (tmp_path / "photos-too").mkdir()
    drawn("png", tmp_path / "photos-too" / "a.png")
    os.symlink(tmp_path / "secret.png", photos / "link.png")
    os.symlink(tmp_path, photos / "door")
    name = name.format(tmp_path)
    assert (photos / name).resolve().is_file()
    assert refused(photos, name) == f"{name!r} is not in the folder of images"


def test_a_folder_that_is_a_link_itself_is_fine(photos, tmp_path):
    os.symlink(photos, tmp_path / "other-name")
    assert read_image(image_folder(tmp_path / "other-name"), "a.png") == drawn("png")


@pytest.mark.parametrize("name", ["", ".", "deep", "none.png", "a\0.png", "x" * 5000, "loop.png"])
def test_what_is_no_file_is_told(photos, name):
    os.symlink("loop.png", photos / "loop.png")
    assert refused(photos, name) == f"there is no image {name!r} in the folder of images"


def test_a_pipe_is_no_image(photos):
    os.mkfifo(photos / "pipe.png")
    assert refused(photos, "pipe.png") == "there is no image 'pipe.png' in the folder of images"


def test_bytes_decide_not_the_ending(photos):
    for name, content in (
        ("page.png", b"<html><script></script>"),
        ("drawing.svg", b"<svg></svg>"),
        ("e.png", b""),
    ):
        (photos / name).write_bytes(content)
        assert refused(photos, name) == f"{name!r} is not a PNG, JPEG, GIF or WebP image"
    drawn("gif", photos / "a.txt")
    assert image_type(read_image(photos, "a.txt")) == "image/gif"


@pytest.mark.parametrize("kind", FILES)
def test_types_are_those_of_the_files(kind):
    assert image_type(drawn(kind)) == f"image/{kind}"


def test_a_large_file_is_refused_unread(photos):
    with open(photos / "large.png", "wb") as file:
        file.truncate(MOST + 1)
    assert refused(photos, "large.png") == "'large.png' has more than 20 MB"


def test_there_must_be_a_folder(tmp_path):
    with pytest.raises(ValueError, match="images must be an existing folder; "):
        image_folder(tmp_path / "none")


@pytest.mark.parametrize(("shape", "color"), [((2, 3), 0), ((4, 3, 3), 2), ((1, 2, 4), 6)])
def test_arrays_become_pixels(shape, color):
    array = np.random.default_rng(1).integers(0, 256, shape)
    for same in (array, array / 255):
        kind, read = pixels(png_of(same))
        assert kind == color and (read.reshape(shape) == array).all()


@pytest.mark.parametrize(
    "image",
    [
        [1, 2],
        np.zeros((2, 2, 2)),
        np.zeros((0, 3)),
        [[256]],
        [[-1]],
        [[1.1]],
        [[float("nan")]],
        [["a"]],
    ],
)
def test_other_arrays_are_refused(image):
    with pytest.raises(ValueError, match="image must"):
        png_of(image)
