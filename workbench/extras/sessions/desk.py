"""The labeling desk: a widget that shows one item at a time, with a key for each label.

The desk confirms a label after `AuditSession.record` has saved it. The state is in the file, so the
page can be loaded again and the kernel can be restarted. If the audit asks for the true class, the
desk shows neither prediction nor stratum. It shows the interval only on request, because a changing
interval would show whether the last prediction was correct. Each request is recorded as an interim
analysis.
"""

import shlex
import string
import threading
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench import checks
from workbench.extras.sessions.session import AuditItem, AuditSession
from workbench.extras.sessions.sheets import answers_of, reader
from workbench.labeling.answers import OTHER
from workbench.labeling.images import image_folder, image_type, png_of, read_image
from workbench.results import sentences

UNDO, SKIP = "u", "s"
_KEYS = [key for key in "1234567890" + string.ascii_lowercase if key not in (UNDO, SKIP)]
MOST_TEXT = 100_000  # largest number of characters of a column
SHOWN_ID = 200
# control characters, and those that change the direction of text, are shown by number
_UNSEEN = {
    code: f"\\u{code:04x}"
    for code in (
        *range(9),
        *range(11, 32),
        *range(127, 160),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}


class Desk(anywidget.AnyWidget):
    """A widget to label items, made by `desk`.

    Attributes
    ----------
    done : bool
        Whether no item is left for this annotator. It is an observable trait.
    """

    _esm = Path(__file__).with_name("desk.js")
    _css = Path(__file__).with_name("desk.css")
    labels: Any = traitlets.List().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    picture = traitlets.Bytes().tag(sync=True)
    done = traitlets.Bool(False)

    def __init__(
        self,
        session: AuditSession,
        *,
        labels: dict,
        render: Callable | None,
        images: Path | None,
        image: str,
        by: str | None,
        looks: bool,
    ) -> None:
        self._path, self._design, self._by, self._sessions = session.path, session.design, by, {}
        self._sessions[threading.get_ident()] = session
        self._render, self._images, self._image = render, images, image
        self._values = list(labels)
        self._item: Any = None
        self._aside: set[str] = set()
        super().__init__(labels=_buttons(labels), words=_words(self._design, by, looks))
        self._acts = {
            "label": self._label,
            "skip": self._skip,
            "undo": self._undo,
            "look": self._look,
        }
        self._take()
        self._show("")
        self.on_msg(self._answer)

    @property
    def session(self) -> AuditSession:
        """Return the audit, one for each thread, because JupyterLab uses several."""
        thread = threading.get_ident()
        if thread not in self._sessions:
            self._sessions[thread] = AuditSession.open(self._path)
        return self._sessions[thread]

    def __repr__(self) -> str:
        progress = self.page["progress"]
        return f"Desk({progress['done']} of {checks.counted(progress['budget'], 'item')} done)"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return data | {"text/plain": repr(self)}, metadata

    def _answer(self, _: "Desk | None", content: dict, buffers: list) -> None:
        """Do what a page requests, unless it shows an older item, as after a second key press."""
        if content.get("turn") != self.page["turn"]:
            return self._show("Not recorded, because the page showed an older item.", trouble=True)
        try:
            message = self._acts[content.get("kind", "")](content)
        except ValueError as error:
            return self._show(f"Not recorded: {error}.", trouble=True)
        self._show(*message)

    def _label(self, content: dict) -> tuple:
        value, item = self._values[content["label"]], self._item
        if not self._holds(item):
            self._take()
            return (
                "Not recorded, because the item is labeled by now or assigned to somebody else.",
            )
        done = {"known": "Already recorded"}.get(
            self.session.record(item.id, value, self._by), "Recorded"
        )
        self._take()
        return (f"{done}: {self.labels[content['label']]['text']} for item {_told(item.id)}.",)

    def _skip(self, content: dict) -> tuple:
        item = self._item
        second = self._holds(item) and bool(self.session.history(item.id))
        if second:  # a first label stays what it is
            self._aside.add(item.id)
        elif self._holds(item):
            self.session.skip(item.id, self._by)
        self._take()
        return (
            f"{'Set aside (its first label stays)' if second else 'Skipped'}: item "
            f"{_told(item.id)}.",
        )

    def _undo(self, content: dict) -> tuple:
        name = self.session.undo(self._by)
        self._take(name)
        return (f"Your last label or skip, of item {_told(name)}, was undone.",)

    def _look(self, content: dict) -> tuple:
        estimate = self.session.estimate("planned", self._by)
        lines = [
            estimate.headline(),
            estimate.uncorrected(),
            estimate.gain(),
            *sentences(estimate.notes),
        ]
        return "This was recorded as an interim analysis.", [
            _sentence(line) for line in lines if line
        ]

    def _holds(self, item: AuditItem) -> bool:
        return item is not None and item.id in [
            assigned.id for assigned in self.session.held(self._by)
        ]

    def _take(self, first: str | None = None) -> None:
        """Take the next item: one that is already assigned to this annotator, or a new one."""
        items = self._held()
        if not items or first is not None:
            self.session.next(1, self._by)
            items = self._held()
        self._item = next((item for item in items if item.id == first), next(iter(items), None))

    def _held(self) -> list:
        return [item for item in self.session.held(self._by) if item.id not in self._aside]

    def _show(self, message: str, look: list | tuple = (), trouble: bool = False) -> None:
        status = self.session.status()
        content, picture = self._shown(self._item) if self._item else (None, b"")
        open_items = status.open + status.pending
        page = {
            "turn": self.page.get("turn", 0) + 1,
            "item": content,
            "said": message,
            "trouble": trouble,
            "look": list(look),
            "progress": {
                "done": status.budget - open_items,
                "budget": status.budget,
                "text": _progress(status),
            },
            "end": "" if self._item else self._end(status, open_items),
        }
        with self.hold_sync():
            self.picture, self.page = picture, page
        self.done = self._item is None

    def _end(self, status: Any, open_items: int) -> str:
        if open_items or self._aside:
            aside = f", and you set {len(self._aside)} aside" * bool(self._aside)
            out = checks.counted(open_items - status.coming, "item is", "items are")
            return (
                f"No item is left for you now: {out} assigned to others{aside}. Load this page "
                "again later."
            )
        done = (
            f"Done: {status.labeled} of {checks.counted(status.budget, 'item')} labeled, "
            f"{status.skipped} could not be labeled."
        )
        if not self.words["look"]:
            return done
        return (
            f"{done} For the result, run: workbench audit report {shlex.quote(self._path)} -o "
            f"audit.html"
        )

    def _shown(self, item: AuditItem) -> tuple:
        """Return the content of a page about an item, and the bytes of its image."""
        columns, picture, trouble = (
            {name: item.shown[name] for name in self._design["columns"]},
            b"",
            "",
        )
        prediction = item.shown.get("prediction")
        try:
            if self._render is not None:
                columns, picture = _rendered(self._render(item), columns)
            elif self._images is not None:
                picture = read_image(self._images, columns.pop(self._image, item.id))
        except Exception as error:  # an error of a user's renderer must not stop the desk
            trouble = (
                f"This item cannot be shown: {_told(error, MOST_TEXT) or type(error).__name__}"
            )
        alternative = columns.pop("alt", "") if picture else ""
        return {
            "id": _told(item.id),
            "prediction": prediction and _told(prediction, MOST_TEXT),
            "trouble": trouble,
            "columns": [[_told(name), _told(text, MOST_TEXT)] for name, text in columns.items()],
            "type": image_type(picture),
            "alt": _told(alternative) or f"Item {_told(item.id)}",
        }, picture


def desk(
    session: AuditSession,
    *,
    labels: Sequence | Mapping | None = None,
    render: Callable | None = None,
    images: str | PathLike[str] | None = None,
    image: str | None = None,
    by: str | None = None,
    looks: bool = True,
) -> Desk:
    """Return a desk to label the items of an audit, one at a time.

    Each label has a key. S skips an item, and U (or Backspace, Ctrl+Z) undoes the last step. If the
    audit asks for the true class (`asks="truth"`), the desk shows neither prediction nor stratum.
    Otherwise, it shows the prediction. Each request of the interval is recorded as an interim
    analysis.

    Parameters
    ----------
    session : AuditSession
        The audit. The desk continues with its next item.
    labels : list or dict, optional
        The labels to choose from, in order. A dict has the words for them, as in
        ``{1: "fraud", 0: "none"}``. The default is correct and incorrect, or all predicted classes
        and "other".
    render : callable, optional
        Takes an `AuditItem` and returns its content: text, the bytes of a PNG, JPEG, GIF or WebP
        image, or an array. An array is (H, W) or (H, W, 3), of whole numbers from 0 to 255 or
        floats from 0 to 1. The default shows the columns.
    images : str or path, optional
        A folder of images, which may be in subfolders. Each item shows one of them.
    image : str, optional
        The column with the name of the image file. The default is "image", or the identifier
        without such a column. A column "alt" has the alternative text of images.
    by : str, optional
        Name of the annotator.
    looks : bool
        Whether the desk can show the interval.

    Returns
    -------
    Desk
        The widget.

    Raises
    ------
    ValueError
        If a label is not one of the audit, a folder or a column does not exist, or a name is
        missing in an audit with double annotation.

    Examples
    --------
    >>> import tempfile
    >>> import workbench as wb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     items = wb.digit_forms().items()
    ...     audit = wb.AuditSession.create(folder + "/digits.db", items, budget=20, asks="truth")
    ...     print(desk(audit))
    ...     audit.close()
    Desk(0 of 20 items done)
    """
    design = checks.instance("session", session, AuditSession).design
    if render is not None and not callable(render):
        raise checks.WrongValue(
            "render", f"must be a function of an item; got {checks.listed([render], quoted=True)}"
        )
    if render is not None and images:
        raise ValueError("give render or images, not both")
    if image and image not in (*design["columns"], "id"):
        raise checks.WrongValue(
            "image",
            "must be a column that the audit shows, "
            f"{checks.listed(design['columns']) or 'none'}, or 'id'",
            image,
        )
    folder = image_folder(images) if images else None
    return Desk(
        session,
        labels=_choices(labels, design),
        render=render,
        images=folder,
        image=image or "image",
        by=by or None,
        looks=looks,
    )


def _choices(labels: Any, design: dict) -> dict:
    """Return the labels to choose from with their words."""
    read = reader(design)
    texts: dict = {name: name for name in answers_of(design)}
    if design["asks"] == "correct":
        texts = {1: "correct", 0: "incorrect"}
    if labels is None:
        return texts
    text_of = labels
    if not isinstance(labels, Mapping):
        text_of = dict.fromkeys(checks.each("labels", labels))
    chosen = {
        read(label): str(word if word is not None else texts[read(label)])
        for label, word in text_of.items()
    }
    if len(chosen) < 2 or len(chosen) < len(text_of) or len(set(chosen.values())) < len(chosen):
        raise checks.WrongValue(
            "labels",
            "must be at least two different labels with different words; got "
            f"{checks.listed(text_of, quoted=True)}",
        )
    return chosen


def _buttons(labels: dict) -> list:
    """Return text and key of each label.

    The key is the label if it is a single character, "o" for other, or the next free key.
    """
    own: dict = {}
    for value, text in labels.items():
        key = "o" if value == OTHER else str(text).casefold()
        if key in _KEYS and key not in own.values():
            own[value] = key
    if set(labels) == {0, 1}:
        own = {1: "1", 0: "0"}
    free = iter([key for key in _KEYS if key not in own.values()])
    return [
        {"text": _told(text), "key": own[value] if value in own else next(free, "")}
        for value, text in labels.items()
    ]


QUESTIONS = {
    "correct": "Is the prediction correct?",
    "truth": "What is the true class?",
    "which": "Which answer is correct?",
}


def _words(design: dict, by: str | None, looks: bool) -> dict:
    blind = design["asks"] != "correct"
    who = f" Labels are recorded for {_told(by)}." if by else ""
    mode = (
        "This audit is blind: you see neither the prediction nor the stratum."
        if blind
        else "This audit is not blind: you see the prediction, and the report says so."
    )
    return {
        "question": QUESTIONS[design["asks"]],
        "mode": mode + who,
        "look": "show the interval (recorded)" if looks else "",
    }


def _rendered(content: Any, columns: dict) -> tuple:
    """Return columns and image from the result of a renderer; of the columns, only "alt" stays."""
    if isinstance(content, str):
        return {"": content}, b""
    picture = (
        bytes(content) if isinstance(content, (bytes, bytearray, memoryview)) else png_of(content)
    )
    if not image_type(picture):
        raise checks.WrongValue(
            "render", "must return text, the bytes of a PNG, JPEG, GIF or WebP image, or an array"
        )
    return {name: text for name, text in columns.items() if name == "alt"}, picture


def _progress(status: Any) -> str:
    """Return the progress, the pace, and the time left at that pace."""
    open_items = status.open + status.pending
    progress = f"{status.budget - open_items:,} of {status.budget:,}"
    if status.skipped:
        progress += f", {status.skipped} could not be labeled"
    if status.pace == status.pace and open_items:
        minutes, pace = 60 * open_items / status.pace, status.pace / 60
        time = (
            f"about {checks.counted(round(minutes), 'minute')}"
            if 1 <= minutes < 120
            else f"about {minutes / 60:.0f} hours"
            if minutes >= 120
            else "less than a minute"
        )
        progress += (
            f" \u00b7 {pace:.{0 if pace >= 10 else 1}f} labels per minute \u00b7 {time} left"
        )
    return progress


def _told(text: Any, most: Any = SHOWN_ID) -> str:
    """Return a user's text, cut to a length and with special characters shown by number."""
    text = str(text)
    more = f" … ({len(text) - most:,} more characters)" if len(text) > most else ""
    return text[:most].translate(_UNSEEN) + more


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}" + "." * (text[-1] != ".")
