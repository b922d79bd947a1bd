"""Labels of several people from files: wide and long tables, sheets, and exports of labeling tools."""

import json

import pytest
from command import run

from workbench.labeling.annotators import read_annotators


def saved(folder, name, text):
    (folder / name).write_text(
        text if isinstance(text, str) else json.dumps(text), encoding="utf-8"
    )
    return folder / name


EXPECTED = {"ann": ["cat", "dog", "cat"], "ben": ["dog", None, "cat"]}
ITEMS = ["d-1", "d-2", "d-3"]
WIDE = "id,text,ann,ben\nd-1,some words,cat,dog\nd-2,others,dog,\nd-3,more,cat,cat\n"
LONG = "item_id,annotator,label\nd-1,ann,cat\nd-1,ben,dog\nd-2,ann,dog\nd-3,ben,cat\nd-3,ann,cat\n"
SEMICOLONS = WIDE.replace(",", ";")
MIN = [
    {"item": item, "choice": label, "annotator": who, "annotation_id": k}
    for k, (item, who, label) in enumerate(
        (item, who, labels[place])
        for place, item in enumerate(ITEMS)
        for who, labels in EXPECTED.items()
        if labels[place]
    )
]
STUDIO = [
    {
        "data": {"item": item},
        "annotations": [
            {
                "completed_by": {"id": row["annotator"]},
                "was_cancelled": False,
                "result": [{"type": "choices", "value": {"choices": [row["choice"]]}}],
            }
            for row in MIN
            if row["item"] == item
        ]
        + [{"completed_by": "cem", "was_cancelled": True, "result": []}],
    }
    for item in ITEMS
]
CSV = "item,choice,annotator,annotation_id\n" + "".join(
    f'{row["item"]},"{{""choices"": [""{row["choice"]}""]}}",{row["annotator"]},{row["annotation_id"]}\n'
    for row in MIN
)
PRODIGY = "\n".join(
    json.dumps(
        {
            "text": "x",
            "meta": {"item": row["item"]},
            "accept": [row["choice"]],
            "options": [],
            "answer": "accept",
            "_annotator_id": row["annotator"],
        }
    )
    for row in MIN
)


@pytest.mark.parametrize(
    "name, content",
    [
        ("wide.csv", WIDE),
        ("semicolons.csv", SEMICOLONS),
        ("long.csv", LONG),
        ("studio.json", STUDIO),
        ("min.json", MIN),
        ("studio.csv", CSV),
        ("unquoted.csv", CSV.replace('"{""choices"": [""', "{choices: [").replace('""]}"', "]}")),
        ("prodigy.jsonl", PRODIGY),
    ],
)
def test_one_file_of_each_kind(tmp_path, name, content):
    read = read_annotators(saved(tmp_path, name, content))
    labels = read.labels()
    assert list(read.items) == ITEMS
    assert {who: labels[who] for who in EXPECTED} == EXPECTED
    assert not any(any(column) for who, column in labels.items() if who not in EXPECTED)


@pytest.mark.parametrize(
    "ending, write",
    [
        (
            ".csv",
            lambda labels: (
                "id,truth\n" + "".join(f"{item},{label or ''}\n" for item, label in labels)
            ),
        ),
        (
            ".jsonl",
            lambda labels: "\n".join(
                json.dumps({"text": "x", "item": item, "label": [label] if label else []})
                for item, label in labels
            ),
        ),
    ],
)
def test_a_file_for_each_annotator(tmp_path, ending, write):
    files = [
        saved(tmp_path, who + ending, write(zip(ITEMS, labels, strict=True)))
        for who, labels in EXPECTED.items()
    ]
    read = read_annotators(*files)
    assert read.labels() == EXPECTED and list(read.items) == ITEMS


def test_a_first_note_names_the_columns_that_were_taken(tmp_path):
    read = read_annotators(saved(tmp_path, "x.csv", WIDE))
    assert str(read.notes[0]) == (
        "annotators are the columns ann, ben; not used: text (you can name the columns of "
        "the annotators)"
    )
    read = read_annotators(saved(tmp_path, "y.csv", LONG))
    assert (
        str(read.notes[0])
        == "y.csv: column 'label' has the label of annotator 'annotator' for item 'item_id'"
    )


