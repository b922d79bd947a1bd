"""The report as a researcher makes it who asks whether one model is better than another."""

import json
import re

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here
from scipy import stats

TOPIC = ("report", "cross-validation-t-tests")
FOLDS = [0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, 0.05, 0]


def p_at(rho):
    t = stats.ttest_1samp(FOLDS, 0).statistic
    return 2 * stats.t.sf(t * (1 - rho) ** 0.5, 9)


@pytest.fixture
def files(tmp_path):
    """Errors of ten folds of 20 items whose differences are those of the lesson; scores; three models; equal ones."""
    rng = np.random.default_rng(0)
    lines, name = ["nr;Falte;alt;<b>neu</b>"], 0
    for k, difference in enumerate(FOLDS):
        new = rng.permutation([1.0] * 2 + [0.0] * 18)
        old = new.copy()
        off = np.flatnonzero(new == (difference < 0))[: round(20 * abs(difference))]
        old[off] = 1 - new[off]
        for a, b in zip(old, new, strict=True):
            name += 1
            lines.append(f"{name};{k + 1};{a:.1f};{b:.1f}".replace(".", ","))
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scores = [
        f"{k},{0.8 - d:.2f},{0.8:.2f},{0.7 + 0.01 * (k % 3):.2f}" for k, d in enumerate(FOLDS)
    ]
    (tmp_path / "scores.csv").write_text(
        "fold,old,new,third\n" + "\n".join(scores) + "\n", encoding="utf-8"
    )
    (tmp_path / "same.csv").write_text(
        "fold,a,b\n" + "".join(f"{k},.2,.1\n" for k in range(5)), encoding="utf-8"
    )
    return tmp_path


NAMES = ("--losses", "items.csv", "--item", "nr", "--fold", "Falte")


def page_made_here(files, *arguments):
    return page_of(run_here(files, *TOPIC, *arguments, "-o", "r.html", "--quiet"), files)


def test_from_items_to_page(files, kernel):
    page = page_of(run(files, *TOPIC, *NAMES, "-o", "r.html", "--quiet"), files)
    assert (
        all(f"{p_at(rho):.4g}" in page for rho in (0, 10 / 19, 0.7))
        and "changes at rho 0.368" in page
    )
    assert re.search(r"only .+ correct 18, only .+ correct 1<", page) and "fitted models" in page
    assert "<b>neu</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 3 and not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)


def test_scores_per_fold_give_the_same_verdict(files):
    page = page_made_here(
        files,
        "--losses",
        "scores.csv",
        "--models",
        "old, new",
        "--better",
        "higher",
        "--rho",
        "nadeau_bengio",
    )
    assert (
        f"{p_at(10 / 19):.4g}" in page
        and "changes at rho 0.368" in page
        and "correct" not in page.partition("Every test")[2].partition("</table>")[0]
    )
    assert "scores 0.8 against 0.715" in page


def test_more_than_two_models_are_ranked_and_adjusted(files):
    page = page_made_here(files, "--losses", "scores.csv", "--better", "higher", "--rho", "naive")
    assert "holm" in page.lower() and "new has the largest mean score, 0.8" in page
    assert (
        "compare the best two of several models" in page
        and "not adjusted for the number of pairs" in page
    )


def test_folds_that_all_agree_are_refused_a_p_value_but_reported(files):
    page = page_made_here(files, "--losses", "same.csv", "--better", "lower")
    assert "there is no t and no p-value" in page and "No chart: the folds show no variance" in page


