"""The first screen of every report, measured in a browser: the finding above the fold, no small type, nothing cut."""

import itertools

import browser
import numpy as np
import pytest
from command import page_of, run, run_here

from workbench import AuditSession

DESK, PHONE = (1280, 900), (390, 800)
FOLD = {DESK: 900, PHONE: 800}
LEAST = {DESK: 14, PHONE: 12}
TOPICS = (
    "stratified-accuracy",
    "brr-orthogonal-arrays",
    "voila-vs-neyman",
    "misclassification-correction",
    "cross-validation-t-tests",
)
RNG = np.random.default_rng(11)
# once each picture is the one for this width and these colors
SHOWN = """async () => {
    await new Promise(requestAnimationFrame);
    await Promise.all([...document.images].map(image => image.decode()));
}"""
# sizes and gaps of all text; pictures hold type of 14 pixels at their own size (12 in the narrow ones)
MEASURE = """least => {
    const small = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const node = walk.currentNode, range = document.createRange();
        range.selectNode(node);
        if (node.textContent.trim() && range.getBoundingClientRect().width
            && parseFloat(getComputedStyle(node.parentElement).fontSize) < least - 0.01)
            small.push(node.textContent.trim().slice(0, 40));
    }
    const width = document.documentElement.clientWidth;
    const cut = [...document.querySelectorAll('h1, h2, h3, figcaption, .finding p')].filter(e =>
        e.closest('.scroll') || e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > width);
    const pictures = [...document.querySelectorAll('figure img')];
    return {small, cut: cut.map(e => e.textContent.trim().slice(0, 40)),
            bottom: document.querySelector('.finding').getBoundingClientRect().bottom + scrollY,
            wide: document.documentElement.scrollWidth - width,
            shrunk: pictures.filter(e => e.getBoundingClientRect().width < 0.97 * e.naturalWidth / 2).length,
            narrow: pictures.filter(e => e.getBoundingClientRect().width < 0.97 * (width < 700 ? 350 : 740)).length};
}"""


def write(path, **columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in (columns, *rows)) + "\n")


def claims(folder):
    n = 3000
    kinds = np.array(["regular claim", "suspicious claim", "fraud"])
    truth, conf = RNG.choice(3, n, p=[0.8, 0.15, 0.05]), RNG.beta(6, 1.6, n).clip(0.34, 0.999)
    guess, rival = (
        np.where(RNG.random(n) < conf * skill, truth, RNG.choice(3, n)) for skill in (1.05, 0.9)
    )
    write(
        folder / "claims.csv",
        claim_id=[f"C-{i:06d}" for i in range(n)],
        confidence=conf.round(4),
        predicted=kinds[guess],
        predicted_new=kinds[rival],
        reviewed=kinds[truth],
    )
    return [
        "--scores",
        "claims.csv",
        "--score",
        "confidence",
        "--prediction",
        "predicted",
        "--id",
        "claim_id",
    ]


def plan(folder):
    return ["stratified-accuracy", *claims(folder), "--budget", 300]


def one_class(folder):
    return [
        "stratified-accuracy",
        *claims(folder),
        "--budget",
        300,
        "--truth",
        "reviewed",
        "--metrics-of",
        "fraud",
    ]


def two_models(folder):
    return [
        "stratified-accuracy",
        *claims(folder),
        "--truth",
        "reviewed",
        "--rival",
        "predicted_new",
    ]


def clinics(folder):
    clinic = np.repeat(np.arange(40), 30)
    truth = (RNG.random(1200) < RNG.beta(2, 5, 40)[clinic]).astype(int)
    score = (1 / (1 + np.exp(-(2 * truth - 1 + RNG.normal(0, 1.2, 1200))))).round(4)
    write(
        folder / "clinics.csv",
        region=[f"north-eastern region {c // 4}" for c in clinic],
        clinic=[f"clinic {c}" for c in clinic],
        weight=RNG.uniform(5, 40, 1200).round(2),
        diagnosis=truth,
        predicted=(score > 0.5).astype(int),
        score=score,
    )
    return [
        "brr-orthogonal-arrays",
        "--items",
        "clinics.csv",
        "--truth",
        "diagnosis",
        "--prediction",
        "predicted",
        "--score",
        "score",
        "--stratum",
        "region",
        "--psu",
        "clinic",
        "--weight",
        "weight",
        "--metrics",
        "accuracy precision recall f1 auc",
        "--group",
        "region",
    ]


