"""The library section of the README runs from top to bottom on files and arrays of the reader's own."""
import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
import refresh_pictures
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """What the reader brings: files in the working folder, arrays, and the parts the README leaves to him."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(0), 2000
    score = rng.random(n)
    prediction = (score >= .5).astype(int)
    truth = np.where(rng.random(n) < .8, prediction, 1 - prediction)
    lines = [f"{i},{p:.6f},{yhat}" for i, (p, yhat) in enumerate(zip(score, prediction, strict=True))]
    Path("my.csv").write_text("\n".join(["item,p,yhat", *lines]) + "\n", encoding="utf-8")
    duckdb.sql("copy (select range as item, 's' || range % 4 as segment, (range % 7 > 0)::int as correct, "
               "'text ' || range as text from range(5000)) to 'big.parquet' (format parquet)")
    right, document = (rng.random((200, 3)) < [.7, .8, .6]).astype(int), np.arange(200) // 4
    Path("runs").mkdir()
    for name, scores in zip(("old", "new", "rival"), right.T.tolist(), strict=True):
        samples = [{"id": k, "epoch": 1, "input": f"{k}?", "target": "", "metadata": {"document": f"d{k // 4}"},
                    "scores": {"match": {"value": score}}} for k, score in enumerate(scores)]
        Path("runs", f"{name}.json").write_text(json.dumps({"version": 2, "status": "success", "eval": {"model": name},
                                                            "samples": samples}), encoding="utf-8")
    losses = [f"{i},{i % 10},{a},{b}" for i, (a, b) in enumerate(rng.integers(0, 2, (200, 2)))]
    Path("losses.csv").write_text("\n".join(["item,fold,old,new", *losses]) + "\n", encoding="utf-8")
    X, y = load_digits(return_X_y=True)
    old, new = (cross_validate(model, X[:300], y[:300], cv=KFold(10), return_indices=True)
                for model in (KNeighborsClassifier(1), LogisticRegression(max_iter=5000)))

    def batches():
        for _ in range(3):
            yield rng.integers(0, 5, 1000), rng.random(1000), np.arange(1000)
    return {"your_labels": lambda index: (prediction == truth)[index].astype(int), "batches": batches,
            "truth": truth, "prediction": prediction, "rival": 1 - truth[::-1], "counts_at_audit": (10_000, 10_000),
            "jan": (2400, 2600), "feb": (2200, 2800), "old": old, "new": new, "district": np.repeat(np.arange(10), 200),
            "person": np.arange(n) // 100, "grades": right, "names": range(200), "document": document,
            "w": rng.uniform(1, 3, n)}


@pytest.mark.slow
def test_every_block_runs(reader, capsys):
    assert len(BLOCKS) == 8
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), reader)
    assert 0 < reader["low"] < reader["high"] < 1 and Path("weights.csv").stat().st_size > 0
    assert capsys.readouterr().out.count("\n") >= 5


def test_its_pictures_are_there_and_their_words_are_computed():
    shown = {name: words for words, name in refresh_pictures.LINE.findall(README)}
    assert shown == {name: made()[0] for name, made in refresh_pictures.PICTURES.items()}
    for name in shown:
        picture = (refresh_pictures.ROOT / "docs" / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG") and 5_000 < len(picture) <= 80_000
    assert README.count("](docs/") == len(shown) == 5
