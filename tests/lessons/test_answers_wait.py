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
from workbench.widgets.kept import Kept
from workbench.widgets.questions import LOOK, Prediction

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TAUGHT = [module for module in lessons.parts("views") if hasattr(module, "ANSWERS")]


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
    keeping = Kept()
    monkeypatch.setattr(questions, "kept", lambda: keeping)
    monkeypatch.delenv(questions.REVEAL, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("module", TAUGHT, ids=lambda module: module.__name__.split(".")[-2])
def test_no_answer_is_on_the_screen_before_its_question_is_answered(module, learner):
    asked = set()
    for name, screen in walk(module):
        assert [answer for answer in module.ANSWERS.get(name, ()) if told(answer, screen)] == [], (
            name
        )
        asked.add(name)
    assert set(module.ANSWERS) <= asked
    assert len(TAUGHT) == len(lessons.LESSONS) and {
        name for name in asked if name in exercises()
    } == {number for number in exercises() if number[0] == next(iter(asked))[0]}


def test_what_is_looked_for_is_found():
    assert (
        told(".0281", "it is .0281.")
        and not told("42", "142 or 42.5"[:3])
        and not told("81", "1,810")
    )