def municipalities(folder):
    write(
        folder / "strata.csv",
        stratum=[f"municipality of the north {h:02d}" for h in range(40)],
        size=RNG.integers(20, 20000, 40),
        sd=RNG.lognormal(2, 1, 40).round(2),
    )
    return ["voila-vs-neyman", "--strata", "strata.csv", "--budget", 400]


def employment(folder):
    names = np.array(["health", "industry", "other", "trade", "transport"])
    truth = RNG.choice(5, 2500, p=[0.3, 0.2, 0.1, 0.25, 0.15])
    read = np.where(RNG.random(2500) < 0.85, truth, RNG.choice(5, 2500))
    write(folder / "audit.csv", truth=names[truth], prediction=names[read])
    months = [f"{2024 + t // 12}-{t % 12 + 1:02d}" for t in range(24)]
    # what is predicted of such items: .85 of them as they are, the others as any class
    counts = np.array(
        [
            RNG.multinomial(
                9000, [0.285 + 0.003 * t, 0.2, 0.115, 0.2425 - 0.002 * t, 0.1575 - 0.001 * t]
            )
            for t in range(24)
        ]
    )
    write(folder / "months.csv", month=months, **dict(zip(names, counts.T, strict=True)))
    return [
        "misclassification-correction",
        "--audit",
        "audit.csv",
        "--counts",
        "months.csv",
        "--period",
        "month",
    ]


def learners(folder):
    hard, names = (
        RNG.beta(1, 5, 2000),
        ("logistic regression", "random forest", "gradient boosting", "svm", "knn"),
    )
    losses = {
        name: (RNG.random(2000) < hard * f).astype(int)
        for name, f in zip(names, (1.3, 1, 0.93, 1.05, 1.6), strict=True)
    }
    write(folder / "losses.csv", item=range(2000), fold=RNG.permutation(2000) % 10, **losses)
    return ["cross-validation-t-tests", "--losses", "losses.csv", "--better", "lower"]


def repeats(folder):
    fold = np.tile(np.arange(10), 10)
    a, b = (RNG.normal(mean, 0.02, 100).round(4) for mean in (0.82, 0.84))
    write(
        folder / "folds.csv",
        repeat=np.repeat(np.arange(10), 10),
        fold=fold,
        acc_baseline=a,
        acc_forest=b,
    )
    return ["cross-validation-t-tests", "--losses", "folds.csv", "--better", "higher"]


def several_models(folder, names=("predicted_old", "predicted_new")):
    item = RNG.normal(size=400)
    truth = (RNG.random(400) < 0.35).astype(int)
    scores = {
        f"score_{name}": (signal * truth + 0.6 * item + RNG.normal(size=400)).round(3)
        for name, signal in zip(names, (1, 1.9, 2), strict=False)
    }
    classes = {
        name: (score > 0.5).astype(int) for name, score in zip(names, scores.values(), strict=True)
    }
    patient = [f"patient {k // 20}" for k in range(400)]
    write(folder / "images.csv", patient=patient, diagnosis=truth, **classes, **scores)
    return [
        "brr-orthogonal-arrays",
        "--items",
        "images.csv",
        "--truth",
        "diagnosis",
        "--prediction",
        ",".join(names),
        "--score",
        ",".join(scores),
        "--psu",
        "patient",
        "--metrics",
        "accuracy precision recall f1 auc mcc",
    ]


def three_models(folder):
    return several_models(folder, ("predicted_old", "predicted_new", "predicted_newest"))


OWN = (
    plan,
    one_class,
    two_models,
    clinics,
    several_models,
    three_models,
    municipalities,
    employment,
    learners,
    repeats,
)


