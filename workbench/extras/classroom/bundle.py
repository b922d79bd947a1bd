"""Bundles for machines without a network: wheels, notebooks and an install script."""

import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

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


_MANYLINUX = ("_2_5", "_2_12", "_2_17", "_2_24", "_2_27", "_2_28", "2014", "2010", "1")
_MACOS = ("10_9", "10_15", "11_0", "12_0", "13_0", "14_0")


def _markers(sys_platform: str, os_name: str, system: str, machine: str) -> dict[str, str]:
    return {
        "sys_platform": sys_platform,
        "os_name": os_name,
        "platform_system": system,
        "platform_machine": machine,
    }


PLATFORMS = {
    "linux": Platform(
        tuple(f"manylinux{version}_x86_64" for version in _MANYLINUX),
        _markers("linux", "posix", "Linux", "x86_64"),
        "install.sh",
    ),
    "windows": Platform(("win_amd64",), _markers("win32", "nt", "Windows", "AMD64"), "install.bat"),
    # pip prefers the first tags, for wheels that run on older systems
    "macos": Platform(
        tuple(f"macosx_{version}_{cpu}" for version in _MACOS for cpu in ("universal2", "arm64")),
        _markers("darwin", "posix", "Darwin", "arm64"),
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
    root, bundle = Path(__file__).resolve().parents[3], Path(folder)
    if not (root / "pyproject.toml").is_file():
        raise ReportError(
            "a bundle needs the project's source folder; clone it and install with pip install -e ."
        )
    if bundle.exists() and (not bundle.is_dir() or any(bundle.iterdir())):
        raise ReportError(f"{folder!r} must be a new or empty folder")
    wheels, system = bundle / "wheels", PLATFORMS[target]
    _pip("wheel", "--no-deps", "--wheel-dir", wheels, root)
    requirements = [f"{path}[{EXTRA}]" for path in wheels.glob("*.whl")]
    for _ in range(MOST_ROUNDS):
        _download(requirements, wheels, system)
        requirements = missing(wheels, system.markers)
        if not requirements:
            break
    else:
        raise ReportError(f"pip found no wheels for {', '.join(requirements)}")
    notebooks = bundle / "notebooks"
    with refusing(f"cannot write to {str(notebooks)!r}"):
        notebooks.mkdir(parents=True)
        for path in notebooks_folder().glob("*.ipynb"):
            shutil.copyfile(path, notebooks / path.name)
        copy_data(notebooks)
    script = page(system.script, version=_python(), project=f"{PROJECT}[{EXTRA}]") + "\n"
    if target == "windows":
        script = script.replace("\n", "\r\n")
    write_text(bundle / system.script, script)
    (bundle / system.script).chmod(0o755)
    sizes = [path.stat().st_size for path in wheels.glob("*.whl")]
    return len(sizes), sum(sizes)


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
    paths = list(wheels.glob("*.whl"))
    versions = dict(utils.parse_wheel_filename(path.name)[:2] for path in paths)
    needed = set()
    for path in paths:
        extra = EXTRA if path.name.startswith(PROJECT.replace("-", "_")) else ""
        environment = {**markers, "extra": extra}
        (wheel,) = metadata.distributions(path=[str(path)])
        for requirement in map(requirements.Requirement, wheel.requires or []):
            if requirement.marker and not requirement.marker.evaluate(environment):
                continue
            version = versions.get(utils.canonicalize_name(requirement.name))
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                requirement.marker = None
                needed.add(str(requirement))
    return sorted(needed)


def _download(requirements: list[str], wheels: Path, system: Platform) -> None:
    """Download wheels for a system into a folder."""
    options = ["--only-binary", ":all:", "--dest", wheels, "--find-links", wheels]
    options += ["--python-version", _python(), "--implementation", "cp"]
    for abi in (f"cp{_python().replace('.', '')}", "abi3", "none"):
        options += ["--abi", abi]
    for tag in system.tags:
        options += ["--platform", tag]
    _pip("download", *options, *requirements)


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def _pip(command: str, *options: str | Path) -> None:
    """Run a command of pip, or raise ReportError with its last error."""
    pip = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *map(str, options)], capture_output=True, text=True)
    if done.returncode:
        output = done.stderr.strip()
        errors = [line for line in output.splitlines() if line.startswith("ERROR")]
        raise ReportError(f"pip {command} failed: {(errors or [output])[-1]}")
