"""Check of the ids of learners, which become names of folders."""

import re

LONGEST_ID = 64
_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{k}" for port in ("com", "lpt") for k in range(10)),
}


def id_problem(student: str) -> str:
    """Return the reason why an id cannot be the name of a folder on every system, or ''.

    Parameters
    ----------
    student : str

    Examples
    --------
    >>> id_problem("ada.l-1815"), id_problem("")
    ('', 'is empty')
    >>> id_problem("con.txt")
    'is a name that Windows reserves'
    """
    if not student:
        return "is empty"
    if len(student) > LONGEST_ID:
        return f"must have at most {LONGEST_ID} characters"
    if not _ALLOWED.fullmatch(student) or student.endswith("."):
        return (
            "must hold only letters A to Z and a to z, digits and . _ - @, begin with a letter or "
            "digit, and not end with a dot"
        )
    return "is a name that Windows reserves" if student.split(".")[0].lower() in _RESERVED else ""