@pytest.mark.parametrize(
    "asked", [*TOPICS, *OWN], ids=lambda asked: getattr(asked, "__name__", asked)
)
def test_the_finding_is_on_the_first_screen_and_nothing_is_small_or_cut(asked, tmp_path, started):
    RNG.bit_generator.state = np.random.default_rng(
        11
    ).bit_generator.state  # whichever case comes first
    words = asked(tmp_path) if callable(asked) else [asked]
    page_of(run_here(tmp_path, "report", *words, "-o", "r.html"), tmp_path)
    with browser.page((tmp_path / "r.html").as_uri(), started) as page:
        for size, dark in itertools.product((DESK, PHONE), (False, True)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.emulate_media(color_scheme="dark" if dark else "light")
            page.evaluate(SHOWN)
            found = page.evaluate(MEASURE, LEAST[size])
            bottom = found.pop("bottom")
            assert found == {"small": [], "cut": [], "wide": 0, "shrunk": 0, "narrow": 0}, (
                size,
                dark,
            )
            assert 200 < bottom <= FOLD[size], (size, dark)
        assert page.outside == [] and page.console_errors == []


def test_so_is_that_of_an_audit(tmp_path, started):
    people, words = ("ann", "ben"), claims(tmp_path)[1:]
    run(
        tmp_path, "audit", "new", words[0], "a.db", *words[1:], "--budget", 200, "--second-share", 1
    )
    with AuditSession.open(tmp_path / "a.db") as session:
        for k, by in enumerate(people):
            for item in session.next(200, by=by):
                session.record(item.id, int((item.position + 5 * k) % 11 > 0), by=by)
        session.estimate(by="ann")
    assert run_here(tmp_path, "audit", "report", "a.db", "-o", "r.html").returncode == 0
    with browser.page((tmp_path / "r.html").as_uri(), started) as page:
        for size in (DESK, PHONE):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.evaluate(SHOWN)
            found = page.evaluate(MEASURE, LEAST[size])
            assert 200 < found.pop("bottom") <= FOLD[size]
            assert found == {"small": [], "cut": [], "wide": 0, "shrunk": 0, "narrow": 0}, size
            (picture,) = page.locator(".finding img").all()
            width = picture.bounding_box()["width"]
            drawn = picture.evaluate("each => each.naturalWidth") / 2
            assert 0.95 < width / drawn < 1.05
        assert page.outside == [] and page.console_errors == []


def test_so_is_that_of_a_comparison(tmp_path, started):
    learners(tmp_path)
    done = run_here(
        tmp_path,
        "compare",
        "losses.csv",
        "--item",
        "item",
        "--model",
        "random forest,svm,knn",
        "--better",
        "lower",
        "-o",
        "r.html",
    )
    assert done.returncode == 0, done.stderr
    with browser.page((tmp_path / "r.html").as_uri(), started) as page:
        for size in (DESK, PHONE):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.evaluate(SHOWN)
            found = page.evaluate(MEASURE, LEAST[size])
            assert 200 < found.pop("bottom") <= FOLD[size]
            assert found["small"] == found["cut"] == [] and found["wide"] == 0, size
        verdicts = page.locator("th", has_text="verdict").first.bounding_box()
        assert verdicts["x"] + verdicts["width"] <= PHONE[0]


def test_pictures_have_type_of_the_size_that_the_page_promises():
    """What the pictures are drawn with: the browser test shows that no page makes them smaller."""
    import workbench as wb
    from workbench.charts import stratified, theme
    from workbench.widgets import image

    found = wb.accuracy_audit(wb.digit_forms().items(), 100)
    for width, least in (theme.PAGE, theme.PHONE):
        spec = theme.sized(image(stratified.finding(found)).spec, width, least)
        sizes = [value for name, value in flat(spec) if name.lower().endswith("fontsize")]
        assert len(sizes) > 5 and min(sizes) >= least
    assert theme.PAGE[1] >= LEAST[DESK] and theme.PHONE[1] >= LEAST[PHONE]


def flat(part):
    if isinstance(part, list):
        for entry in part:
            yield from flat(entry)
    if isinstance(part, dict):
        for name, entry in part.items():
            yield name, entry
            yield from flat(entry)