def test_words_for_a_missing_label_are_gaps_and_said(tmp_path):
    read = read_annotators(
        saved(tmp_path, "x.csv", "id,a,b\n1,yes,NA\n2,-,yes\n3,no,none\n4,no,yes\n5,yes,none\n")
    )
    assert read.labels() == {
        "a": ["yes", None, "no", "no", "yes"],
        "b": [None, "yes", "none", "yes", "none"],
    }
    assert [str(note) for note in read.notes[1:]] == [
        "column 'a': '-' in 1 cell was read as a missing label",
        "column 'b': 'NA' in 1 cell was read as a missing label",
    ]


def test_grades_with_gaps_that_pandas_made_floats_are_numbers(tmp_path):
    read = read_annotators(saved(tmp_path, "x.csv", "id,a,b\n1,3,3.0\n2,4,\n3,5,5.0\n4,3,4.0\n"))
    assert read.labels() == {"a": [3, 4, 5, 3], "b": [3, None, 5, 4]}


@pytest.mark.parametrize(
    "content, options, message",
    [
        (
            "id,a,b\n1,x,u\n2,y,v\n3,x,u\n",
            {},
            "annotators must name the columns .*no two columns hold the same classes",
        ),
        (
            "id,a,b,c,d\n1,x,y,u,v\n2,y,x,v,u\n3,x,x,u,u\n4,y,y,v,v\n",
            {},
            "annotators must name the columns .*several sets of columns hold the same classes: a, b; c, d",
        ),
        (
            "id,a,b\n1,x,y\n1,y,x\n2,x,x\n3,y,y\n",
            {},
            "item must name a column that identifies the rows .* again in row 3",
        ),
        (
            "id,a,b\n1,x,y\n",
            {"annotators": "a,c"},
            "annotators must name a column of x.csv, .* got 'c'",
        ),
        (
            "item,rater,label\n1,ann,x\n1,ann,y\n2,ben,x\n",
            {},
            "row 3: 'ann' labels item '1' as 'y', but as 'x' before. Keep one",
        ),
        (
            "item,rater,label\n1,ann,x\n1,,y\n",
            {},
            "row 3: column 'rater' is empty, but the label is 'y'",
        ),
        (
            "item,rater,label\n1,ann,x\n2,ann,y\n",
            {},
            "needs the labels of two or more annotators, but x.csv holds labels of 'ann'",
        ),
        (
            "item,rater,one,two\n1,ann,x,y\n",
            {},
            "label must name the column of x.csv that holds the labels. It has the columns 'one', ",
        ),
        (
            "what,rater,label\n1,ann,x\n",
            {},
            "item must name the column of x.csv that identifies an item",
        ),
        ("id,a\n1,x\n", {"annotators": "a", "label": "a"}, "must not be given with"),
        (
            "id,a,b\n1,TRUE,1\n2,FALSE,0\n",
            {"annotators": "a,b"},
            "labels must have one spelling. 'TRUE' and '1' mean the same",
        ),
        (
            "id,who,label\n1,ann,yes\n1,ben,TRUE\n",
            {"annotator": "who"},
            "labels must have one spelling. 'yes' and 'TRUE' mean the same",
        ),
    ],
)
def test_what_cannot_be_told_is_asked(tmp_path, content, options, message):
    with pytest.raises(ValueError, match=message):
        read_annotators(saved(tmp_path, "x.csv", content), **options)


def test_several_choices_in_an_annotation_are_refused_with_the_record(tmp_path):
    several = [{"item": "d", "choice": ["cat", "dog"], "annotator": 1, "annotation_id": 1}]
    with pytest.raises(ValueError, match="record 1 has 2 labels, 'cat', 'dog'; keep one"):
        read_annotators(saved(tmp_path, "x.json", several))


def test_spellings_of_a_label_are_one_class(tmp_path):
    rows = ["item,ann,ben"]
    rows += [f"{k},{'Yes' if k % 3 else 'no'},{'yes ' if k % 3 else 'NO'}" for k in range(30)]
    (tmp_path / "caps.csv").write_text("\n".join(rows))
    done = run(tmp_path, "audit", "agreement", "caps.csv")
    assert "agree in 100.0% of pairs of labels" in done.stdout
    assert "Note: 'NO' in 10 cells is read as 'no'" in done.stdout


