"""The Python process that runs a report's notebook: started, listened to and ended."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

START_LIMIT = 60
# ends the kernel with the process that started it, however that ends; ipykernel alone looks once a second. Most of what
# a report makes stays: looking through it for circles as often as Python does takes a tenth of the time
_START = """\
import gc, os, sys
if sys.path[:1] == [""]:
    del sys.path[0]
if sys.platform == "linux":
    import ctypes, signal
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(os.environ["JPY_PARENT_PID"]):
        sys.exit(1)
gc.set_threshold(100_000)
sys.modules["debugpy"] = None      # nobody steps through a report, and a debugger takes half a second
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


class KernelStartError(Exception):
    """The kernel did not answer in time, or ended before it answered."""


class KernelDiedError(KernelStartError):
    """The kernel ended before it answered."""


@contextlib.contextmanager
def kernel_managers(environment: dict | None = None) -> Iterator[type]:
    """Yield a class of kernel managers that start this interpreter, whatever kernels are registered.

    `environment` is what the kernels find in theirs beside what this process has.
    When the context ends, so has every kernel that was started: what nbclient cleans up after an error it
    leaves after Ctrl-C.
    """
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync
    from traitlets import default

    spec, client_class, managers, clients = _kernel_spec(environment or {}), _client_class(), [], []

    class ThisInterpreter(AsyncKernelManager):
        kernel_spec = property(lambda self: spec)

        @default("client_factory")
        def _client_factory_default(self) -> type:
            return client_class

        def client(self, **options: Any) -> Any:
            clients.append(super().client(**options))
            return clients[-1]

        def start_kernel(self, **options: list[str] | str) -> Any:
            managers.append(self)
            # errors come as messages; what a kernel still prints when it ends is none of the user's business
            return super().start_kernel(**options, stderr=subprocess.DEVNULL)

    try:
        yield ThisInterpreter
    finally:
        for client in clients:
            client.stop_channels()
        for manager in managers:
            if manager.has_kernel:
                run_sync(manager.shutdown_kernel)(now=True)


def _kernel_spec(environment: dict) -> Any:
    from jupyter_client.kernelspec import KernelSpec

    argv = [
        sys.executable,
        "-c",
        _START,
        "-f",
        "{connection_file}",
        "--log-level=CRITICAL",
        "--InteractiveShellApp.ignore_cwd=True",
    ]
    env = {
        "PYTHONWARNINGS": "",
        "TQDM_DISABLE": "1",
        "OMP_NUM_THREADS": "1",
        **_python_path(),
        **environment,
    }
    return KernelSpec(argv=argv, env=env, language="python", display_name="Python")


def _python_path() -> dict:
    root = Path(__file__).resolve().parents[2]
    if root.name in ("site-packages", "dist-packages"):
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))}


def _client_class() -> type:
    """Return a class of kernel clients for which a kernel that shows something is not silent."""
    from jupyter_client.asynchronous import AsyncKernelClient
    from jupyter_client.channels import AsyncZMQSocketChannel
    from traitlets import Type

    heard = [time.monotonic()]

    class Shown(AsyncZMQSocketChannel):
        async def get_msg(self, timeout: float | None = None) -> dict:
            message = await super().get_msg(timeout)
            heard[0] = time.monotonic()
            return message

    class Replies(AsyncZMQSocketChannel):
        async def get_msg(self, timeout: Any = None) -> dict:
            left = timeout
            while True:
                try:
                    return await super().get_msg(left)
                except Empty:
                    left = timeout - (time.monotonic() - heard[0])
                    if left <= 0:
                        raise

    class Client(AsyncKernelClient):
        shell_channel_class = Type(Replies)
        iopub_channel_class = Type(Shown)

        async def wait_for_ready(self, timeout: int | None = None) -> None:
            try:
                await super().wait_for_ready(timeout)
            except RuntimeError as error:
                died = not await self._async_is_alive()
                raise (KernelDiedError if died else KernelStartError)(str(error)) from error
            # nobody reads it again, and it would stay if this process were killed
            Path(self.connection_file).unlink(missing_ok=True)

    return Client
