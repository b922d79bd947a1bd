"""Sessions and the tools that people label in: out as tasks or sheets, back as labels; nothing lost or doubled."""

import csv
import json
import zipfile
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest
from audited import created, population
from thinned import thinned

import workbench as wb

N = 10_000
HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://example.org","x")',
    "=cmd|' /C calc'!A0",
    "\t=1",
    "\uff1d1",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{7*7}}",
    "${7*7}",
    "\u202egnp.exe",
    "\u2066a\u2069",
    "a\nb",
    "'",
    '"',
    "'=1",
    ";=1",
    "a;=1",
    "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f600",
    "https://example.org",
    "x" * 10_000,
    "007",
    "1e5",
    "2026-01-01",
    "TRUE",
    "a,b",
    "&amp;",
]


def items_called(ids, classes=("cat", "dog")):
    rng = np.random.default_rng(1)
    return wb.ScoredItems(
        np.array(ids, object),
        rng.uniform(0.5, 1, len(ids)),
        prediction=rng.choice(np.array(classes), len(ids)),
    )


def records_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else list(map(json.loads, text.splitlines()))


def labeled(tool, path, answers, out):
    """Write what the tool would export after people answered {id: label, None for a skip}; return the ids in order."""
    records, ids = records_of(path), []
    for record in records:
        if tool == "label-studio":
            item = record["data"]["item"]
            result = (
                [{"type": "choices", "value": {"choices": [answers[item]]}}]
                if answers[item]
                else []
            )
            record |= {
                "id": 1,
                "annotations": [
                    {"completed_by": 7, "was_cancelled": not answers[item], "result": result}
                ],
            }
        elif tool == "doccano":
            item, record["id"] = record["item"], 1
            record["label"] = [answers[item]] if answers[item] else []
        else:
            item = record["meta"]["item"]
            record |= {
                "accept": [answers[item]] if answers[item] else [],
                "_annotator_id": "set-anna",
                "answer": "accept" if answers[item] else "ignore",
            }
        ids.append(item)
    out.write_text(
        json.dumps(records) if tool == "label-studio" else "\n".join(map(json.dumps, records)),
        encoding="utf-8",
    )
    return ids


def fill_csv(path, answers, out):
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    with open(out, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:-1], answers[row[0]] or ""] for row in rows)])
    return [row[0] for row in rows]


def fill_xlsx(path, answers, out):
    book = openpyxl.load_workbook(path)
    sheet = book["labels"]
    ids = [sheet.cell(row, 1).value for row in range(2, sheet.max_row + 1)]
    last = sheet.max_column
    for row, item in enumerate(ids, 2):
        sheet.cell(row, last).value = answers[item]
    book.save(out)
    return ids


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, ending",
    [
        ("csv", ".csv"),
        ("xlsx", ".xlsx"),
        ("label-studio", ".json"),
        ("doccano", ".jsonl"),
        ("prodigy", ".jsonl"),
    ],
)
@thinned("n", 1_000, 10_000)
def test_ten_thousand_items_go_out_and_come_back(tmp_path, kind, ending, n):
    ids = [f"{k:05d}" for k in range(n)]
    path, filled = tmp_path / f"tasks{ending}", tmp_path / f"anna{ending}"
    with created(tmp_path, items_called(ids), budget=n, asks="truth", n_strata=5) as session:
        order = [item.id for item in session.next(n)]
        session.release()
        assert session.export(path, to=kind) == n
        answers = {
            each: None if each.endswith("7") else ("cat", "dog", "other")[int(each) % 3]
            for each in ids
        }
        fill = {"csv": fill_csv, "xlsx": fill_xlsx}.get(kind, lambda *given: labeled(kind, *given))
        assert fill(path, answers, filled) == order and sorted(order) == ids
        found = session.import_labels(filled)
        left = [each for each in order if answers[each] is None]
        assert found.refused == () and (found.recorded, found.repeated) == (0.9 * n, 0)
        assert set(found.unlabeled) | set(session.skipped()) >= set(left[:-1])
        again = session.import_labels(filled)
        assert (again.recorded, again.repeated, again.skipped, again.refused) == (0, 0.9 * n, 0, ())
        status = session.status()
        assert status.labeled == 0.9 * n and status.labeled + status.skipped + status.open == n
        said = {
            event.body["id"]: event.body["label"]
            for event in session.events()
            if event.kind == "labeled"
        }
        assert said == {each: label for each, label in answers.items() if label}
        assert [event.body["id"] for event in session.events() if event.kind == "labeled"] == [
            each for each in order if answers[each]
        ]


