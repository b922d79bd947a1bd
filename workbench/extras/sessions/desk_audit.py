"""The audit that the labeling desk opens: one of the user's, or an example of digit forms."""

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
    """Return an audit, and a function that draws its items if they are digit forms.

    Parameters
    ----------
    audit : str
        File of an audit. "" is an example of 20 digit forms that asks for the true digit. In
        JupyterLab, the example is kept in the file desk-audit.db next to the notebook. Elsewhere it
        is lost when the program ends.
    images, image, by
        As in `workbench.extras.sessions.desk.desk`. "" is none.

    Returns
    -------
    session : AuditSession
        The audit.
    render : callable or None
        Function that draws an item, None for its columns or images.

    Raises
    ------
    ValueError
        If the audit or the folder does not exist, or the name is not valid.

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
    """Return the image of a digit form, (8, 8) gray values from 0 (ink) to 1."""
    return 1 - digit_forms().image[int(item.id) - 1] / 16


def passing_folder() -> str:
    """Return a new folder that is removed when the program ends."""
    folder = tempfile.mkdtemp(prefix="workbench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _example() -> AuditSession:
    # only a kernel of a Jupyter server knows its notebook; elsewhere nobody returns to the file
    path = (
        EXAMPLE if os.environ.get("JPY_SESSION_NAME") else os.path.join(passing_folder(), EXAMPLE)
    )
    if os.path.exists(path):
        return AuditSession.open(path)
    return AuditSession.create(
        path, digit_forms().items(), budget=EXAMPLE_BUDGET, n_strata=5, asks="truth"
    )


def _is_of_forms(session: AuditSession) -> bool:
    design = session.design
    return design["items"] == digit_forms().digit.size and design["scores"] in _hashes()


@functools.cache
def _hashes() -> set[str]:
    return {item_digest(digit_forms().items(reader)) for reader in ("a", "b")}
