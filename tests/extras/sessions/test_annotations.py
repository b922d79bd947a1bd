"""What annotation tools export and import, beside files made by hand."""

import json
import re
from html.parser import HTMLParser

import pytest

from workbench.extras.sessions.annotations import read_annotations, write_tasks
from workbench.extras.sessions.label_studio import interface


def choices(*picked, who=7, **more):
    result = (
        [
            {
                "id": "a",
                "from_name": "verdict",
                "to_name": "text",
                "type": "choices",
                "value": {"choices": list(picked)},
            }
        ]
        if picked
        else []
    )
    return {"id": 101, "completed_by": who, "was_cancelled": False, "result": result} | more


def task(item, *annotations, **data):
    return {
        "id": 11,
        "data": {"item": item, "text": "Water is wet."} | data,
        "meta": {},
        "predictions": [],
        "annotations": list(annotations),
    }


def prodigy(item, answer=None, **more):
    record = {
        "text": "Water is wet.",
        "meta": {"item": item},
        "_input_hash": 1,
        "_annotator_id": "set-anna",
    } | more
    return record | ({} if answer is None else {"answer": answer})


def saved(folder, name, records):
    text = (
        json.dumps(records, indent=1)
        if name.endswith(".json")
        else "\n".join(map(json.dumps, records)) + "\n"
    )
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def said(found):
    """(number, id, by, label, verdict, skipped) of the rows that can be used."""
    return [
        (row.number, row.id, row.by or found.by, row.label, row.verdict, row.skipped)
        for row in found.rows
        if not row.problem
    ]


def test_label_studio(tmp_path):
    found = read_annotations(
        saved(
            tmp_path,
            "export.json",
            [
                task(
                    "d-1",
                    choices("right"),
                    choices("wrong", who={"id": 8, "email": "b@example.org"}),
                ),
                task("d-2", choices(was_cancelled=True)),
                task("d-3"),
                task(4, choices()),
                task("d-5", choices("wrong", who=None)),
            ],
        )
    )
    assert found.tool == "Label Studio" and said(found) == [
        (1, "d-1", "7", "right", "", False),
        (1, "d-1", "8", "wrong", "", False),
        (2, "d-2", "7", "", "", True),
        (3, "d-3", "", "", "", False),
        (4, "4", "7", "", "", False),
        (5, "d-5", "", "wrong", "", False),
    ]


@pytest.mark.parametrize(
    "name, by", [("ben.jsonl", "ben"), ("doccano_ben.jsonl", "ben"), ("all.jsonl", "")]
)
def test_doccano(tmp_path, name, by):
    found = read_annotations(
        saved(
            tmp_path,
            name,
            [
                {
                    "id": 31,
                    "text": "Water is wet.",
                    "item": "d-1",
                    "label": ["right"],
                    "Comments": [],
                },
                {
                    "id": 32,
                    "text": "Fire is cold.",
                    "item": "d-2",
                    "label": [],
                    "Comments": ["unclear"],
                },
            ],
        )
    )
    assert found.tool == "doccano" and said(found) == [
        (1, "d-1", by, "right", "", False),
        (2, "d-2", by, "", "", False),
    ]


def test_prodigy(tmp_path):
    options = {
        "options": [{"id": each, "text": each} for each in ("right", "wrong")],
        "_view_id": "choice",
    }
    found = read_annotations(
        saved(
            tmp_path,
            "set.jsonl",
            [
                prodigy("d-1", "accept", accept=["right"], **options),
                prodigy("d-2", "ignore", accept=[], **options),
                prodigy(
                    "d-3",
                    "reject",
                    label="right",
                    _view_id="classification",
                    _annotator_id=None,
                    _session_id="set-ben",
                ),
                prodigy("d-4", "accept", accept=[], **options),
                prodigy("d-5", **options),
                prodigy("d-6", "reject"),
                prodigy("d-7", "reject", accept=[]),
            ],
        )
    )
    assert found.tool == "Prodigy" and said(found) == [
        (1, "d-1", "set-anna", "right", "accept", False),
        (2, "d-2", "set-anna", "", "", True),
        (3, "d-3", "set-ben", "right", "reject", False),
        (4, "d-4", "set-anna", "", "", False),
        (5, "d-5", "set-anna", "", "", False),
        (6, "d-6", "set-anna", "", "reject", False),
        (7, "d-7", "set-anna", "", "reject", False),
    ]