def hostile():
    """A hundred items: their identifiers and their texts are what would harm a careless reader."""
    texts = (HOSTILE * 4)[:100]
    return [f"{text[:200]}|{k}" for k, text in enumerate(texts)], texts


@pytest.mark.parametrize(
    "kind, ending",
    [
        ("csv", ".csv"),
        ("xlsx", ".xlsx"),
        ("label-studio", ".json"),
        ("doccano", ".jsonl"),
        ("prodigy", ".jsonl"),
    ],
)
def test_a_hundred_hostile_cells_come_back_as_they_were(tmp_path, kind, ending):
    ids, texts = hostile()
    items = items_called(ids)
    stripped = dict(
        zip([each.strip() for each in ids], [each.strip() for each in texts], strict=True)
    )
    path, filled = tmp_path / f"tasks{ending}", tmp_path / f"anna{ending}"
    with created(
        tmp_path, items, budget=100, asks="truth", columns={"text": np.array(texts, object)}
    ) as session:
        session.export(path, to=kind)
        order = [item.id for item in session.next(100)]
        answers = dict.fromkeys(stripped, "cat")
        if kind in ("csv", "xlsx"):
            cells = _sheet(path, kind)
            assert not [
                cell
                for row in cells
                for cell in row
                if cell.lstrip(" '")[:1] in set("=+-@\t\uff1d") and not cell.startswith("'")
            ]
            if kind == "xlsx":
                fill_xlsx(path, dict.fromkeys((row[0] for row in cells), "cat"), filled)
            else:
                fill_csv(path, dict.fromkeys((row[0] for row in cells), "cat"), filled)
        else:
            assert labeled(kind, path, answers, filled) == order
            shown = [
                record["data"]["text"] if kind == "label-studio" else record["text"]
                for record in records_of(path)
            ]
            assert shown == [stripped[each] for each in order]
        found = session.import_labels(filled)
        assert found.recorded == 100 and found.refused == ()


def _sheet(path, kind):
    if kind == "csv":
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))[1:]
    return [
        [str(cell.value or "") for cell in row]
        for row in openpyxl.load_workbook(path)["labels"].iter_rows(2)
    ]


def test_a_workbook_offers_the_answers_and_locks_the_rest(tmp_path):
    items = items_called(["007", "=1+1", "1-2", "1e5"], ("cat", "=dog"))
    with created(tmp_path, items, budget=4, n_strata=1, asks="truth") as session:
        session.export(tmp_path / "sheet.xlsx")
    with zipfile.ZipFile(tmp_path / "sheet.xlsx") as book:
        for name in book.namelist():
            if name.startswith("xl/worksheets/sheet"):
                assert not list(ElementTree.fromstring(book.read(name)).iter("{*}f"))  # no formula
        assert not [
            name for name in book.namelist() if "vba" in name.lower() or "external" in name.lower()
        ]
    book = openpyxl.load_workbook(tmp_path / "sheet.xlsx")
    assert book.sheetnames == ["labels", "how to fill"]
    sheet, notes = book["labels"], book["how to fill"]
    assert [cell.value for cell in sheet[1]] == ["id", "position", "truth"]
    assert {cell.value for cell in sheet["A"][1:]} == {"007", "'=1+1", "1-2", "1e5"}
    assert {(cell.number_format, cell.data_type) for cell in sheet["A"][1:]} == {("@", "s")}
    assert sheet.protection.sheet and sheet.protection.password is None
    assert {cell.protection.locked for row in sheet.iter_rows(1, 5, 1, 2) for cell in row} == {True}
    assert [cell.protection.locked for cell in sheet["C"]] == [True, False, False, False, False]
    (rule,) = sheet.data_validations.dataValidation
    assert rule.type == "list" and str(rule.sqref) == "C2:C5" and rule.showErrorMessage
    first, last = rule.formula1.removeprefix("'how to fill'!").replace("$", "").split(":")
    assert [row[0].value for row in notes[f"{first}:{last}"]] == ["'=dog", "cat", "other"]


