"""Build step: the Vega bundle is made from vl-convert and put into the wheel."""

import runpy
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

FOLDER = Path("workbench", "widgets")


class BuildWithBundle(build_py):
    """Build the Python files, then the Vega bundle beside them."""

    def run(self):
        """Build; an editable install makes the bundle on first use instead."""
        super().run()
        if not self.editable_mode:
            bundle = runpy.run_path(str(FOLDER / "vega_bundle.py"))
            Path(self.build_lib, FOLDER, bundle["NAME"]).write_text(
                bundle["build"](), encoding="utf-8"
            )


class WithData(Distribution):
    """A distribution with data files. Editable installs ask `has_data`, which setuptools lacks."""

    def has_data(self):
        """Return whether there are data files: the Voila template."""
        return self.has_data_files()


setup(cmdclass={"build_py": BuildWithBundle}, distclass=WithData)
