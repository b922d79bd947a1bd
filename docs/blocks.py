"""Run the blocks of the site's pages, and keep what they say: `python docs/blocks.py [PAGE ...]`.

A block marked `sh` is run by a shell and one marked `python` by Python, one after the other in a fresh folder with the
files that the page's first comment names. `<!-- run: ... -->` is what people do between two commands. `<!-- picture: ... -->` is a chart of what the Python blocks
computed. Blocks marked
`console` are not run: they need a browser, Java, another program or a network, or another page runs the same; a comment
`<!-- shown: PAGE N -->` then shows the findings of that page's block N. What is printed, and finding and picture of
each report, are put below the block when the site is built. A page that the same package has run is not run again.
"""

import base64
import concurrent.futures
import contextlib
import hashlib
import html
import io
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import example_files
import numpy as np

DOCS = Path(__file__).resolve().parent
OUTPUTS = DOCS.parent / "build" / "outputs"
BLOCK = re.compile(
    r"^```(sh|python|console)\n(.*?)^```$|^<!-- (run|picture): (.*?) -->$", re.M | re.S
)
SHOWN = re.compile(r"^<!-- shown: (\S+) (\d+) -->$", re.M)
KERNEL = re.compile(r"workbench (report|course slides|papers replay (?!list))")
FINDING = re.compile(
    r'<section class="finding".*?<p>(.*?)</p>\s*<figure>.*?'
    r'<img[^>]*?src="data:image/png;base64,([^"]+)"',
    re.S,
)


def pages():
    """Return the pages that have blocks or show the findings of others, by name."""
    return {
        path.relative_to(DOCS).with_suffix("").as_posix(): text
        for path in sorted(DOCS.rglob("*.md"))
        if (BLOCK.search(text := path.read_text(encoding="utf-8")) or SHOWN.search(text))
    }


def files(text):
    """Return the names of the files that a page works on."""
    named = re.search(r"^<!-- files: (.*?) -->$", text, re.M)
    return named[1].split() if named else []


def run(text, kernel=True):
    """Run a page's blocks in the working folder; yield (stdout, findings) of each block that is run.

    A picture has no stdout, and its description as finding. A finding is a text and a PNG. Without `kernel` the commands of pages that start one are left out.
    """
    for name in files(text):
        example_files.FILES[name](Path(name))
    commands = "".join(code for language, code, *_ in BLOCK.findall(text) if language == "sh")
    space, shell = {}, kernel or not KERNEL.search(commands)
    for block in BLOCK.finditer(text):
        language, code, kind, comment = block.groups()
        if kind == "picture":
            yield "", [picture(comment, space)]
        elif kind == "run" and shell:
            exec(comment, vars(example_files))
        elif language == "python":
            yield python(code, space), []
        elif language == "sh":
            yield (command(code), findings(code)) if shell else ("", [])


def python(code, space):
    """Run a block of Python; return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "<page>", "exec"), space)
    return printed.getvalue()


def picture(expression, space):
    """Return the description and the PNG of a chart."""
    import figures

    import workbench.charts.cross_validation
    import workbench.charts.misclassification
    import workbench.charts.replication
    from workbench.extras.compare import charts as compare
    from workbench.widgets.chart_view import StaticChart

    names = {"charts": workbench.charts, "compare": compare, "figures": figures, "np": np}
    chart = StaticChart(eval(expression, names | space))
    return chart.alternative, chart.png()


def command(code):
    """Run a block of commands; return what they print, or raise with what they say."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-e", "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path, "COLUMNS": "100", "WORKBENCH_BY": ""},
    )
    if done.returncode:
        raise AssertionError(f"{code}\n{done.stderr}")
    return done.stdout


