"""The labeling desk in a browser: Voila shows its notebook on this machine until Ctrl-C."""

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
    """Show the desk until Ctrl-C or another signal to stop, and remove its files.

    Parameters
    ----------
    parameters : dict of str
        Parameters of the notebook.
    port : int or None
        Port of the page. None is a free one.
    browser : bool
        Whether to open the page in the user's browser.
    say : callable
        Function that prints a line.

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
            # the token keeps out other users of this machine
            address = f"http://{HOST}:{port}/?token={token}"
            say(
                f"The labeling desk is at {address}\nPress Ctrl-C to stop. Every label is saved at "
                "once."
            )
            if browser:
                webbrowser.open(_page_to(address, Path(folder, "desk.html")).as_uri())
            process.wait()
            raise ValueError(
                "Voila stopped unexpectedly; all labels are saved. Run the command again to "
                "continue"
            )


def refuse_without_voila() -> None:
    """Raise an error if Voila is not installed."""
    if importlib.util.find_spec("voila") is None:
        raise ValueError(
            'the labeling desk needs Voila. Install it: pip install "evaluation-workbench[voila]"'
        )


def _write_notebook(path: Any, parameters: Any) -> None:
    import nbformat
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    notebook = load_notebook_node(str(notebooks_folder() / NOTEBOOK))
    nbformat.write(parameterize_notebook(notebook, dict(parameters)), path)


def _page_to(address: str, page: Path) -> Path:
    """Write a page that leads to the address, because all users can see a browser's arguments."""
    page.touch(0o600, exist_ok=False)
    page.write_text(
        '<!doctype html><meta charset="utf-8"><title>Labeling desk</title><meta '
        'http-equiv="refresh" '
        f'content="0; url={address}"><a href="{address}">Labeling desk</a>\n',
        encoding="utf-8",
    )
    return page


@contextlib.contextmanager
def _voila(folder: str, port: int, token: str) -> Iterator[Any]:
    """Start Voila in its own process group, so that Ctrl-C reaches only this process.

    This process then stops Voila in order. If it is killed, Voila stops when its standard input
    ends.
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
    """Leave the block in order after Ctrl-C, a signal to stop, or a closed terminal."""

    def end(number: Any, frame: Any) -> Any:
        raise KeyboardInterrupt

    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [signal.signal(number, end) for number in signals]
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _wait(process: Any, port: Any, log: Any) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(0.1)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise ValueError(f"Voila did not start: {(lines or ['it gave no message'])[0]}")


def _free_port(port: Any) -> int:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            raise ValueError(
                f"port {port} cannot be used: {error.strerror}; remove --port to use a free one"
            ) from error
        return probe.getsockname()[1]