def test_a_choice_of_the_workbook_is_read(tmp_path):
    items = items_called(["a", "b", "c", "d"], ("cat", "=dog"))
    with created(tmp_path, items, budget=4, n_strata=1, asks="truth") as session:
        session.export(tmp_path / "sheet.xlsx")
        fill_xlsx(
            tmp_path / "sheet.xlsx",
            {"a": "'=dog", "b": "cat", "c": "other", "d": None},
            tmp_path / "s.xlsx",
        )
        session.import_labels(tmp_path / "s.xlsx")
        assert {each: session.history(each)[0].label for each in "abc"} == {
            "a": "=dog",
            "b": "cat",
            "c": "other",
        }
        session.export(tmp_path / "again.xlsx")
        with pytest.raises(ValueError, match="already contains 3 labels and was not overwritten"):
            session.export(tmp_path / "again.xlsx")


def imported(tmp_path, name, records, **settings):
    """What became of records, and {id: [(who, label)]}."""
    items = wb.ScoredItems(
        np.array(["d-1", "d-2", "d-3", "d-4"], object),
        np.array([0.6, 0.7, 0.8, 0.9]),
        prediction=np.array(["cat", "dog", "cat", "dog"]),
    )
    text = (
        records
        if isinstance(records, str)
        else json.dumps(records)
        if name.endswith(".json")
        else "\n".join(map(json.dumps, records))
    )
    (tmp_path / name).write_text(text, encoding="utf-8")
    by = settings.pop("by", None)
    with created(tmp_path, items, budget=4, n_strata=1, **settings) as session:
        found = session.import_labels(tmp_path / name, by)
        says = {
            each: [(entry.who, entry.label) for entry in session.history(each)] for each in items.id
        }
        return found, {each: entries for each, entries in says.items() if entries}


def by(who, label, **more):
    return {
        "completed_by": who,
        "was_cancelled": label is None,
        "result": [{"type": "choices", "value": {"choices": [label]}}] if label else [],
    } | more


def task(item, *annotations):
    return {"data": {"item": item}, "annotations": list(annotations)}


EXPORT = [
    task("d-1", by(7, "right"), by({"id": 8}, "wrong")),
    task("d-2", by(7, None)),
    task("d-3"),
]


def test_annotators_are_who_said_so(tmp_path):
    found, says = imported(tmp_path, "x.json", EXPORT)
    assert says == {"d-1": [("7", 1), ("8", 0)], "d-2": [("7", None)]}
    assert (found.recorded, found.skipped, found.unlabeled, found.tool) == (
        2,
        1,
        ("d-3",),
        "Label Studio",
    )
    assert found.refused == ()
    assert (
        found.headline()
        == "2 labels recorded, 0 already recorded, 1 could not be labeled, 1 without a label"
    )
    assert any(
        str(note).startswith(
            "1 item has labels of several annotators; 1 of them has different labels. All are kept"
        )
        for note in found.notes
    )


@pytest.mark.parametrize("ending", [".json", "-min.json", ".csv"])
def test_both_labels_of_an_overlap_are_kept_and_the_first_counts(tmp_path, ending):
    """As Label Studio exports two annotators of one item: JSON, JSON-MIN and CSV."""
    said = {"d-1": (("7", "right"), ("8", "wrong")), "d-2": (("8", "right"),)}
    flat = [
        {"item": item, "choice": label, "annotator": who, "annotation_id": k}
        for k, (item, who, label) in enumerate(
            (item, *pair) for item, pairs in said.items() for pair in pairs
        )
    ]
    if ending == ".csv":
        lines = [
            "item,choice,annotator,annotation_id",
            *(
                f'{row["item"]},"{{""choices"": [""{row["choice"]}""]}}",{row["annotator"]},{row["annotation_id"]}'
                for row in flat
            ),
        ]
        content = "\n".join(lines)
    else:
        content = (
            flat
            if ending == "-min.json"
            else [
                task(item, *(by(int(who), label) for who, label in pairs))
                for item, pairs in said.items()
            ]
        )
    found, says = imported(tmp_path, "x" + ending, content)
    assert says == {"d-1": [("7", 1), ("8", 0)], "d-2": [("8", 1)]}
    assert (found.recorded, found.repeated, found.refused, found.tool) == (3, 0, (), "Label Studio")