@pytest.mark.parametrize(
    "name, good, bad, problem",
    [
        (
            "x.json",
            task("a"),
            {"id": 1, "data": {"text": "x"}, "annotations": []},
            "has no data.item; import the tasks",
        ),
        ("x.json", task("a"), {"id": 1, "annotations": []}, "has no data.item"),
        (
            "x.json",
            task("a"),
            task("b", {**choices(), "result": [{"type": "rectanglelabels", "value": {}}]}),
            "is labeled with 'rectanglelabels', not with choices; give the project one question with choices",
        ),
        (
            "x.json",
            task("a"),
            task("b", choices("right", "wrong")),
            "has 2 labels, 'right', 'wrong'; keep one",
        ),
        (
            "x.json",
            task("a"),
            task(
                "b", {**choices(), "result": [{"type": "choices", "value": {"choices": "right"}}]}
            ),
            "an annotation's choices are text, not a list; export it again",
        ),
        (
            "x.json",
            task("a"),
            task("b", {**choices(), "result": [{"type": "choices", "value": None}]}),
            "an annotation's choices are empty, not a list; export it again",
        ),
        ("x.json", task("a"), task("b", "anna"), "an annotation is text, not an object"),
        (
            "x.json",
            task("a"),
            {"text": "x", "label": ["right"], "item": "b"},
            "is a record of doccano, but the first record is",
        ),
        ("x.json", task("a"), 7, "is a number, not a record"),
        (
            "x.jsonl",
            {"text": "x", "label": [], "item": "a"},
            {"text": "x", "label": [[0, 3, "PER"]], "item": "b"},
            "is labeled with spans of the text; export a project of text classification",
        ),
        (
            "x.jsonl",
            {"text": "x", "label": [], "item": "a"},
            {"text": "x", "entities": [], "item": "b"},
            "spans",
        ),
        (
            "x.jsonl",
            {"text": "x", "label": [], "item": "a"},
            {"text": "x", "label": ["right"]},
            "has no field item",
        ),
        (
            "x.jsonl",
            {"text": "x", "label": [], "item": "a"},
            {"text": "x", "Comments": [], "item": "b"},
            "has no field label, but 'text', 'Comments', 'item'",
        ),
        ("x.jsonl", prodigy("a"), prodigy(None, "accept"), "has no meta.item; annotate the tasks"),
        (
            "x.jsonl",
            prodigy("a"),
            prodigy("b", "maybe"),
            "its answer is 'maybe', not accept, reject or ignore",
        ),
        (
            "x.jsonl",
            prodigy("a"),
            prodigy("b", "accept", spans=[{"start": 0}], _view_id="ner_manual"),
            "is labeled with spans ('ner_manual'); annotate with choice or classification",
        ),
        (
            "x.jsonl",
            prodigy("a"),
            prodigy("b", "accept", accept=["x", "y"], options=[]),
            "has 2 labels, 'x', 'y'; keep one",
        ),
    ],
)
def test_a_record_that_cannot_be_used_is_told_and_the_others_are_read(
    tmp_path, name, good, bad, problem
):
    found = read_annotations(saved(tmp_path, name, [good, bad, good]))
    assert [(row.number, row.id) for row in found.rows if not row.problem] == [(1, "a"), (3, "a")]
    (wrong,) = (row for row in found.rows if row.problem)
    assert wrong.number == 2 and problem in wrong.problem and "\n" not in wrong.problem


