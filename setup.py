"""Build step: the Vega bundle is made from vl-convert and put into the wheel."""
import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDER = Path("workbench", "widgets")


class BuildWithBundle(build_py):
    """Build the Python files, then the Vega bundle beside them."""

    def run(self):
        """Build; an editable install makes the bundle on first use instead."""
        super().run()
        if not self.editable_mode:
            runpy.run_path(str(FOLDER / "vega_bundle.py"))["write"](Path(self.build_lib) / FOLDER)


setup(cmdclass={"build_py": BuildWithBundle})
