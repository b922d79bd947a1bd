"""Every topic takes every kind of file and reads the same from each."""

import csv
import gzip
import importlib
import io
import json
import sys

import openpyxl
import pytest
from command import page_of, run_unseen

from workbench.reports.inputs import (
    allocation,
    cross_validation,
    misclassification,
    replication,
    stratified,
)

zstd = importlib.import_module(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
)

TABLES = {
    "scores": "id,p,read,y\n"
    + "".join(f"i{k:02},{0.5 + k / 50:.2f},{'ab'[k % 2]},{'ab'[k % 2]}\n" for k in range(24)),
    "sheet": "id,correct\n" + "".join(f"i{k:02},{int(k % 3 > 0)}\n" for k in range(24)),
    "items": "truth,prediction,stratum,psu,weight\n"
    + "".join(f"{k % 2},{k % 3 % 2},{k // 8},{k // 2},{1 + k % 2 / 2}\n" for k in range(24)),
    "strata": "stratum,size,sd\na,100,1.125\nb,200,.5\n",
    "records": "id,stratum,v\n" + "".join(f"{k},{'ab'[k % 2]},{k % 5}.5\n" for k in range(20)),
    "audit": "truth,prediction\n" + "0,0\n" * 30 + "1,1\n" * 9 + "0,1\n" * 4,
    "counts": "period,n,counted\n2024-01,900,200\n2024-02,910,240\n",
    "predictions": "period,prediction\n"
    + "".join(f"2024-0{1 + k % 2},{int(k % 7 == 0)}\n" for k in range(700)),
    "losses": "fold,tree,svm\n"
    + "".join(f"{k},{0.2 + k / 50:.2f},{0.1 + (k * 7 % 5) / 50:.2f}\n" for k in range(10)),
}
TOPICS = {
    "a plan": (
        stratified,
        {"scores": "scores", "score": "p", "prediction": "read", "id": "id", "budget": 10},
    ),
    "a filled sheet": (
        stratified,
        {"scores": "scores", "score": "p", "prediction": "read", "id": "id", "labels": "sheet"},
    ),
    "clusters": (
        replication,
        {"items": "items", "psu": "psu", "positive": "1", "weight": "weight"},
    ),
    "strata": (allocation, {"strata": "strata"}),
    "records": (
        allocation,
        {
            "strata": "records",
            "value": "v",
            "id": "id",
            "budget": 8,
            "label_sheet": "s.csv",
            "write": False,
        },
    ),
    "counts": (misclassification, {"audit": "audit", "counts": "counts", "fresh_audit": "audit"}),
    "predictions": (misclassification, {"audit": "audit", "counts": "predictions"}),
    "losses": (cross_validation, {"losses": "losses", "better": "lower"}),
}
LINES = {
    "stratified-accuracy": "--scores scores{0} --score p --prediction read --id id --labels sheet{0}",
    "brr-orthogonal-arrays": "--items items{0} --psu psu --positive 1 --weight weight",
    "voila-vs-neyman": "--strata records{0} --value v --id id --budget 8 --label-sheet s.csv",
    "misclassification-correction": "--audit audit{0} --counts counts{0} --fresh-audit audit{0}",
    "cross-validation-t-tests": "--losses losses{0} --better lower",
}


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def typed(cell):
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell


def as_json(text):
    header, *rows = rows_of(text)
    return [json.dumps(dict(zip(header, map(typed, row), strict=True))) for row in rows]


def workbook(path, text, sheet=None):
    book = openpyxl.Workbook()
    if sheet:
        book.active.append(["another", "table"])
        book.create_sheet(sheet)
    for row in rows_of(text):
        book.worksheets[-1].append([typed(cell) for cell in row])
    book.save(path)


KINDS = {
    ".csv.gz": lambda path, text: path.write_bytes(gzip.compress(text.encode())),
    ".tsv.gz": lambda path, text: path.write_bytes(gzip.compress(text.replace(",", "\t").encode())),
    ".csv.zst": lambda path, text: path.write_bytes(zstd.compress(text.encode())),
    ".jsonl": lambda path, text: path.write_text("\n".join(as_json(text))),
    ".ndjson": lambda path, text: path.write_text("\n".join(as_json(text))),
    ".jsonl.gz": lambda path, text: path.write_bytes(
        gzip.compress("\n".join(as_json(text)).encode())
    ),
    ".json": lambda path, text: path.write_text(f"[{','.join(as_json(text))}]"),
    ".xlsx": workbook,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def write(folder, kind):
    ending, _, sheet = kind.partition("#")
    for name, text in TABLES.items():
        if sheet:
            workbook(folder / f"{name}.xlsx", text, sheet)
        else:
            KINDS[ending](folder / (name + ending), text)


def found(topic, ending):
    module, parameters = TOPICS[topic]
    result = module.read(
        **{name: value + ending if value in TABLES else value for name, value in parameters.items()}
    )
    return result if isinstance(result, tuple) else (result,)


def plain(result):
    """Return a result as plain values; identifiers as text, as some files have numbers where others have none."""
    if not hasattr(result, "to_dict"):
        return result
    values = result.to_dict()["values"]
    return values | {"id": list(map(str, result.id))} if values.get("id") is not None else values


@pytest.mark.parametrize("topic", TOPICS)
def test_every_kind_of_file_says_the_same(topic, folder):
    wanted = list(map(plain, found(topic, ".csv")))
    for kind in (*KINDS, ".xlsx#May 3"):
        write(folder, kind)
        assert list(map(plain, found(topic, kind))) == wanted, kind


@pytest.mark.slow
@pytest.mark.parametrize("topic", LINES)
def test_a_report_of_a_sheet_of_a_workbook(topic, folder):
    write(folder, ".xlsx#May 3")
    words = [word.format(".xlsx#May 3") for word in LINES[topic].split()]
    page = page_of(run_unseen(folder, "report", topic, *words, "-o", "r.html", "--quiet"), folder)
    assert f"{words[1]}</td>" in page