@pytest.mark.parametrize(
    "name, text, message",
    [
        (
            "x.json",
            json.dumps([task("a"), task("b")])[:-40],
            r"'.*x.json' is cut off or damaged at line 1, column \d+. Exp",
        ),
        (
            "x.json",
            '{"tasks": []}',
            "is neither a sheet with the columns id and correct .* record 1 has 'tasks'$",
        ),
        ("x.json", '"text"', "contains no JSON records"),
        ("x.json", "[]", "contains an empty list"),
        (
            "x.json",
            "[1, 2]",
            'must hold records such as {\\"item\\": \\"7\\"}; record 1 is a number, not a record',
        ),
        ("x.json", "[" * 100_000, "nested too deeply|cut off"),
        ("x.jsonl", "", "is empty"),
        ("x.jsonl", '{"text": "x", "label"', "is cut off or damaged at line 1"),
    ],
    ids=range(8),
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_annotations(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_line_that_is_cut_off_leaves_the_others(tmp_path):
    lines = [json.dumps({"text": "x", "label": ["right"], "item": f"d-{k}"}) for k in range(3)]
    (tmp_path / "anna.jsonl").write_text("\n".join(lines)[:-9], encoding="utf-8")
    found = read_annotations(tmp_path / "anna.jsonl")
    assert [row.id for row in found.rows] == ["d-0", "d-1", ""]
    assert (found.rows[2].number, found.rows[2].problem) == (
        3,
        "is not JSON, cut off or damaged. Export the file again",
    )


def test_tables_are_none_of_a_tool(tmp_path):
    assert read_annotations(saved(tmp_path, "x.json", [{"id": "a", "correct": 1}])) is None
    assert read_annotations(tmp_path / "x.csv") is None


TEXTS = [
    "=1+1",
    "@SUM(A1)",
    "<script>alert(1)</script>",
    "<b>x</b> & &amp;",
    "\u202eabc\u2066",
    "x" * 10_000,
    "a\nb\tc",
    '"',
    "'",
    "\\u0041",
    "\x07",
    "",
    " blank ",
]


@pytest.mark.parametrize(
    "tool, name", [("label-studio", "t.json"), ("doccano", "t.jsonl"), ("prodigy", "t.jsonl")]
)
def test_tasks_are_what_the_tools_import_and_keep_text_as_it_is(tmp_path, tool, name):
    items = [(f"d-{k}", {"text": text, "doc.url": text}) for k, text in enumerate(TEXTS)]
    write_tasks(tmp_path / name, tool, items, ["right", "wrong"])
    text = (tmp_path / name).read_text(encoding="utf-8")
    records = (
        json.loads(text) if tool == "label-studio" else list(map(json.loads, text.splitlines()))
    )
    options = [{"id": "right", "text": "right"}, {"id": "wrong", "text": "wrong"}]
    assert (
        records
        == {
            "label-studio": [
                {"data": {"item": item, "text": its["text"], "doc_url": its["text"]}}
                for item, its in items
            ],
            "doccano": [
                {"text": its["text"], "label": [], "item": item, "doc.url": its["text"]}
                for item, its in items
            ],
            "prodigy": [
                {
                    "text": its["text"],
                    "meta": {"item": item, "doc.url": its["text"]},
                    "options": options,
                }
                for item, its in items
            ],
        }[tool]
    )
    write_tasks(tmp_path / name, tool, items, ["right", "wrong"])  # nobody has labeled them


@pytest.mark.parametrize(
    "tool, name, records",
    [
        ("label-studio", "t.json", [task("a", choices("right"))]),
        ("doccano", "t.jsonl", [{"text": "", "item": 1, "label": ["a"]}]),
        ("prodigy", "t.jsonl", [prodigy("a", "ignore")]),
        ("doccano", "t.jsonl", [{"id": 1, "correct": 1}]),
        ("prodigy", "t.jsonl", [{"note": "mine"}]),
    ],
)
def test_what_people_wrote_is_never_overwritten(tmp_path, tool, name, records):
    before = saved(tmp_path, name, records).read_bytes()
    with pytest.raises(
        ValueError,
        match="already holds 1 annotation and is not overwritten|exists and is not a file of tasks",
    ):
        write_tasks(tmp_path / name, tool, [("a", {})], ["right"])
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize(
    "tool, columns, message",
    [
        ("doccano", {"label": "x"}, "column 'label' has the name of another field in doccano"),
        (
            "label-studio",
            {"a.b": "x", "a_b": "y"},
            "column 'a.b' has the name of another field in label-studio",
        ),
        ("prodigy", {"Item": "x"}, "column 'Item' has the name"),
    ],
)
def test_columns_that_a_tool_would_mix_up(tmp_path, tool, columns, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        write_tasks(
            tmp_path / ("t.json" if tool == "label-studio" else "t.jsonl"),
            tool,
            [("a", columns)],
            ["right"],
        )


def test_the_labeling_interface_is_well_formed_whatever_classes_are_called():
    labels = ['"/><script>alert(1)</script>', "a & b", "'"]
    found = []

    class Parser(HTMLParser):
        def handle_startendtag(self, tag, attributes):
            found.append((tag, dict(attributes).get("value")))

    Parser().feed(interface(["doc.text", "text"], labels))
    assert found == [("header", "doc.text"), ("text", "$doc_text"), ("text", "$text")] + [
        ("choice", each) for each in labels
    ]
