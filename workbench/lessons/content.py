"""The texts of a lesson: its questions with their feedback, and its exercises.

Each lesson has them in `content.yaml` in its folder, where a lecturer can edit them. `lesson_texts`
returns the `LessonTexts` of a lesson. The file is read when a text is first needed.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.lessons.exercise import Exercise
from workbench.widgets import questions
from workbench.widgets.questions import Explanation, Prediction


class LessonTexts:
    """The texts of a lesson.

    Parameters
    ----------
    folder : path
        Folder with `content.yaml`.

    Examples
    --------
    >>> texts = lesson_texts("start")
    >>> texts.predict("0-sure").control.options
    ('97%', '93%', '88%', '75%')
    >>> texts.value("0-sure", "93%")
    0.93
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @functools.cached_property
    def _content(self) -> dict:
        import yaml

        with (self._folder / "content.yaml").open(encoding="utf-8") as file:
            return yaml.safe_load(file)

    def predict(self, name: str, **values: Any) -> Prediction:
        """Return a question with choices; values fill the placeholders of its text."""
        return questions.predict(name, self.question(name, **values), self.feedback(name))

    def question(self, name: str, **values: Any) -> str:
        """Return the text of a question; values fill its placeholders."""
        return self._content["predictions"][name]["question"].format(**values)

    def feedback(self, name: str) -> dict[str, str]:
        """Return the feedback on each choice of a question."""
        return self._by_choice(name, "feedback")

    def values(self, name: str) -> dict[str, Any]:
        """Return the value of each choice of a question, such as 0.97 for 97%."""
        return self._by_choice(name, "value")

    def _by_choice(self, name: str, field: str) -> dict[str, Any]:
        choices = self._content["predictions"][name]["choices"]
        return {str(entry["choice"]): entry[field] for entry in choices}

    def value(self, name: str, predicted: str | None) -> Any:
        """Return the value of a learner's choice, or None without a prediction."""
        return self.values(name).get(predicted)

    def answered(self, name: str, predicted: str | None) -> list[str]:
        """Return a learner's choice with the feedback on it, or an empty list without one."""
        return questions.answered(self.feedback(name), predicted)

    def explain(self, name: str) -> Explanation:
        """Return a question that is answered in two written lines."""
        return Explanation(name, **self._content["explanations"][name])

    def exercises(self, code: Mapping[str, Mapping]) -> dict[str, Exercise]:
        """Return the exercises by number; `code` has those attributes that are functions."""
        exercises = {}
        for number, texts in self._content["exercises"].items():
            try:
                exercises[number] = Exercise(**texts, **code.get(number, {}))
            except (TypeError, ValueError) as error:
                error.add_note(f"{self._folder / 'content.yaml'}, exercise {number}")
                raise
        return exercises


@functools.cache
def lesson_texts(topic: str) -> LessonTexts:
    """Return the texts of a lesson, read once."""
    return LessonTexts(Path(__file__).with_name(topic))
