"""A bundle holds every wheel that the other system needs; pip itself is not called here."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from command import run

from workbench.extras.classroom import bundle


def wheel(folder, name, version, *requirements):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {requirement}" for requirement in requirements),
    ]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(
            f"{name}-{version}.dist-info/METADATA",
            "\n".join(lines) + "\n\nText\nRequires-Dist: none\n",
        )
        archive.writestr(
            f"{name}/vendored/other-1.0.dist-info/METADATA", "Requires-Dist: vendored\n"
        )


WINDOWS, LINUX = (bundle.PLATFORMS[name].markers for name in ("windows", "linux"))


def test_requirements_are_asked_of_the_other_system(tmp_path):
    wheel(
        tmp_path,
        "click",
        "8.2.0",
        'colorama; platform_system == "Windows"',
        'pexpect; sys_platform != "win32"',
    )
    wheel(
        tmp_path,
        "tqdm",
        "4.67",
        "Click>=8",
        'pytest; extra == "dev"',
        "colorama; platform_system == 'Windows'",
    )
    assert bundle.missing(tmp_path, WINDOWS) == ["colorama"]
    assert bundle.missing(tmp_path, LINUX) == ["pexpect"]
    wheel(tmp_path, "colorama", "0.4.6")
    assert bundle.missing(tmp_path, WINDOWS) == []
    wheel(tmp_path, "late", "1.0", "tqdm>=5,<6")
    assert bundle.missing(tmp_path, WINDOWS) == ["tqdm<6,>=5"]


@pytest.fixture
def index(monkeypatch):
    """An index that knows three projects; every call of pip is noted."""
    calls = []

    def pip(command, *words):
        calls.append([command, *map(str, words)])
        if command == "wheel":
            wheel(Path(words[2]), "evaluation_workbench", "0.1.0", "click")
        else:
            folder = Path(words[words.index("--dest") + 1])
            asked = " ".join(map(str, words[words.index("--dest") + 2 :]))
            wheel(
                folder,
                "click",
                "8.2.0",
                'colorama; sys_platform == "win32"',
                'never; os_name == "never"',
            )
            if asked.endswith(" colorama"):
                wheel(folder, "colorama", "0.4.6")

    monkeypatch.setattr(bundle, "_pip", pip)
    return calls


@pytest.mark.parametrize(
    ("target", "wheels", "script"),
    [("linux", 2, "install.sh"), ("windows", 3, "install.bat"), ("macos", 2, "install.sh")],
)
def test_a_bundle_holds_wheels_notebooks_and_a_script(tmp_path, index, target, wheels, script):
    done = run(tmp_path, "course", "bundle", "out", "--platform", target)
    assert done.returncode == 0
    assert re.fullmatch(
        rf"Wrote {wheels} wheels, 0 MB, notebooks and an install script to out\n", done.stdout
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        script,
        "notebooks",
        "wheels",
    ]
    assert len(list((tmp_path / "out" / "notebooks").glob("0[0-5]-*.ipynb"))) == 6
    assert (tmp_path / "out" / "notebooks" / "data" / "my.csv").is_file()
    text = (tmp_path / "out" / script).read_text()
    assert '--no-index --find-links wheels "evaluation-workbench[lab]"' in text
    assert "{" not in text.replace("${PYTHON:-", "")
    download = index[1]
    assert download[0] == "download" and download[download.index("--only-binary") + 1] == ":all:"
    assert {"linux": "manylinux2014_x86_64", "windows": "win_amd64", "macos": "macosx_11_0_arm64"}[
        target
    ] in download
    if script == "install.sh":
        assert subprocess.run(["sh", "-n", tmp_path / "out" / script]).returncode == 0
        assert (tmp_path / "out" / script).stat().st_mode & 0o111


def test_wheels_that_cannot_be_found_are_named(tmp_path, index, monkeypatch):
    monkeypatch.setattr(bundle, "missing", lambda *_: ["gone>=1"])
    done = run(tmp_path, "course", "bundle", "out")
    assert done.returncode == 2 and done.stderr == "Error: pip found no wheels for gone>=1\n"


def test_a_folder_with_files_is_left_alone(tmp_path, index):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = run(tmp_path, "course", "bundle", "out")
    assert (
        done.returncode == 2
        and done.stderr == "Error: 'out' must be a new or empty folder\n"
        and index == []
    )


def test_outside_the_sources_there_is_nothing_to_build_from(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert run(tmp_path, "course", "bundle", "out").stderr.startswith(
        "Error: a bundle needs the project's source folder"
    )


def test_what_pip_says_is_one_line(tmp_path):
    with pytest.raises(bundle.ReportError, match="pip download failed: ERROR: "):
        bundle._pip("download", "--no-index", "--dest", tmp_path, "no-such-project-here")