def test_a_mistake_costs_one_line_before_the_run(files):
    costs_one_line(
        files,
        "'items.csv' has no column 'Fold'; available columns:",
        *TOPIC,
        *NAMES,
        "--fold",
        "Fold",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "alt,nau"], "nau"),
        (["--rho", "1"], "--rho must be a number below 1; got 1"),
        (["--rho", "nadeau"], "did you mean 'nadeau_bengio'?"),
        (["--level", "95"], "--level must be"),
    ],
)
def test_mistakes_cost_one_line_in_the_run(files, arguments, message):
    costs_one_line(files, message, *TOPIC, *NAMES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(files, kernel):
    costs_one_line(
        files, "did you mean 'nadeau_bengio'?", *TOPIC, *NAMES, "--rho", "nadeau", runs=run
    )


def test_scores_are_compared_as_scores_in_words_pictures_tables_and_json(files):
    """New is .085 above old, the mean of FOLDS: as scores the difference is above 0. Nothing speaks of losses."""
    for names, title in (("old, new", "Test result"), ("old, new, third", "3 pairs differ")):
        page = page_made_here(
            files,
            "--losses",
            "scores.csv",
            "--models",
            names,
            "--better",
            "higher",
            "--rho",
            "naive",
            "--json",
            "r.json",
        )
        assert (
            title in page
            and "Mean new minus old 0.085; " in page
            and "mean difference new minus old" in page
        )
        shown = re.sub(
            r'(?s)<style>.*?</style>|<footer.*|"data:[^"]*"|<h2[^>]*>How this report was made.*',
            "",
            page,
        )
        assert re.findall(r"[^.>]*\bloss(?:es)?\b[^.<]*", shown) == []
        results = json.loads((files / "r.json").read_text(encoding="utf-8"))["results"]
        low, high = stats.ttest_1samp(FOLDS, 0).confidence_interval(0.95)
        (row,) = [
            row
            for found in results
            for row in found["rows"]
            if row.get("test") == "K-fold t, naive"
        ]
        assert (row["low"], row["high"]) == pytest.approx((low, high))


@pytest.fixture
def schemes(tmp_path):
    """Files of two models: 250 random splits, 100 flat folds, 5 seeds of 10 folds, an undefined fold, many columns."""
    rng = np.random.default_rng(5)
    old = rng.normal(0.8, 0.02, 250).round(3)
    new = (old + rng.normal(0.004, 0.02, 250)).round(3)
    rows = {
        "splits": [
            "fold,old,new",
            *(f"{k},{a},{b}" for k, (a, b) in enumerate(zip(old, new, strict=True))),
        ],
        "seeds": [
            "seed,fold,old,new",
            *(f"{k // 10},{k % 10},{old[k]},{new[k]}" for k in range(50)),
        ],
        "times": [
            "fold,old,new,fit_time,n_test",
            *(f"{k},{old[k]},{new[k]},.{k}1,100" for k in range(10)),
        ],
        "gap": ["fold,old,new", *(f"{k},{old[k] if k != 3 else ''},{new[k]}" for k in range(10))],
    }
    rows["flat"] = rows["splits"][:101]
    rows["split"] = ["split,old,new", *rows["splits"][1:11]]
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path, old - new


def corrected(differences, ratio):
    error = ((1 / len(differences) + ratio) * np.var(differences, ddof=1)) ** 0.5
    return 2 * stats.t.sf(abs(np.mean(differences)) / error, len(differences) - 1)


HIGHER = ("--better", "higher", "--rho", "nadeau_bengio")


@pytest.mark.parametrize(
    ("name", "options", "scheme", "rows", "ratio"),
    [
        (
            "splits",
            ("--splits", "random", "--test-share", ".2"),
            "250 random splits, 20% of the items in each test set",
            slice(250),
            0.25,
        ),
        ("seeds", (), "5 repeats of 10 folds", slice(50), 1 / 9),
        ("times", (), "one cross-validation of 10 folds", slice(10), 1 / 9),
        ("gap", (), "9 folds, each of 10% of the items", [0, 1, 2, 4, 5, 6, 7, 8, 9], 1 / 9),
    ],
)
def test_the_page_names_its_scheme_first(schemes, name, options, scheme, rows, ratio):
    folder, differences = schemes
    page = page_of(
        run_here(
            folder, *TOPIC, "--losses", f"{name}.csv", *HIGHER, *options, "-o", "r.html", "--quiet"
        ),
        folder,
    )
    assert (
        re.search(r'<section class="finding"[^>]*>\s*<p>(.*?)</p>', page)[1] == f"Read as {scheme}."
    )
    assert f"{corrected(differences[rows], ratio):.4g}" in page


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("splits", (), "--splits must be 'random' or 'folds', because 250 folds may be"),
        ("flat", (), "--splits must be 'random' or 'folds', because 100 folds may be"),
        (
            "split",
            (),
            "--splits must be 'random' or 'folds', because column 'split' may number folds or random splits",
        ),
        ("splits", ("--splits", "random"), "--test-share must be given for random splits"),
        (
            "splits",
            ("--splits", "folds", "--test-share", ".2"),
            "--test-share is only for random splits",
        ),
        ("splits", ("--test-share", "1.5"), "--test-share must be"),
    ],
)
def test_a_scheme_that_is_not_known_is_asked_for(schemes, name, options, message):
    costs_one_line(schemes[0], message, *TOPIC, "--losses", f"{name}.csv", *HIGHER, *options)