def findings(code):
    """Return finding and picture of each page that the commands wrote."""
    written = [Path(name) for name in re.findall(r"-o (\S+\.html)", code)]
    found = [FINDING.search(path.read_text(encoding="utf-8")) for path in written if path.exists()]
    return [
        (
            html.unescape(re.sub("<.*?>", "", each[1].replace("</p>", " "))),
            base64.b64decode(each[2]),
        )
        for each in found
        if each
    ]


def keep(name):
    """Run a page in a fresh folder, and keep its outputs and pictures for the site."""
    folder, shown, stamp = OUTPUTS / name, [], stamp_of(pages()[name])
    folder.mkdir(parents=True, exist_ok=True)
    if (
        folder.joinpath("outputs.json").exists()
        and json.loads(folder.joinpath("outputs.json").read_text())[0] == stamp
    ):
        return name
    with tempfile.TemporaryDirectory() as fresh, contextlib.chdir(fresh):
        for number, (printed, found) in enumerate(run(pages()[name])):
            pictures = [f"{number}-{k}.png" for k in range(len(found))]
            for picture, (_, png) in zip(pictures, found, strict=True):
                (folder / picture).write_bytes(png)
            shown.append(
                {
                    "printed": printed.rstrip(),
                    "findings": [text for text, _ in found],
                    "pictures": pictures,
                }
            )
    (folder / "outputs.json").write_text(json.dumps([stamp, *shown], indent=1), encoding="utf-8")
    return name


def stamp_of(text):
    """Return what tells whether a page has to be run again: its text, the example files and the package."""
    parts = [text.encode(), Path(example_files.__file__).read_bytes()]
    for folder in ("workbench", "notebooks"):
        parts += [
            path.read_bytes()
            for path in sorted((DOCS.parent / folder).rglob("*"))
            if path.suffix in (".py", ".ipynb", ".j2", ".json")
        ]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def with_outputs(name, text):
    """Return a page's text with what its blocks gave below them, and its files to take along above."""
    shown, up = outputs(name), "../" * (name.count("/") + 1)
    text = BLOCK.sub(
        lambda block: (
            block[0]
            + (
                below(next(shown), f"{up}build/outputs/{name}")
                if block[1] in ("sh", "python") or block[3] == "picture"
                else ""
            )
        ),
        text,
    )
    text = SHOWN.sub(
        lambda line: below(
            dict(list(outputs(line[1]))[int(line[2])], printed=""), f"{up}build/outputs/{line[1]}"
        ),
        text,
    )
    links = ", ".join(f"{{download}}`{file} <{up}build/files/{file}>`" for file in files(text))
    return re.sub(
        r"^<!-- files: .*? -->\n(# .*)$",
        rf"\1\n\n*Example files (synthetic data): {links}*",
        text,
        count=1,
        flags=re.M,
    )


def outputs(name):
    """Return what each block of a page gave, as an iterator."""
    return iter(json.loads((OUTPUTS / name / "outputs.json").read_text(encoding="utf-8"))[1:])


def below(output, folder):
    """Return what stands below a block."""
    printed = [f"\n\n```text\n{output['printed']}\n```"] * bool(output["printed"])
    drawn = [
        f"\n\n```{{figure}} {folder}/{picture}\n:alt: {text}\n\n{text}\n```"
        for text, picture in zip(output["findings"], output["pictures"], strict=True)
    ]
    return "".join(printed + drawn)


def main(names):
    """Write the example files, run the pages, and name each that is done."""
    folder = DOCS.parent / "build" / "files"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder):
        for name, write in example_files.FILES.items():
            write(Path(name))
    failed, afresh = [], multiprocessing.get_context("spawn")  # DuckDB does not survive a fork
    with concurrent.futures.ProcessPoolExecutor(
        int(os.environ.get("PAGES_AT_ONCE", 1)), afresh
    ) as pool:
        for task in concurrent.futures.as_completed(
            [pool.submit(keep, name) for name in names or pages()]
        ):
            failed += [task.exception()] if task.exception() else []
            print(task.exception() or task.result(), flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
