"""Charts as PNG pictures, for reports and committed notebooks."""

import base64
import functools
import io
import json
import struct
import xml.etree.ElementTree as ElementTree
import zlib
from typing import Any

from workbench.charts import theme
from workbench.labeling.images import png_chunk

SCALE = 2
TRIES, TOLERANCE = 4, 5
BESIDE, MORE = (
    68,
    1 / 80,
)  # width of the axes in most pictures, as pixels and proportion: one rendering is enough


def png(spec: dict[str, Any]) -> bytes:
    """Return a specification as PNG bytes, at twice the size on screen."""
    import vl_convert

    return squeeze(vl_convert.vegalite_to_png(spec, scale=SCALE, allowed_base_urls=[]))


def page_png(spec: dict[str, Any], width: int, least: int) -> bytes:
    """Return a specification as PNG bytes, with width and smallest font size in screen pixels."""
    return _page_png(json.dumps(spec), width, least)


@functools.lru_cache(maxsize=8)
def _page_png(spec: str, width: int, least: int) -> bytes:
    """Return the picture of `page_png`, computed once even if a report shows it twice."""
    import vl_convert

    return squeeze(vl_convert.svg_to_png(_fitted(json.loads(spec), width, least), scale=SCALE))


def entry(picture: bytes) -> tuple[str, dict[str, int]]:
    """Return a PNG as text for a mimebundle, and its size on screen for the metadata."""
    sides = zip(("width", "height"), struct.unpack(">II", picture[16:24]), strict=True)
    return base64.b64encode(picture).decode(), {name: round(side / SCALE) for name, side in sides}


def _fitted(spec: dict, width: int, least: int) -> str:
    """Return a picture of a given width as SVG; only rendering shows the width of its labels."""
    import vl_convert

    spec = theme.sized(spec, width, least)
    spec = theme.scaled(spec, (width * (1 - MORE) - BESIDE) / theme.widest(spec))
    for _ in range(TRIES):
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
        _, root = next(ElementTree.iterparse(io.StringIO(svg), ["start"]))  # the rest is not read
        drawn = int(root.get("width", 0))
        if abs(drawn - width) <= TOLERANCE:
            break
        spec = theme.scaled(spec, max(0.2, 1 + (width - drawn) / theme.widest(spec)))
    return svg


def squeeze(png: bytes) -> bytes:
    """Return the same PNG with its pixels compressed better than by vl-convert."""
    header, body = png[:33], png[33:]
    pixels = b""
    while body:
        length, kind = struct.unpack(">I4s", body[:8])
        pixels += body[8 : 8 + length] if kind == b"IDAT" else b""
        body = body[12 + length :]
    return (
        header
        + png_chunk(b"IDAT", zlib.compress(zlib.decompress(pixels)))
        + png_chunk(b"IEND", b"")
    )
