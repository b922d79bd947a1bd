"""The scene of lesson 1 in which the learner labels twenty digit forms at the desk."""

import base64
import html
import os
from typing import Any

import ipywidgets
import numpy as np

from workbench.course.digit_forms import digit_forms
from workbench.data.scored_items import ScoredItems
from workbench.extras.sessions.desk import desk
from workbench.extras.sessions.desk_audit import drawn_form, passing_folder
from workbench.extras.sessions.session import AuditSession
from workbench.labeling.images import png_of
from workbench.stratified.strata import stratify
from workbench.widgets import questions

FIFTHS = {"least sure": 0, "surest": 4}


class LabelTen(questions.Told):
    """The desk with ten digits of low and ten of high confidence, and a table at the end."""

    def __init__(self, seed: int) -> None:
        self._ten, self._rates = _ends(seed)
        forms, chosen = digit_forms(), np.concatenate([*self._ten.values()])
        items = ScoredItems(chosen + 1, forms.confidence[chosen], forms.read_a[chosen])
        # one stratum, so that both ends come in mixed order
        self.session = AuditSession.create(
            os.path.join(passing_folder(), "ten-of-each.db"),
            items,
            n_strata=1,
            budget=items.size,
            asks="truth",
            seed=seed,
        )
        self.desk, self.told = desk(self.session, render=drawn_form, looks=False), ipywidgets.HTML()
        super().__init__([self.desk, self.told])
        self.desk.observe(self._tell, "done")

    def _tell(self, change: Any) -> None:
        self.told.value = compared(self._ten, self._mine(), self._rates) if change["new"] else ""

    def _mine(self) -> dict:
        """Return the learner's reading of each form, "" if it was skipped."""
        with AuditSession.open(
            self.session.path
        ) as session:  # because a kernel may answer in another thread
            labels = {
                k: session.history(k + 1)[-1].label for k in np.concatenate([*self._ten.values()])
            }
        return {k: label or "" for k, label in labels.items()}

    @property
    def said(self) -> str:
        """Return the desk as text."""
        return f"{self.desk!r}, ten of the least sure and ten of the surest fifth"


def label_ten(seed: int = 1) -> LabelTen:
    """Return the desk where the learner reads ten forms of each end.

    Parameters
    ----------
    seed : int
        Seed of the random sample and its order.

    Returns
    -------
    LabelTen
        A VBox.
    """
    return LabelTen(seed)


def _ends(seed: Any) -> Any:
    """Return ten forms of the lowest and highest fifth, and the proportion misread in each."""
    forms, rng = digit_forms(), np.random.default_rng(seed)
    strata = stratify(forms.confidence, 5, "equal_size")
    fifths = {name: np.flatnonzero(strata.labels == k) for name, k in FIFTHS.items()}
    rates = {
        name: float((forms.read_a != forms.digit)[fifth].mean()) for name, fifth in fifths.items()
    }
    return {name: rng.choice(fifth, 10, replace=False) for name, fifth in fifths.items()}, rates


def compared(ten: dict, mine: dict, rates: dict) -> str:
    """Return a table of the learner's, the program's and the official readings.

    Parameters
    ----------
    ten : dict of str to (10,) array of int
        Forms, counted from 0, by the name of their fifth.
    mine : dict of int to str
        The learner's reading of each form.
    rates : dict of str to float
        Proportion of incorrect readings in the whole fifth.
    """
    forms, rows, summary = digit_forms(), "", ""
    for name, chosen in ten.items():
        program, truth = forms.read_a[chosen], forms.digit[chosen]
        rows += f"<tr><th scope='rowgroup' colspan='4'>The {name} fifth</th></tr>" + "".join(
            f"<tr><td>{_drawing(k)}</td><td>{_marked(mine[k], t)}</td>"
            f"<td>{_marked(p, t)}</td><td>{t}</td></tr>"
            for k, p, t in zip(chosen.tolist(), program, truth, strict=True)
        )
        yours = sum(
            mine[k] not in ("", str(t)) for k, t in zip(chosen.tolist(), truth, strict=True)
        )
        summary += (
            f"<p>The {name} fifth: the program misread {(program != truth).sum()} of these ten "
            f"forms, you misread {yours}. In the whole fifth, the program misreads "
            f"{rates[name]:.1%} of the forms, which is {10 * rates[name]:.1f} of ten on "
            "average.</p>"
        )
    heads = "".join(
        f"<th scope='col'>{name}</th>" for name in ("form", "you", "program", "official label")
    )
    return (
        f"<div role='status'>{summary}<p>The official label is a reading, too. It may be "
        "incorrect.</p></div><table style='border-spacing: 20px 2px; text-align: "
        "left'><caption>\u2717 differs from the official "
        f"label</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _marked(reading: int | str, truth: int) -> str:
    text = html.escape(str(reading)) or "skipped"
    return text if text == str(truth) else f"<strong>{text} \u2717</strong>"


def _drawing(k: int) -> str:
    picture = base64.b64encode(png_of(1 - digit_forms().image[k] / 16)).decode()
    return (
        f"<img alt='form {k + 1}' width='32' height='32' style='image-rendering: pixelated' "
        f"src='data:image/png;base64,{picture}'>"
    )
