"""Audit sessions: what is handed out, what is recorded, what is said, against other ways to compute it."""

import hashlib
import itertools
from datetime import timedelta

import numpy as np
import pytest
from audited import created, label, population, truths
from refusals import refused

import workbench as wb
from workbench.extras.sessions import estimates, store
from workbench.extras.sessions.estimates import Answers


@pytest.fixture
def known():
    items, truth = population()
    return items, truths(items, truth), truth


def by_hand(items, seed, n, n_strata):
    """The order of labeling, from its description: 60 bits of MD5 within strata, strata as in `labeling_order`."""
    strata = wb.stratify(items.score, n_strata, "equal_size", rng=seed)
    queues = [
        sorted(
            (name for name, h in zip(items.id, strata.labels, strict=True) if h == k),
            key=lambda name: hashlib.md5(f"{seed}:{name}".encode()).hexdigest()[:15],
        )
        for k in range(strata.n_strata)
    ]
    return [queues[h].pop(0) for h in wb.labeling_order(strata.sizes, n)]


def test_items_come_in_the_order_that_anybody_can_compute(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    handed = session.next(25)
    assert [item.id for item in handed + session.next(100)] == by_hand(items, 5, 60, 4)
    assert [item.position for item in handed] == list(range(1, 26))
    assert handed[0].prediction == handed[0].shown["prediction"]


def test_what_is_shown(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items, columns={"text": np.arange(400)}, asks="truth")
    item = session.next()[0]
    assert (
        item.shown == {"text": str(list(items.id).index(item.id))}
        and item.text == item.shown["text"]
    )
    with pytest.raises(
        AttributeError, match="an item has no attribute 'prediction'; it has id, position, text"
    ):
        _ = item.prediction


@pytest.mark.parametrize("asks", ["correct", "truth"])
def test_estimate_and_intervals_are_the_librarys_on_the_same_labels(tmp_path, known, asks):
    items, said, _ = known
    session = created(tmp_path, items, asks=asks)
    ids = label(session, said, 45)
    strata = wb.stratify(items.score, 4, "equal_size", rng=5)
    stratum = np.array([strata.labels[list(items.id).index(each)] for each in ids])
    right = np.array([said[each][0] for each in ids])
    counts = np.bincount(stratum), np.bincount(stratum, right).astype(int)
    expected = wb.stratified_accuracy(strata.sizes, *counts)
    found = session.estimate("fixed")
    assert found.estimate == pytest.approx(expected.estimate)
    assert tuple(found.interval()) == pytest.approx(tuple(expected.interval()))
    anytime = wb.anytime_interval(strata.sizes, stratum, right, expected=0.85)
    assert tuple(session.estimate("anytime").interval()) == pytest.approx(tuple(anytime))
    planned = wb.anytime_interval(strata.sizes, stratum, right, expected=0.85, level=0.99)
    assert tuple(session.estimate().interval()) == pytest.approx(tuple(planned))
    first = (
        np.bincount(stratum[:40], minlength=4),
        np.bincount(stratum[:40], right[:40], 4).astype(int),
    )
    looks = wb.stratified_interval(strata.sizes, *first, level=0.995)
    assert tuple(session.estimate("looks").interval()) == pytest.approx(tuple(looks))
    assert session.estimate("looks").notes[0].kind == "assumption"
    assert session.estimate("looks").labeled == 40
    of_the_first = wb.stratified_accuracy(strata.sizes, *first).estimate
    assert session.estimate("looks").estimate == pytest.approx(of_the_first)


def test_planned_at_its_end_and_beyond(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    ids = label(session, said, 60)
    strata = wb.stratify(items.score, 4, "equal_size", rng=5)
    stratum = [int(strata.labels[list(items.id).index(each)]) for each in ids]
    right = [said[each][0] for each in ids]
    counts = np.bincount(stratum), np.bincount(stratum, right).astype(int)
    at_end = wb.stratified_interval(strata.sizes, *counts, level=0.96)
    assert tuple(session.estimate().interval()) == pytest.approx(tuple(at_end))
    assert (
        1.03 < at_end.half_width / wb.stratified_interval(strata.sizes, *counts).half_width < 1.07
    )
    session.extend(40)
    ids += label(session, said, 40)
    stratum = [int(strata.labels[list(items.id).index(each)]) for each in ids]
    right = [said[each][0] for each in ids]
    later = wb.anytime_interval(strata.sizes, stratum, right, expected=0.85, level=0.99)
    expected = max(at_end.low, later.low), min(at_end.high, later.high)
    assert tuple(session.estimate().interval()) == pytest.approx(expected)


def test_declared_looks_share_the_error(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items, looks=[20, 40])
    ids = label(session, said, 15)
    assert session.estimate("looks").interval() is None
    assert (
        session.estimate("looks").notes[0].text
        == "the first interim analysis is planned at 20 labels"
    )
    ids += label(session, said, 10)
    strata = wb.stratify(items.score, 4, "equal_size", rng=5)
    stratum = [int(strata.labels[list(items.id).index(each)]) for each in ids[:20]]
    right = [said[each][0] for each in ids[:20]]
    expected = wb.stratified_interval(
        strata.sizes, np.bincount(stratum), np.bincount(stratum, right).astype(int), level=0.975
    )
    assert tuple(session.estimate("looks").interval()) == pytest.approx(tuple(expected))


def test_metrics_of_a_class(tmp_path, known):
    items, said, truth = known
    session = created(
        tmp_path, items, question="class_metrics", metrics_of="dog", asks="truth", n_strata=2
    )
    ids = label(session, said, 50)
    before = session.estimate()
    assert before.interval("recall") is None
    assert (
        before.notes[0].text
        == "this question has no interval before the planned 60 labels; 10 labels are still missing"
    )
    ids += label(session, said, 10)
    where = {name: k for k, name in enumerate(items.id)}
    member = items.prediction == "dog"
    cuts = [wb.stratify(items.score[part], 2, "equal_size", rng=5) for part in (member, ~member)]
    stratum = np.where(member, 0, 2)
    for part, cut in zip((member, ~member), cuts, strict=True):
        stratum[part] += cut.labels
    inside = np.array([stratum[where[each]] for each in ids])
    right = np.array([(truth[where[each]] == "dog") == member[where[each]] for each in ids])
    labeled = np.bincount(inside)
    assert abs(labeled[:2].sum() - 18) <= 1  # 30% to the predicted members
    expected = wb.class_metrics(
        np.bincount(stratum),
        [True, True, False, False],
        labeled,
        np.bincount(inside, right).astype(int),
    )
    found = session.estimate()
    for metric in ("precision", "recall", "f1"):
        assert found.estimate[metric] == pytest.approx(getattr(expected, metric))
        assert tuple(found.interval(metric)) == pytest.approx(tuple(expected.interval(metric)))
    rule = "must be one of 'precision', 'recall', 'f1'; got None"
    refused(found.interval, "metric", rule)


def test_the_difference_of_two_models(tmp_path, known):
    items, said, truth = known
    session = created(tmp_path, items, question="difference", asks="truth", budget=40, n_strata=2)
    differ = np.flatnonzero(items.prediction != items.rival)
    assert sum(session.design["stratum_size"]) == differ.size
    ids = label(session, said, 40)
    where = {name: k for k, name in enumerate(items.id)}
    assert {where[each] for each in ids} <= set(differ.tolist())
    cut = wb.stratify(items.score[differ], 2, "equal_size", rng=5)
    counts = np.zeros((2, 3), int)
    for each in ids:
        k = where[each]
        value = int(items.prediction[k] == truth[k]) - int(items.rival[k] == truth[k])
        counts[cut.labels[list(differ).index(k)], value + 1] += 1
    expected = wb.paired_difference(cut.sizes, counts, agreeing=400 - differ.size)
    found = session.estimate()
    assert found.estimate == pytest.approx(expected.estimate)
    assert tuple(found.interval()) == pytest.approx(tuple(expected.interval()))
    rule = "must not be 'anytime' for this question"
    refused(lambda: session.estimate("anytime"), "method", rule)


def test_skipped_items_widen_and_are_never_dropped(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    ids = []
    for t, item in enumerate(session.next(60)):
        ids.append(item.id)
        if t % 10 == 3:
            session.skip(item.id)
        else:
            session.record(item.id, said[item.id][0])
    strata = wb.stratify(items.score, 4, "equal_size", rng=5)
    stratum = [int(strata.labels[list(items.id).index(each)]) for each in ids]
    sides = []
    for end in (0, 1):
        right = [end if t % 10 == 3 else said[each][0] for t, each in enumerate(ids)]
        counts = np.bincount(stratum), np.bincount(stratum, right).astype(int)
        sides.append(wb.stratified_accuracy(strata.sizes, *counts))
    found = session.estimate("fixed")
    assert (found.labeled, found.skipped, session.skipped()) == (
        54,
        6,
        [ids[t] for t in range(3, 60, 10)],
    )
    assert (found.lowest[0], found.highest[0]) == pytest.approx(
        (sides[0].estimate, sides[1].estimate)
    )
    assert tuple(found.interval()) == pytest.approx(
        (sides[0].interval().low, sides[1].interval().high)
    )
    anytime = [
        wb.anytime_interval(
            strata.sizes,
            stratum,
            [end if t % 10 == 3 else said[each][0] for t, each in enumerate(ids)],
            expected=0.85,
            level=0.975,
        )
        for end in (0, 1)
    ]
    assert tuple(session.estimate("anytime").interval()) == pytest.approx(
        (anytime[0].low, anytime[1].high)
    )


def test_bounds_of_skipped_items_miss_where_dropping_them_does_not_hold():
    """3% of the right and 50% of the wrong items are skipped: dropping them misses in a fifth of the audits."""
    rng, truth, n, dropped, bounded = np.random.default_rng(1), 0.9, 300, 0, 0
    for _ in range(600):
        right = rng.random(n) < truth
        skipped = rng.random(n) < np.where(right, 0.03, 0.5)
        kept = wb.stratified_interval([10**7], [n - skipped.sum()], [right[~skipped].sum()])
        values = [None if gone else int(value) for value, gone in zip(right, skipped, strict=True)]
        design = {"question": "accuracy", "asks": "correct", "stratum_size": [10**7], "level": 0.95}
        (bounds,) = Answers(design, np.zeros(n, int), values).limits(0.95, "fixed")
        dropped += truth not in kept
        bounded += truth not in bounds
    assert dropped / 600 > 0.2 and bounded / 600 <= 0.01


def test_pending_items_hold_later_labels_back(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    slow = session.next(1, by="ann")[0]
    ids = label(session, said, 20, by="ben")
    assert slow.id not in ids
    found = session.estimate("fixed")
    assert (found.labeled, found.waiting, found.interval()) == (0, 20, None)
    assert (
        "20 labels do not count yet, because earlier items have no label: "
        f"{slow.id!r}; label or skip each of them"
    ) in [note.text for note in found.notes]
    session.record(slow.id, said[slow.id][0], by="ann")
    assert (session.estimate("fixed").labeled, session.estimate("fixed").waiting) == (21, 0)


def test_two_people_never_get_the_same_item_until_a_day_has_passed(tmp_path, known, monkeypatch):
    items, *_ = known
    session = created(tmp_path, items)
    ann, ben = session.next(5, by="ann"), session.next(5, by="ben")
    assert not {item.id for item in ann} & {item.id for item in ben}
    assert [item.id for item in session.held("ann")] == [item.id for item in ann]
    later = store.now() + timedelta(hours=25)
    monkeypatch.setattr(store, "now", lambda: later)
    assert [item.id for item in session.next(10, by="ben")] == [item.id for item in ann + ben]
    assert session.held("ann") == []


def test_released_items_are_given_to_others(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items)
    first, second = session.next(2, by="ann")
    assert session.release([first.id], by="ann") == 1
    assert session.next(1, by="ben")[0].id == first.id
    with pytest.raises(ValueError, match=f"item '{first.id}' is not assigned to ann"):
        session.release([first.id], by="ann")
    assert session.release(by="ann") == 1 and session.held("ann") == []


def test_corrections_keep_their_history(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items)
    item = session.next(by="ann")[0]
    assert [session.record(item.id, value, by="ann") for value in (1, 1, 0)] == [
        "recorded",
        "known",
        "corrected",
    ]
    assert [(entry.who, entry.label) for entry in session.history(item.id)] == [
        ("ann", 1),
        ("ann", 0),
    ]
    assert session.record(item.id, 0, by="ben") == "known"
    with pytest.raises(
        ValueError,
        match=f"ann labeled item '{item.id}' as 0, not 1; only this annotator can correct it",
    ):
        session.record(item.id, 1, by="ben")
    assert session.undo(by="ann") == item.id
    assert [entry.label for entry in session.history(item.id)] == [1]
    assert [event.kind for event in session.events()] == [
        "created",
        "handed",
        "labeled",
        "labeled",
        "undone",
    ]


def test_undo_goes_back_step_by_step_and_person_by_person(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items)
    a, b, c = (item.id for item in session.next(3))
    session.record(a, 1)
    session.record(b, 0, by="ben")
    session.skip(c)
    assert [session.undo(), session.undo()] == [c, a]
    with pytest.raises(ValueError, match="an unnamed annotator has no label or skip to undo"):
        session.undo()
    assert (session.status().labeled, session.skipped()) == (1, [])
    assert session.undo(by="ben") == b


def test_a_skipped_item_can_be_labeled_later(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items)
    item = session.next()[0]
    session.skip(item.id)
    session.skip(item.id)
    session.record(item.id, 1)
    assert (session.status().labeled, session.skipped()) == (1, [])
    with pytest.raises(ValueError, match="has a label; undo the label first"):
        session.skip(item.id)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("nobody", 1, "item 'nobody' is not in this audit"),
        (None, "perhaps", "'perhaps' is not 1 \\(correct\\) or 0 \\(incorrect\\)"),
        (
            "late",
            1,
            "has position 61 in the order of labeling, after the budget of 60; extend the audit first",
        ),
    ],
)
def test_what_cannot_be_recorded(tmp_path, known, name, value, message):
    items, *_ = known
    session = created(tmp_path, items)
    order = by_hand(items, 5, 61, 4)
    with pytest.raises(ValueError, match=message):
        session.record({None: order[0], "late": order[60]}.get(name, name), value)
    assert len(session.events()) == 1


def test_a_class_that_is_never_predicted_is_other(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items, asks="truth")
    item = session.next()[0]
    session.record(item.id, "other")
    with pytest.raises(
        ValueError, match="'cow' is not a predicted class. Write 'cat', 'dog', 'eel', or 'other'"
    ):
        session.record(item.id, "cow")
    assert session.history(item.id)[0].label == "other"


def test_numbers_as_classes_and_as_identifiers(tmp_path):
    items = wb.ScoredItems(
        np.arange(100, 160), np.linspace(0.5, 1, 60), prediction=np.arange(60) % 2
    )
    session = created(tmp_path, items, asks="truth", budget=10, n_strata=2)
    item = session.next()[0]
    session.record(int(item.id), 1.0)
    assert session.history(item.id)[0].label == "1"


def test_every_look_is_in_the_trail(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    label(session, said, 10)
    session.estimate(by="ann")
    label(session, said, 10)
    session.estimate("fixed")
    with wb.AuditSession.open(session.path) as again:
        looks = again.looks
    assert [(look["who"], look["method"], look["labeled"]) for look in looks] == [
        ("ann", "planned", 10),
        ("", "fixed", 20),
    ]
    stopped = session.estimate("fixed")
    assert stopped.notes[0].kind == "unreliable" and "2 interim analyses" in str(stopped.notes[0])
    label(session, said, 40)
    assert session.estimate("fixed").notes == ()


def test_looks_name_their_number_of_labels(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    label(session, said, 31)
    found = session.estimate()
    assert repr(found).endswith("31 of 60 planned labels, method planned)")
    for each in (found, session.status(), session.verify()):
        assert wb.Result.from_dict(each.to_dict()).to_dict() == each.to_dict()


def test_extending_goes_on_in_the_same_order(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    first = label(session, said, 60)
    assert session.next() == [] and session.extend(30) == 90
    assert first + [item.id for item in session.next(40)] == by_hand(items, 5, 90, 4)
    with pytest.raises(
        ValueError, match="there are only 400 items to label, and the budget is already 90"
    ):
        session.extend(311)


def test_extending_beyond_what_is_kept_needs_the_same_scores(tmp_path, monkeypatch):
    from workbench.extras.sessions import design as session_design

    monkeypatch.setattr(session_design, "KEPT", 70)
    monkeypatch.setattr(session_design, "KEPT_PER_LABEL", 1)
    items, truth = population()
    text = np.array([f"text {k}" for k in range(400)])
    session = created(tmp_path, items, columns={"text": text})
    with pytest.raises(
        ValueError, match="the session keeps 70 items; give the scores again to label 90"
    ):
        session.extend(30)
    other, _ = population(seed=4)
    with pytest.raises(ValueError, match="these are not the scores that the audit was made from"):
        session.extend(30, other, columns={"text": text})
    rule = "must be the columns that the audit shows, text; got none"
    refused(lambda: session.extend(30, items), "columns", rule)
    assert session.status().budget == 60
    assert session.extend(30, items, columns={"text": text}) == 90
    handed = session.next(90)
    assert [item.id for item in handed] == by_hand(items, 5, 90, 4)
    assert all(item.text == f"text {int(item.id[5:])}" for item in handed)
    assert session.verify(items).items == 90


def test_second_labels_go_to_somebody_else_and_differing_ones_to_a_third(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items, second_share=1.0, budget=20)
    refused(session.next, "by", "must be a name, because this audit has double annotation")
    names = [item.id for item in session.next(20, by="ann")]
    for each in names:
        session.record(each, 1, by="ann")
    assert session.next(by="ann") == []
    for k, item in enumerate(session.next(20, by="ben")):
        session.record(item.id, int(k >= 4), by="ben")
    assert session.next(by="ann") == session.next(by="ben") == []
    third = session.next(20, by="cyd")
    assert [item.id for item in third] == names[:4]
    open_ = session.second_labels()
    assert (open_.pairs, open_.differing, open_.settled, open_.agreement) == (20, 4, 0, 0.8)
    for item, value in zip(third, (0, 0, 0, 1), strict=True):
        session.record(item.id, value, by="cyd")
    found = session.second_labels()
    # first labels say 1; all have two labels and three of 20 were decided as wrong; only second labels err downwards
    assert (found.estimate, found.lowest, found.highest) == pytest.approx((1, 0.85, 0.85))
    assert (open_.lowest, open_.highest) == pytest.approx((0.8, 1))
    assert found.notes[1].text.startswith(
        "of 4 decided pairs, the first label was incorrect in 3, the second in 1"
    )
    inside = session.strata()
    assert [row["stratum"] for row in inside] == [1, 2, 3, 4]
    place = dict(
        zip(items.id, wb.stratify(items.score, 4, "equal_size", rng=5).labels, strict=True)
    )
    wrong = np.bincount([place[each] for each in names[:3]], minlength=4)
    labeled = np.array([row["labeled"] for row in inside])
    settled = wb.stratified_interval(session.design["stratum_size"], labeled, labeled - wrong)
    assert tuple(found.interval()) == pytest.approx(tuple(settled))
    assert (
        open_.interval().low
        < found.interval().low
        <= found.interval().high
        <= open_.interval().high
    )
    # what is quoted is corrected; first labels are still there
    estimate = session.estimate()
    assert (estimate.estimate, tuple(estimate.interval()), estimate.lowest) == (
        0.85,
        tuple(found.interval()),
        (1,),
    )
    assert [(row["method"], row["estimate"]) for row in estimate.rows()] == [
        ("corrected", 0.85),
        ("planned", 1),
    ]
    assert estimate.headline().startswith(
        "Accuracy corrected for label errors 85.0% (95% confidence interval "
    )
    assert estimate.finding().endswith("; corrected for label errors") and estimate.gain() == ""


def test_strata_with_too_few_pairs_count_as_one_with_their_neighbors(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items, second_share=0.6, budget=100)
    ids = [item.id for item in session.next(100, by="ann")]
    for each in ids:
        session.record(each, said[each][0], by="ann")
    early = session.second_labels()
    assert early.interval() is None and early.notes[0].kind == "undefined" and early.estimate > 0
    again = [item.id for item in session.next(100, by="ben")]
    for each in again:
        session.record(each, said[each][0], by="ben")
    place = dict(
        zip(items.id, wb.stratify(items.score, 4, "equal_size", rng=5).labels.tolist(), strict=True)
    )
    once, pairs = np.zeros((4, 2), int), np.zeros((4, 2, 2, 3), int)
    for each in ids:
        label = said[each][0]
        if each in again:
            pairs[place[each], label, label, label] += 1
        else:
            once[place[each], label] += 1
    assert pairs.sum((1, 2, 3)).tolist() == [13, 13, 18, 14]
    runs = [[0, 1], [2, 3]]
    expected = wb.second_labels(
        [200, 200], *([table[run].sum(0) for run in runs] for table in (once, pairs))
    )
    found = session.second_labels()
    assert tuple(found.interval()) == tuple(expected.interval())
    assert "neighboring strata were merged (4 to 2)" in found.notes[-1].text


def test_strata_are_joined_no_further_than_it_takes():
    for pairs in itertools.product(range(4), repeat=4):
        if sum(pairs) >= 2:
            cuts = [
                (0, *cut)
                for k in range(4)
                for cut in itertools.combinations((1, 2, 3), k)
                if min(np.add.reduceat(pairs, (0, *cut))) >= 2
            ]
            starts = estimates._joined_strata(np.array(pairs), 2)
            assert tuple(starts) in cuts and len(starts) == max(map(len, cuts))


def test_a_corrected_interval_before_the_planned_end_says_what_looks_cost(tmp_path, known):
    session = created(tmp_path, known[0], second_share=1.0, budget=40)
    for by in ("ann", "ben"):
        for item in session.next(20, by=by):
            session.record(item.id, 1, by=by)
        session.release(by=by)
    before = session.second_labels()
    assert "20 labels instead of the planned 40 without looking at labels" in before.notes[1].text
    early = session.estimate()
    assert early.is_corrected and early.notes[0].kind == "unreliable"
    assert (
        "fixed beforehand, but 40 labels were planned and this interval is for 20 labels"
        in early.notes[0].text
    )
    for by in ("ann", "ben"):
        for item in session.next(20, by=by):
            session.record(item.id, 1, by=by)
    assert session.estimate().notes[0].kind == "assumption"  # of people, not of looks


def test_a_pair_that_became_alike_needs_no_decision(tmp_path, known):
    session = created(tmp_path, known[0], second_share=1.0, budget=20)
    for item in session.next(20, by="ann"):
        session.record(item.id, 1, by="ann")
    one, *others = session.next(20, by="ben")
    session.record(one.id, 0, by="ben")
    for item in others:
        session.record(item.id, 1, by="ben")
    session.record(one.id, 0, by="cyd")
    assert session.second_labels().lowest == pytest.approx(0.95)
    session.record(one.id, 1, by="ben")  # a correction; cyd's label decides nothing now
    found = session.second_labels()
    assert (found.differing, found.lowest, found.highest) == (0, 1, 1)


def test_a_skipped_item_is_open_among_those_with_two_labels(tmp_path, known):
    session = created(tmp_path, known[0], second_share=1.0, budget=20)
    skipped, *others = session.next(20, by="ann")
    session.skip(skipped.id, by="ann")
    for item in others:
        session.record(item.id, 1, by="ann")
    for item in session.next(20, by="ben"):
        session.record(item.id, 1, by="ben")
    found = session.second_labels()
    assert (found.pairs, found.lowest, found.highest) == pytest.approx((19, 0.95, 1))


def test_skipped_items_wait_for_second_labels_like_others(tmp_path, known):
    session = created(tmp_path, known[0], second_share=1.0, budget=40, n_strata=1)
    items = session.next(40, by="ann")
    for item in items[:8]:
        session.skip(item.id, by="ann")
    for item in items[8:]:
        session.record(item.id, 1, by="ann")
    assert session.second_labels().interval() is None  # what is skipped is no pair
    for item in session.next(16, by="ben"):
        session.record(item.id, int(item.position > 10), by="ben")
    # 16 of 32 have two labels by now: so would 4 of the 8 skipped ones
    pairs = [[[[0, 0, 0], [0, 0, 0]], [[0, 0, 2], [0, 14, 0]]]]
    expected = wb.second_labels([400], [[0, 16]], pairs, skipped=[[4, 4]])
    assert tuple(session.second_labels().interval()) == tuple(expected.interval())


def test_the_share_of_second_labels_follows_from_the_seed(tmp_path, known):
    items, *_ = known
    session = created(tmp_path, items, second_share=0.3, budget=100)
    names = by_hand(items, 5, 100, 4)
    expected = [
        each
        for each in names
        if int(hashlib.md5(f"5:second:{each}".encode()).hexdigest()[:15], 16) < 0.3 * 2**60
    ]
    for item in session.next(100, by="ann"):
        session.record(item.id, 1, by="ann")
    assert [item.id for item in session.next(100, by="ben")] == expected and 15 < len(expected) < 45


def test_how_many_more(tmp_path, known):
    items, said, _ = known
    session = created(tmp_path, items)
    rule = "needs at least 2 labels in every stratum"
    refused(lambda: session.more_labels(0.05), "half_width", rule)
    label(session, said, 60)
    wide, narrow = session.more_labels(0.08), session.more_labels(0.04)
    assert 0 <= wide < narrow <= 340 and session.more_labels(0.4) == 0


COLUMNS = "must have names without quotes and delimiters that a spreadsheet does not execute, different from correct"


@pytest.mark.parametrize(
    ("settings", "argument", "rule", "told"),
    [
        ({"budget": 7}, "budget", "must be a whole number from 8 to 400", "got 7"),
        ({"budget": 401}, "budget", "must be a whole number from 8 to 400", "got 401"),
        ({"question": "f1"}, "question", "must be one of 'accuracy', 'class_metrics', 'difference'", "got 'f1'"),
        ({"question": "difference"}, "asks", "must be 'truth' for a difference", ""),
        ({"question": "class_metrics", "metrics_of": "dog"}, "asks", "must be 'truth' for the metrics of class 'dog'", ""),
        ({"question": "class_metrics"}, "metrics_of", "must name a predicted class for question='class_metrics': 'cat', 'dog', 'eel'", ""),
        ({"metrics_of": "dog"}, "metrics_of", "is for the metrics of a class only", "got 'dog'"),
        ({"looks": [10] * 3}, "looks", "must be at most 10 increasing numbers of labels; got 10, 10, 10", ""),
        ({"looks": [100]}, "looks", "must be a whole number from 1 to 60", "got 100"),
        ({"second_share": 2}, "second_share", "must be a number from 0 to 1", "got 2"),
        ({"second_share": 0.5, "question": "difference", "asks": "truth"}, "second_share", "must be 0 for this question, because double", "got 0.5"),
        ({"second_share": 1, "question": "class_metrics", "metrics_of": "dog", "asks": "truth"}, "second_share", "must be 0 for this question", "got 1"),
        ({"columns": {"truth": range(400)}}, "columns", COLUMNS, "got 'truth'"),
        ({"columns": {"=1+1": range(400)}}, "columns", COLUMNS, "got '=1+1'"),
        ({"columns": {"a,b": range(400)}}, "columns", COLUMNS, "got 'a,b'"),
        ({"columns": {"a\nb": range(400)}}, "columns", COLUMNS, "got 'a\\nb'"),
        ({"by": "ann\x1b[2J"}, "by", "must be a name of 1 to 200 printable characters", ""),
    ],
)  # fmt: skip
def test_plans_that_are_refused_leave_no_file(tmp_path, known, settings, argument, rule, told):
    refused(lambda: created(tmp_path, known[0], **settings), argument, rule, told)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": {"text": range(3)}}, "columns must have 400 entries; 'text' has shape \\(3,\\)"),
        ({"other": ["cat"] * 400}, "other holds a second model's predictions; use it with question='difference'"),
    ],
)  # fmt: skip
def test_predictions_and_columns_that_do_not_fit_leave_no_file(tmp_path, known, settings, message):
    with pytest.raises(ValueError, match=message):
        created(tmp_path, known[0], **settings)
    assert list(tmp_path.iterdir()) == []


def test_repeated_identifiers(tmp_path):
    items = wb.ScoredItems(np.array(["a", "b", "a"] * 4, object), np.linspace(0.5, 1, 12))
    rule = "must be unique; 'a' repeats"
    refused(lambda: created(tmp_path, items, budget=8), "items.id", rule)


def test_a_sheet_for_the_second_annotator_holds_items_that_wait_for_a_label(tmp_path, known):
    session = created(tmp_path, known[0], second_share=0.3, budget=100)
    for item in session.next(100, by="ann"):
        session.record(item.id, 1, by="ann")
    waiting = session.export(tmp_path / "bob.csv", by="bob")
    assert 15 < waiting < 45
    assert waiting == len(session.next(100, by="bob"))
    assert session.export(tmp_path / "ann.csv", by="ann") == 100
