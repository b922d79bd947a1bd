"""Nothing that a prediction, a task or an exercise asks for is on the screen before it is answered."""

import ast
import json
import re
from pathlib import Path

import ipywidgets
import pytest

from workbench import lessons
from workbench.lessons.checking import Feedback, exercises
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import LOOK, Prediction
from workbench.widgets.saved_answers import SavedAnswers

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# what must not be on the screen before a prediction is locked, its button is pressed (look), or an
# exercise is answered
ANSWERS = {
    "0-sure": ("87.7%", "0.877", ".877"),
    "1-gain": (".0281", "0.0281", "12%", "31%"),
    "1-gain look": ("3.04", "5.24", "1.04"),
    "1-robot": ("41%", "45%", "53%", "66%"),
    "1-robot look": ("2.58", "4.02"),
    "1-looking": ("17.5%", "35 of 200", "20.9%"),
    "1-twin": ("462",),
    "1-twin look": ("4,146", "1,254"),
    "1.1": (".02875", ".0288"),
    "1.2": ("42 / 30", "42, 30"),
    "1.3": ("298", "188"),
    "1.4": ("40/28", "40, 28"),
    "2-worth": ("543", "3.31"),
    "2-worth look": ("120",),
    "2-eight look": ("0.0116", "-18%"),
    "2-pairs": ("1 and 5", "2 and 6"),
    "2-coverage": ("72.8%",),
    "2.1": (".0205",),
    "2.2": ("81",),
    "2.3": ("1,182", "32.9"),
    "2.4": (".7688", ".769", ".0432"),
    "3-thousands": ("4,148", "42", "18"),
    "3-thousands look": ("42.1", "18.0", "17.9"),
    "3-better": ("3,873", "4,606", "144"),
    "3-better look": ("144",),
    "3-infinite": ("62%", "18%"),
    "3-infinite look": ("62%", "18%"),
    "3-following": ("1.37", "1.4"),
    "3.1": ("1.151", "2.275", "50.6"),
    "3.2": ("10 / 17", "10, 17"),
    "3.4": ("5 / 32", "5, 32", "5/32", "6 / 32"),
    "4-line": ("12.8%", "55%"),
    "4-reader": ("183",),
    "4-best": ("16.2%", "1.21", "1.10", "2.48"),
    "4-best look": ("3.08", "2.36", "0.94"),
    "4-change": ("1.2 points",),
    "4-judge": ("adds .8 - .2",),
    "4.1": (".150",),
    "4.2": (".1542", ".1322"),
    "4.5": (".596",),
    "4.4": (".0291", ".0062"),
    "5-repeats": ("8.1%", "57%", "60.0%"),
    "5-repeats look": ("0.0143", "0.014"),
    "5-flip": (".112",),
    "5-flip look": (".112", ".133", ".221"),
    "5-skeptic": ("30%", "0.30"),
    "5-chosen": ("10.0 points", "73%"),
    "5-winner": ("92.0%", "92%"),
    "5-winner look": ("92.0%", "88.8%"),
    "5.1": ("2.847", "1.559"),
    "5.2": (".368", ".189"),
    "5.3": ("1.437", "1.44"),
}


def parts(shown):
    """Return a widget and all that is inside it."""
    inside = [part for child in getattr(shown, "children", ()) for part in parts(child)]
    return [shown, *inside]


def texts(shown):
    """Return what is written on the screen where something is shown."""
    found = []
    for part in parts(shown):
        if isinstance(part, ChartView):
            found += [part.alternative, " ".join(part.picture["params"].get("heading", []))]
            found += [
                row["text"]
                for rows in part.picture["data"].values()
                for row in rows
                if "text" in row
            ]
        elif isinstance(part, ipywidgets.HTML):
            found.append(part.value)
        elif not isinstance(part, ipywidgets.Widget):
            found += [repr(part), getattr(part, "_repr_html_", str)()]
    return [text for text in found if isinstance(text, str)]


def cells(module):
    """Return the lesson's cells: a text, or what a code cell shows at its end."""
    topic = module.__name__.split(".")[-2]
    path = NOTEBOOKS / f"{lessons.LESSONS[topic]}.ipynb"
    names = {"display": lambda *shown: None}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if source.startswith("## Your own data"):
            return
        if cell["cell_type"] == "markdown":
            yield source
            continue
        *before, last = ast.parse(source).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            yield eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)


def opened(shown):
    """Yield the name under which each question inside is known, and what answers it, as long as there are some."""
    for part in parts(shown):
        if isinstance(part, Prediction):
            yield part.name, lambda part=part: lock(part)
        elif isinstance(part, ipywidgets.Button) and part.description == LOOK:
            yield LOOK, part.click


def lock(asked):
    options = getattr(asked.control, "options", None)
    asked.control.value = options[0] if options else [0.1] * 12
    asked._lock.click()


def walk(module):
    """Yield what is asked and the whole screen above it, before it is answered."""
    screen, asked = [], ""
    for shown in cells(module):
        screen.append(shown)
        done = set()
        while True:
            waiting = [
                (name, act) for name, act in opened(shown) if act not in done and name not in done
            ]
            if not waiting:
                break
            name, act = waiting[0]
            asked = asked if name == LOOK else name
            yield (
                (f"{asked} look" if name == LOOK else name),
                "\n".join(text for s in screen for text in texts(s)),
            )
            act()
            done.add(name)
        if isinstance(shown, Feedback):
            yield shown.exercise, "\n".join(text for s in screen for text in texts(s))


def told(answer, screen):
    return re.search(rf"(?<![\d.]){re.escape(answer)}(?![\d])", screen)


@pytest.fixture
def learner(monkeypatch):
    keeping = SavedAnswers()
    monkeypatch.setattr(questions, "saved_answers", lambda: keeping)
    monkeypatch.delenv(questions.REVEAL, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", lessons.parts("views"), ids=lambda module: module.__name__.split(".")[-2]
)
def test_no_answer_is_on_the_screen_before_its_question_is_answered(module, learner):
    asked = set()
    for name, screen in walk(module):
        assert [answer for answer in ANSWERS.get(name, ()) if told(answer, screen)] == [], name
        asked.add(name)
    lesson = next(iter(asked))[0]
    assert {name for name in ANSWERS if name[0] == lesson} <= asked
    assert {name for name in asked if name in exercises()} == {
        number for number in exercises() if number[0] == lesson
    }


def test_what_is_looked_for_is_found():
    assert (
        told(".0281", "it is .0281.")
        and not told("42", "142 or 42.5"[:3])
        and not told("81", "1,810")
    )