def test_second_labels_of_one_file_are_second_labels(tmp_path):
    third = [
        task("d-1", by(7, "right"), by(8, "wrong"), by(9, "right"), by(10, "right")),
        task("d-2", by(7, "wrong")),
    ]
    found, says = imported(tmp_path, "x.json", third, second_share=1.0)
    assert says == {"d-1": [("7", 1), ("8", 0), ("9", 1)], "d-2": [("7", 0)]}
    assert (found.recorded, found.repeated, found.refused) == (4, 1, ())


def test_one_persons_two_answers_are_none(tmp_path):
    found, says = imported(
        tmp_path,
        "x.json",
        [
            task("d-1", by(7, "right")),
            task("d-1", by(7, "wrong")),
            task("d-2", by(7, "right"), by(7, "right")),
            task("none", by(7, "right")),
        ],
    )
    assert says == {"d-2": [("7", 1)]} and found.repeated == 1
    assert [row[:2] for row in found.refused] == [(1, "d-1"), (2, "d-1"), (4, "none")]
    assert (
        "has different labels, 1 and 0, in records 1, 2; none was recorded" in found.refused[0][2]
    )


def test_a_label_counts_where_somebody_else_skipped(tmp_path):
    found, says = imported(tmp_path, "x.json", [task("d-1", by(7, None), by(8, "right"))])
    assert says == {"d-1": [("8", 1)]} and found.skipped == 0
    assert found.refused == ((1, "d-1", "7 skipped it, but it has a label, which counts"),)


DOCCANO = [
    {"text": "x", "item": "d-1", "label": ["right"]},
    {"text": "x", "item": "d-2", "label": []},
    {"text": "x", "item": "d-3", "label": ["wrong"]},
]


@pytest.mark.parametrize(
    "name, given, who",
    [("anna.jsonl", None, "anna"), ("anna.jsonl", "ben", "ben"), ("all.jsonl", None, "")],
)
def test_an_empty_list_of_doccano_stays_open_and_the_file_tells_who(tmp_path, name, given, who):
    found, says = imported(tmp_path, name, DOCCANO, by=given)
    assert says == {"d-1": [(who, 1)], "d-3": [(who, 0)]} and (found.skipped, found.unlabeled) == (
        0,
        ("d-2",),
    )


PRODIGY = [
    {"text": "x", "meta": {"item": item}, "_annotator_id": "set-anna", "answer": answer} | more
    for item, answer, more in [
        ("d-1", "accept", {"label": "cat"}),
        ("d-2", "reject", {"label": "dog"}),
        ("d-3", "ignore", {"label": "cat"}),
        ("d-4", "reject", {}),
    ]
]


def test_words_that_are_predicted_classes_are_not_recorded_as_correct(tmp_path):
    items = items_called(["a", "b", "c"], ("yes", "no"))
    session = created(tmp_path, items, budget=3, n_strata=1)
    path = tmp_path / "filled.csv"
    path.write_text("id,correct\na,yes\nb,no\nc,incorrect\n")
    found = session.import_labels(path)
    assert found.recorded == 1 and [row for row, *_ in found.refused] == [2, 3]
    assert found.refused[0][2].startswith("'yes' is also a predicted class, so it may be the true")
    path.write_text("id,correct\na,1\nb,0\n")
    assert session.import_labels(path).recorded == 2


REJECTED = (
    "it rejects %s, so it is not clear whether the prediction is correct. Choose an answer and accept "
    "it, or ignore the task"
)


def test_accept_and_reject_of_prodigy(tmp_path):
    found, says = imported(tmp_path, "x.jsonl", PRODIGY)
    assert says == {
        "d-1": [("set-anna", 1)],
        "d-2": [("set-anna", 0)],
        "d-3": [("set-anna", None)],
        "d-4": [("set-anna", 0)],
    }
    wrong = [{**PRODIGY[0], "label": "dog"}, {**PRODIGY[1], "label": "wrong"}]
    (tmp_path / "audit.db").unlink()
    found, says = imported(tmp_path, "x.jsonl", wrong)
    assert says == {}
    assert found.refused == (
        (1, "d-1", "'dog' is not 1 (correct) or 0 (incorrect)"),
        (2, "d-2", REJECTED % "'wrong'"),
    )


