"""The Vega library as one JavaScript module, built from vl-convert and cached in a file."""

import functools
import gzip
import os
from pathlib import Path

NAME = "vega_bundle.js"


def build() -> str:
    """Return the source of a module whose default export is vegaEmbed."""
    import vl_convert

    return vl_convert.javascript_bundle("export default vegaEmbed;")


def write(folder: Path) -> Path:
    """Write the bundle into a folder in one step, and return its path."""
    from workbench.data.whole_files import write_text

    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / NAME, build())
    return folder / NAME


def source() -> str:
    """Return the source of the bundle from the package or the cache, or build and cache it."""
    folders = (Path(__file__).parent, cache_folder())
    for folder in folders:
        if (folder / NAME).is_file():
            return (folder / NAME).read_text(encoding="utf-8")
    for folder in folders:
        try:
            return write(folder).read_text(encoding="utf-8")
        except OSError:
            continue
    return build()


def cache_folder() -> Path:
    """Return the cache folder of this package for the installed version of vl-convert."""
    from importlib.metadata import version

    base = (
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    )
    return Path(base) / "evaluation-workbench" / f"vl-convert-{version('vl-convert-python')}"


@functools.cache
def packed() -> bytes:
    """Return the bundle compressed with gzip, for sending it to a page."""
    return gzip.compress(source().encode(), mtime=0)
