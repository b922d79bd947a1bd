"""Bundles for machines without a network: wheels, notebooks and an install script."""

import platform
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from workbench.extras.classroom.pages import page, write_text
from workbench.imports import optional_module
from workbench.reports.parameters import ReportError, copy_data, notebooks_folder, refusing

PROJECT, EXTRA = "evaluation-workbench", "lab"
MOST_ROUNDS = 10


@dataclass(frozen=True)
class Platform:
    """A system to install on.

    Attributes
    ----------
    tags : tuple of str
        Platform tags of its wheels for pip.
    markers : dict
        Environment markers that differ from this machine.
    script : str
        Name of the install script.
    """

    tags: tuple[str, ...]
    markers: dict[str, str]
    script: str


PLATFORMS = {
    "linux": Platform(
        (
            *(f"manylinux_2_{version}_x86_64" for version in (5, 12, 17, 24, 27, 28)),
            "manylinux2014_x86_64",
            "manylinux2010_x86_64",
            "manylinux1_x86_64",
        ),
        {
            "sys_platform": "linux",
            "os_name": "posix",
            "platform_system": "Linux",
            "platform_machine": "x86_64",
        },
        "install.sh",
    ),
    "windows": Platform(
        ("win_amd64",),
        {
            "sys_platform": "win32",
            "os_name": "nt",
            "platform_system": "Windows",
            "platform_machine": "AMD64",
        },
        "install.bat",
    ),
    # pip prefers the first tags, for wheels that run on older systems
    "macos": Platform(
        tuple(
            f"macosx_{version}_{kind}"
            for version in ("10_9", "10_15", "11_0", "12_0", "13_0", "14_0")
            for kind in ("universal2", "arm64")
        ),
        {
            "sys_platform": "darwin",
            "os_name": "posix",
            "platform_system": "Darwin",
            "platform_machine": "arm64",
        },
        "install.sh",
    ),
}


def write_bundle(folder: str, target: str) -> tuple[int, int]:
    """Write a bundle to a new folder; return the number of its wheels and their bytes.

    Parameters
    ----------
    folder : str
        New or empty folder.
    target : str
        A key of `PLATFORMS`. The version of Python is that of this process.

    Raises
    ------
    ReportError
        If the folder is not empty, this is not a source tree, or pip finds no wheels.
    """
    root, bundle = source_tree(), Path(folder)
    if bundle.exists() and (not bundle.is_dir() or any(bundle.iterdir())):
        raise ReportError(f"{folder!r} must be a new or empty folder")
    wheels, system = bundle / "wheels", PLATFORMS[target]
    _pip("wheel", "--no-deps", "--wheel-dir", wheels, root)
    wanted = [f"{path}[{EXTRA}]" for path in wheels.glob("*.whl")]
    for _ in range(MOST_ROUNDS):
        _download(wanted, wheels, system)
        wanted = missing(wheels, system.markers)
        if not wanted:
            break
    else:
        raise ReportError(f"pip found no wheels for {', '.join(wanted)}")
    _copy_notebooks(bundle / "notebooks")
    script = page(system.script, version=_python(), project=f"{PROJECT}[{EXTRA}]") + "\n"
    write_text(
        bundle / system.script, script.replace("\n", "\r\n") if target == "windows" else script
    )
    (bundle / system.script).chmod(0o755)
    found = [path.stat().st_size for path in wheels.glob("*.whl")]
    return len(found), sum(found)


def source_tree() -> Path:
    """Return the folder of the project's sources, or raise ReportError."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "pyproject.toml").is_file():
        raise ReportError(
            "a bundle needs the project's source folder; clone it and install with pip install -e ."
        )
    return root


def missing(wheels: Path, markers: dict[str, str]) -> list[str]:
    """Return the requirements of a folder's wheels that none of them satisfies on a system.

    pip evaluates the markers of the machine where it runs. This function evaluates those of the
    machine to install on.

    Parameters
    ----------
    wheels : Path
        Folder of the wheels.
    markers : dict
        Environment markers that differ from this machine.
    """
    requirements = optional_module("packaging.requirements", "bundle", "making a bundle")
    utils = optional_module("packaging.utils", "bundle", "making a bundle")
    there = {
        name: version
        for name, version, *_ in (
            utils.parse_wheel_filename(path.name) for path in wheels.glob("*.whl")
        )
    }
    needed = set()
    for path in wheels.glob("*.whl"):
        for requirement in map(requirements.Requirement, _requires(path)):
            extra = EXTRA if path.name.startswith(PROJECT.replace("-", "_")) else ""
            applies = not requirement.marker or requirement.marker.evaluate(
                {**markers, "extra": extra}
            )
            version = there.get(utils.canonicalize_name(requirement.name))
            if applies and (
                version is None or not requirement.specifier.contains(version, prereleases=True)
            ):
                requirement.marker = None
                needed.add(str(requirement))
    return sorted(needed)


def _requires(wheel: Path) -> list:
    with zipfile.ZipFile(wheel) as archive:
        name = next(
            name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)
        )
        return (
            HeaderParser().parsestr(archive.read(name).decode("utf-8")).get_all("Requires-Dist")
            or []
        )


def _download(requirements: list[str], wheels: Path, system: Platform) -> None:
    short = _python().replace(".", "")
    tags = [word for tag in system.tags for word in ("--platform", tag)]
    abis = [word for abi in (f"cp{short}", "abi3", "none") for word in ("--abi", abi)]
    _pip(
        "download",
        "--only-binary",
        ":all:",
        "--dest",
        wheels,
        "--find-links",
        wheels,
        "--python-version",
        _python(),
        "--implementation",
        "cp",
        *abis,
        *tags,
        *requirements,
    )


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def _pip(command: Any, *words: Any) -> Any:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            command,
            "--quiet",
            "--disable-pip-version-check",
            *map(str, words),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [
            done.stderr.strip()
        ]
        raise ReportError(f"pip {command} failed: {said[-1]}")


def _copy_notebooks(folder: Any) -> None:
    with refusing(f"cannot write to {str(folder)!r}"):
        folder.mkdir(parents=True)
        for path in sorted(notebooks_folder().glob("*.ipynb")):
            shutil.copyfile(path, folder / path.name)
        copy_data(folder)