@pytest.mark.parametrize(
    "more, right",
    [
        ({"answer": "accept", "accept": ["right"]}, 1),
        ({"answer": "accept", "accept": ["wrong"]}, 0),
        ({"answer": "reject", "accept": ["wrong"]}, None),
        ({"answer": "reject", "accept": ["right"]}, None),
        ({"answer": "reject", "accept": []}, None),
        ({"answer": "reject"}, None),
    ],
)
@pytest.mark.parametrize("options", [{}, {"options": [{"id": "right"}, {"id": "wrong"}]}])
def test_a_rejected_choice_is_refused_and_never_turned_round(tmp_path, options, more, right):
    record = {"text": "x", "meta": {"item": "d-1"}, "_annotator_id": "anna", **options, **more}
    if not (options or more.get("accept")):
        right = 0  # a plain yes or no to the prediction
    found, says = imported(tmp_path, "x.jsonl", [record])
    assert says == ({} if right is None else {"d-1": [("anna", right)]})
    assert (
        found.refused == (((1, "d-1", REJECTED % "a choice"),) if right is None else ())
        and not found.unlabeled
    )
    (tmp_path / "audit.db").unlink()
    found, says = imported(tmp_path, "x.jsonl", [{**record, "answer": "reject"}], asks="truth")
    assert (says, found.refused, found.unlabeled) == ({}, (), ("d-1",))


def test_a_reject_does_not_tell_the_true_class(tmp_path):
    found, says = imported(tmp_path, "x.jsonl", PRODIGY, asks="truth")
    assert says == {"d-1": [("set-anna", "cat")], "d-3": [("set-anna", None)]}
    assert set(found.unlabeled) == {"d-2", "d-4"} and found.refused == ()


def test_a_class_that_is_not_predicted_is_refused_by_record(tmp_path):
    found, says = imported(
        tmp_path,
        "anna.jsonl",
        [
            {"text": "x", "item": "d-1", "label": ["eel"]},
            {"text": "x", "item": "d-2", "label": ["other"]},
        ],
        asks="truth",
    )
    assert says == {"d-2": [("anna", "other")]} and found.refused[0][:2] == (1, "d-1")
    assert found.refused[0][2].startswith(
        "'eel' is not a predicted class. Write 'cat', 'dog', or 'other'"
    )


def test_a_tool_gets_what_is_still_to_be_labeled(tmp_path):
    items, _ = population()
    with created(tmp_path, items, asks="truth") as session:
        done, skipped, *_ = handed = [item.id for item in session.next(60)]
        session.record(done, "cat")
        session.skip(skipped)
        assert session.export(tmp_path / "t.json", to="label-studio") == 58
        assert [each["data"]["item"] for each in records_of(tmp_path / "t.json")] == handed[2:]
        session.release()
        assert session.export(tmp_path / "t.jsonl", 5, "ann", to="prodigy") == 5
        assert [item.id for item in session.held("ann")] == handed[2:7]


@pytest.mark.parametrize(
    "name, to, message",
    [
        (
            "t.txt",
            None,
            "path must end in .csv or .xlsx, or in .json or .jsonl for an annotation tool; got",
        ),
        ("t.jsonl", None, "name the tool for .* with to: 'doccano', 'prodigy'"),
        ("t.json", "doccano", "must end in .jsonl"),
        ("t.csv", "xlsx", "path must end in .xlsx; got"),
        ("t.csv", "excel", "to must be one of"),
    ],
)
def test_what_a_name_does_not_tell(tmp_path, name, to, message):
    with created(tmp_path, population()[0]) as session, pytest.raises(ValueError, match=message):
        session.export(tmp_path / name, to=to)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["audit.db"]


def test_a_text_too_long_for_a_workbook_is_named(tmp_path):
    items = population()[0]
    texts = np.array(["x" * 32_767] * items.size, object)
    with created(tmp_path, items) as session:
        third = session.next(3)[2].id
        session.release()
    (tmp_path / "audit.db").unlink()
    texts[items.id.tolist().index(third)] += "x"
    with (
        created(tmp_path, items, columns={"text": texts}) as session,
        pytest.raises(
            ValueError,
            match=(
                "column 'text', row 4 does not fit into the workbook: a cell holds at most 32,767 characters"
            ),
        ),
    ):
        session.export(tmp_path / "s.xlsx")
    assert not (tmp_path / "s.xlsx").exists()


def test_without_a_writer_of_workbooks_a_sheet_is_advised(tmp_path, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "xlsxwriter" else find(name)
    )
    with (
        created(tmp_path, population()[0]) as session,
        pytest.raises(ValueError, match=r"workbench\[xlsx\]', or write"),
    ):
        session.export(tmp_path / "sheet.xlsx")