def test_the_command_on_labels_that_are_all_alike(tmp_path):
    rows = ["item,ann,ben", *(f"{k},yes,yes" for k in range(30))]
    (tmp_path / "same.csv").write_text("\n".join(rows))
    done = run(tmp_path, "audit", "agreement", "same.csv", "--annotators", "ann,ben")
    assert done.returncode == 0
    assert "  alpha              undefined  30 items\n" in done.stdout
    assert "all labels are 'yes', so no difference is expected by chance" in done.stdout


def test_an_annotator_may_write_a_label_in_two_ways(tmp_path):
    rows = ["item,annotator,label", "1,ann,yes", "1,ben,Yes", "2,ann,no", "2,ben,no", "2,ann,No"]
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    read = read_annotators(tmp_path / "rows.csv")
    assert read.labels() == {"ann": ["yes", "no"], "ben": ["yes", "no"]}


@pytest.mark.parametrize(
    "content",
    [
        "item,ann,ben\n1,yes,yes\n2,no,yes\nTotal,2,2\n",
        "item,annotator,label\n1,ann,1\n1,ben,1\nSum,ann,1\n",
    ],
)
def test_a_row_of_totals_is_no_item(tmp_path, content):
    (tmp_path / "sums.csv").write_text(content)
    with pytest.raises(ValueError, match="sums.csv, row 4: column 'item' holds .* Remove the row"):
        read_annotators(tmp_path / "sums.csv")


FINAL = ["gold", "Consensus", "final_label", "adjudicated", "prediction", "majority_vote", "doc_id"]


@pytest.mark.parametrize("name", FINAL)
def test_final_labels_are_no_annotator_unless_only_one_is_left(tmp_path, name):
    file = saved(tmp_path, "a.csv", f"item,A,B,{name}\n1,0,1,1\n2,1,1,1\n3,0,0,0\n")
    read = read_annotators(file)
    assert [*read.cells] == ["A", "B"]
    assert f"; not used: {name} (you can name" in str(read.notes[0])
    assert str(read.notes[1]).startswith(f"column {name!r} holds classes of the annotators, but")
    assert str(read.notes[1]).endswith(f"name all columns of annotators: A,B,{name}")
    named = read_annotators(file, annotators=f"A,B,{name}")
    assert [*named.cells] == ["A", "B", name] and len(named.notes) == 1
    alone = saved(tmp_path, "b.csv", f"item,A,{name}\n1,0,1\n2,1,1\n3,0,0\n")
    assert [*read_annotators(alone).cells] == ["A", name]


@pytest.mark.parametrize("other", ["silver", "Bronze"])
def test_gold_is_a_team_next_to_silver_or_bronze(tmp_path, other):
    file = saved(tmp_path, "a.csv", f"item,Gold,A,{other}\n1,0,1,1\n2,1,1,1\n3,0,0,0\n")
    assert [*read_annotators(file).cells] == ["Gold", "A", other]


def test_items_of_a_document_are_the_items(tmp_path):
    wide = "document,item,A,B\n0,1,0,1\n0,2,1,1\n1,3,0,0\n"
    read = read_annotators(saved(tmp_path, "w.csv", wide))
    assert [*read.items] == ["1", "2", "3"] and [*read.cells] == ["A", "B"]
    long = "document,item,annotator,label\n0,1,A,x\n0,2,A,y\n0,1,B,x\n0,2,B,x\n"
    read = read_annotators(saved(tmp_path, "l.csv", long))
    assert read.labels() == {"A": ["x", "y"], "B": ["x", "x"]}


def test_annotators_that_look_alike_are_noted(tmp_path):
    rows = "item,annotator,label\n1,ann,x\n2,Ann ,x\n1,ben,x\n2,ben,y\n"
    notes = read_annotators(saved(tmp_path, "l.csv", rows)).notes
    text = "column 'annotator' contains 'ann' and 'Ann', which were read as different"
    assert text in map(str, notes)
    notes = read_annotators(saved(tmp_path, "p.csv", rows.replace("Ann ", "cem"))).notes
    assert "read as different" not in str(notes)
