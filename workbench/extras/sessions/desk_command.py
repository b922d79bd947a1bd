"""The labeling desk in a browser: Voila shows its notebook on this machine only, until Ctrl-C."""

import contextlib
import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.reports.parameters import notebooks_folder

HOST, NOTEBOOK = "127.0.0.1", "06-labeling-desk.ipynb"
PATIENCE = 60  # seconds until the page answers


def serve(
    parameters: Mapping[str, str], *, port: int | None, browser: bool, say: Callable[[str], None]
) -> None:
    """Show the desk until Ctrl-C, or until a signal asks for an end; nothing of it stays.

    Parameters
    ----------
    parameters : dict of str
        Of the notebook.
    port : int or None
        None for a free one.
    browser : bool
        Open the page in the user's browser.
    say : callable
        Prints a line.

    Raises
    ------
    ValueError
        If Voila is missing, the port is taken, or Voila does not start.
    """
    refuse_without_voila()
    port = _free_port(port)
    token = secrets.token_urlsafe(24)
    with (
        _until_ended(),
        tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder,
    ):
        _write_notebook(Path(folder, NOTEBOOK), parameters)
        with _voila(folder, port, token) as process:
            _wait(process, port, Path(folder, "log.txt"))
            # only who has the address gets in: this machine may have other users
            address = f"http://{HOST}:{port}/?token={token}"
            say(f"The desk is at {address}\nCtrl-C ends it; every label is in the file already.")
            if browser:
                webbrowser.open(_page_to(address, Path(folder, "desk.html")).as_uri())
            process.wait()
            raise ValueError("Voila has ended by itself; every label is in the file")


def refuse_without_voila() -> None:
    """Raise where Voila is not installed."""
    if importlib.util.find_spec("voila") is None:
        raise ValueError(
            'the desk is shown by Voila, which is missing: pip install "evaluation-workbench[voila]"'
        )


def _write_notebook(path: Any, parameters: Any) -> None:
    import nbformat
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    notebook = load_notebook_node(str(notebooks_folder() / NOTEBOOK))
    nbformat.write(parameterize_notebook(notebook, dict(parameters)), path)


def _page_to(address: str, page: Path) -> Path:
    """Write a page that leads to the address: what stands on a browser's command line can be read by anybody."""
    page.touch(0o600, exist_ok=False)
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><title>Labeling desk</title><meta http-equiv="refresh" '
        f'content="0; url={address}"><a href="{address}">Labeling desk</a>\n',
        encoding="utf-8",
    )
    return page


@contextlib.contextmanager
def _voila(folder: str, port: int, token: str) -> Iterator[Any]:
    """Start Voila in a process group of its own, so that Ctrl-C reaches this process alone, which ends it in order.

    Voila ends too when its standard input does: where this process is killed it can end nothing itself.
    """
    command = [
        sys.executable,
        "-m",
        "workbench.extras.sessions.desk_server",
        NOTEBOOK,
        "--no-browser",
        f"--Voila.ip={HOST}",
        f"--Voila.port={port}",
        "--Voila.port_retries=0",
        "--Voila.auto_token=True",
    ]
    with (
        open(os.path.join(folder, "log.txt"), "w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"JUPYTER_TOKEN": token},
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def _until_ended() -> Iterator[None]:
    """Let Ctrl-C, a signal that asks for an end, or a terminal that is closed leave the context in order."""

    def end(number: Any, frame: Any) -> Any:
        raise KeyboardInterrupt

    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [signal.signal(each, end) for each in asked]
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for each, handler in zip(asked, before, strict=True):
            signal.signal(each, handler)


def _wait(process: Any, port: Any, log: Any) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.1)
    told = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise ValueError(f"Voila did not start: {(told or ['it says nothing'])[0]}")


def _free_port(wanted: Any) -> int:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, wanted or 0))
        except OSError as error:
            raise ValueError(
                f"port {wanted} cannot be used: {error.strerror}; leave --port out for a free one"
            ) from error
        return probe.getsockname()[1]
