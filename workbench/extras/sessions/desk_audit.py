"""The audit that the labeling desk opens: one of the user's, or an example of digit forms that goes on where it is."""

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable

import numpy as np

from workbench.course.digit_forms import digit_forms
from workbench.extras.sessions.session import AuditItem, AuditSession
from workbench.extras.sessions.store import check_who
from workbench.labeling.images import image_folder
from workbench.labeling.plans import item_digest

EXAMPLE, EXAMPLE_BUDGET = "desk-audit.db", 20


def read(
    *, audit: str = "", images: str = "", image: str = "", by: str = ""
) -> tuple[AuditSession, Callable | None]:
    """Return an audit, and what draws its items: digit forms are drawn, other items show their columns or images.

    Parameters
    ----------
    audit : str
        File of an audit; "" for one of 20 digit forms that asks for the true digit. In JupyterLab this is the
        file desk-audit.db beside the notebook, made where there is none; elsewhere it is lost when the program ends.
    images, image, by
        As in `workbench.extras.sessions.desk.desk`, "" for none.

    Returns
    -------
    session : AuditSession
    render : callable or None

    Raises
    ------
    ValueError
        If there is no such audit or folder, or the name is none.

    Examples
    --------
    >>> session, render = read()
    >>> session.status().budget, render(session.next()[0]).shape
    (20, (8, 8))
    """
    check_who(by or None)
    if images:
        image_folder(images)
    session = AuditSession.open(audit) if audit else _example()
    return session, None if images or not _is_of_forms(session) else drawn_form


def drawn_form(item: AuditItem) -> np.ndarray:
    """Return the image of a digit form, (8, 8) gray values from 0, ink, to 1."""
    return 1 - digit_forms().image[int(item.id) - 1] / 16


def passing_folder() -> str:
    """Return a new folder that is removed when the program ends."""
    folder = tempfile.mkdtemp(prefix="workbench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _example() -> AuditSession:
    # a Jupyter server tells its kernels the notebook's name: only there is somebody who comes back to the file
    path = (
        EXAMPLE if os.environ.get("JPY_SESSION_NAME") else os.path.join(passing_folder(), EXAMPLE)
    )
    if os.path.exists(path):
        return AuditSession.open(path)
    return AuditSession.create(path, digit_forms().items(), budget=EXAMPLE_BUDGET, asks="truth")


def _is_of_forms(session: AuditSession) -> bool:
    design = session.design
    return design["items"] == digit_forms().digit.size and design["scores"] in _hashes()


@functools.cache
def _hashes() -> set[str]:
    return {item_digest(digit_forms().items(reader)) for reader in ("a", "b")}
