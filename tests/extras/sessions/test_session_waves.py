"""Audits in waves: which items a wave draws, an estimate that is unbiased, and an interval that is the library's."""

import itertools
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import command
import documented
import numpy as np
import pytest
import session_waves
from audited import created, label, population, truths
from refusals import refused

import workbench as wb
from workbench.extras.sessions import design as designs
from workbench.extras.sessions import estimates
from workbench.extras.sessions import session as sessions
from workbench.extras.sessions.page import write_session
from workbench.extras.sessions.store import Event, SessionError
from workbench.extras.sessions.trail import Trail
from workbench.labeling.draws import random_keys

NOW = datetime(2026, 1, 1, tzinfo=UTC).isoformat()


@pytest.fixture
def known():
    items, truth = population()
    return items, truths(items, truth)


@pytest.fixture
def without_kernel():
    with command.no_kernel():
        yield


@pytest.fixture
def session(tmp_path, known):
    with created(tmp_path, known[0], waves=3) as session:
        yield session


def by_hand(items, said, totals, n_strata=4, seed=5):
    """Ids, labels and right ones of each wave, from the description: the next of each stratum by their keys."""
    strata = wb.stratify(items.score, n_strata, "equal_size", rng=seed)
    keys = random_keys(items.id, seed)
    prior = [items.score[strata.labels == h].mean() for h in range(n_strata)]
    queues = [
        sorted(np.flatnonzero(strata.labels == h), key=lambda k: keys[k]) for h in range(n_strata)
    ]
    labeled, correct, ids = [], [], []
    for total in totals:
        n, x = (
            np.sum(each, 0, dtype=int) if each else np.zeros(n_strata, int)
            for each in (labeled, correct)
        )
        wave = wb.next_wave(strata.sizes, n, x, total, stratum_score=prior).labeled
        drawn = [
            [str(items.id[k]) for k in queue[done : done + more]]
            for queue, done, more in zip(queues, n, wave, strict=True)
        ]
        labeled.append(wave)
        correct.append([sum(said[name][0] for name in each) for each in drawn])
        ids.append({name for each in drawn for name in each})
    return strata.sizes, labeled, correct, ids


def test_a_wave_is_what_the_labels_before_it_say(session, known):
    size, labeled, correct, ids = by_hand(*known, [20, 20, 20])
    assert [set(label(session, known[1], 20)) for _ in range(3)] == ids
    assert len({tuple(each) for each in labeled}) == 3  # waves differ, or nothing was tested
    found, expected = session.estimate(), wb.wave_accuracy(size, labeled, correct)
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
    assert (
        tuple(found.interval())
        == tuple(session.estimate("fixed").interval())
        == tuple(expected.interval())
    )
    assert session.overview()[1] == [
        {"wave": t + 1, "stratum": h + 1, "labeled": labeled[t][h], "correct": correct[t][h]}
        for t, h in itertools.product(range(3), range(4))
    ]
    with wb.AuditSession.open(session.path) as again:
        assert again.estimate().rows() == found.rows() and again.next() == []
        assert again.verify(known[0]).scores


def test_a_wave_that_does_not_follow_from_the_labels_is_found(session, known, monkeypatch):
    label(session, known[1], 20)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sessions, "wave_labels", lambda trail: [17, 1, 1, 1])
        label(session, known[1], 20)
    with pytest.raises(
        ValueError, match=r"the wave of event 23 does not follow from the earlier labels"
    ):
        session.verify(known[0])


def test_a_wave_counts_as_a_whole_and_nothing_is_known_before_the_end(session, known):
    label(session, known[1], 20)
    first = session.estimate("fixed")
    assert first.labeled == 20 and first.interval() is not None and session.status().wave_is_done
    label(session, known[1], 13)
    found = session.estimate("fixed")
    assert (found.labeled, found.waiting, found.rows()) == (20, 13, first.rows())
    assert found.headline().endswith(
        "20 of 60 planned labels, method fixed; 13 labels do not count until the rest of wave 2 is labeled"
    )
    planned = session.estimate()
    assert planned.interval() is None and planned.estimate == first.estimate
    assert (
        planned.notes[0].text
        == "an audit in waves has no interval before the planned 60 labels; 40 labels are still missing"
    )
    status = session.status()
    assert (status.budget, status.labeled, status.open, status.coming, status.wave) == (
        60,
        33,
        27,
        20,
        2,
    )
    assert "27 not yet assigned, wave 2 of 3" in status.headline() and not status.wave_is_done


def test_the_next_wave_waits_for_all_of_this_one(tmp_path, session, known):
    held = session.next(20, by="ann")
    for item in held[:-1]:
        session.record(item.id, 1, by="ann")
    with wb.AuditSession.open(session.path) as other:
        assert other.next(5, by="ben") == []
        with pytest.raises(ValueError, match="all open items are assigned to ann"):
            other.export(tmp_path / "sheet.csv", 5, by="ben")
        session.skip(held[-1].id, by="ann")
        assert len(other.next(5, by="ben")) == len(session.next(5, by="ann")) == 5
        assert [event.kind for event in other.events()].count("wave") == 1
        with pytest.raises(ValueError, match="is not in the waves sampled so far"):
            other.record(session._trail.items[-1].id, 1)


def test_skipped_items_leave_the_interval_open_to_both_sides(session, known):
    skipped = session.next()[0].id
    session.skip(skipped)
    ids = [skipped, *(name for n in (19, 20, 20) for name in label(session, known[1], n))]
    where, strata = (
        {name: k for k, name in enumerate(known[0].id)},
        wb.stratify(known[0].score, 4, "equal_size", rng=5),
    )
    ends = []
    for guess in (0, 1):
        tables = np.zeros((2, 3, 4), int)
        for place, name in enumerate(ids):
            cell = place // 20, strata.labels[where[name]]
            tables[0][cell] += 1
            tables[1][cell] += guess if name == skipped else known[1][name][0]
        ends.append(wb.wave_accuracy(strata.sizes, *tables))
    found = session.estimate()
    assert (found.lowest[0], found.highest[0]) == pytest.approx(
        tuple(end.estimate for end in ends), abs=1e-12
    )
    assert tuple(found.interval()) == (ends[0].interval().low, ends[1].interval().high)


def events(trail, places, right):
    """Yield the events in which some items are labeled."""
    for k in places:
        yield Event(
            0, NOW, "", "labeled", {"id": trail.items[k].id, "label": int(right[trail.items[k].id])}
        )


def carried_out(design, rows, right):
    """The trail of an audit whose waves are labeled with what is right, and the labels of its second wave."""
    trail = Trail("", Event(1, NOW, "", "created", design), rows)
    for event in events(trail, range(trail.budget), right):
        trail.apply(event)
    wave = estimates.wave_labels(trail)
    trail.apply(Event(0, NOW, "", "wave", {"labels": wave}))
    for event in events(trail, range(design["waves"][0], trail.budget), right):
        trail.apply(event)
    return trail, wave


def test_the_estimate_is_unbiased_over_every_arrangement_of_right_items():
    items = wb.ScoredItems(
        np.array([f"i{k}" for k in range(11)]), np.r_[np.full(5, 0.6), np.full(6, 0.95)]
    )
    settings = {name: None for name in ("other", "metrics_of", "columns")} | {
        "question": "accuracy",
        "n_strata": 2,
        "stratifier": "equal_width",
        "trust_scores": False,
        "expected": 0.85,
        "looks": (),
        "second_share": 0.0,
        "asks": "correct",
        "level": 0.95,
        "seed": 2,
        "source": {},
    }
    design, rows = designs.new_design(items, budget=9, waves=2, **settings)
    assert design["stratum_size"] == [5, 6] and design["waves"] == [4, 5] and len(rows) == 11
    found, waves = [], set()
    parts = itertools.combinations(range(5), 3), itertools.combinations(range(5, 11), 4)
    for first, second in itertools.product(*parts):
        right = {name: k in (*first, *second) for k, name in enumerate(items.id)}
        trail, wave = carried_out(design, rows, right)
        answers = estimates.answers_of(trail, trail.countable())
        found.append(answers.bounds()[0][0])
        waves.add(tuple(wave))
    assert len(found) == 10 * 15 and waves == {(2, 3), (3, 2)}  # the second wave looks at the first
    assert np.mean(found) == pytest.approx(7 / 11, abs=1e-12) and np.std(found) > 0.1
    with pytest.raises(SessionError, match=r"event 0 \(wave\) is not valid"):
        trail.apply(Event(0, NOW, "", "wave", {"labels": [2, 3]}))


@pytest.mark.parametrize(
    ("beside", "argument", "rule", "told"),
    [
        (
            {"looks": [20]},
            "waves",
            "must be 1 with planned interim analyses; the interval",
            "got 3",
        ),
        ({"second_share": 0.5}, "waves", "must be 1 with double annotation, which needs", "got 3"),
        (
            {"question": "difference", "asks": "truth"},
            "waves",
            "must be 1 for this question; waves estimate an accuracy",
            "got 3",
        ),
        ({"waves": 0}, "waves", "must be a whole number of at least 1", "got 0"),
        ({"budget": 23}, "budget", "must be a whole number from 24 to 400", "got 23"),
    ],
)
def test_what_waves_cannot_stand_beside(tmp_path, known, beside, argument, rule, told):
    refused(lambda: created(tmp_path, known[0], **{"waves": 3} | beside), argument, rule, told)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda session: session.estimate("anytime"),
            "method must be 'planned' or 'fixed' in an audit in waves, whose "
            "allocation depends on the labels; got 'anytime'",
        ),
        (
            lambda session: session.extend(5),
            "the budget of an audit in waves cannot be extended, because the waves were planned for it",
        ),
        (
            lambda session: session.more_labels(0.02),
            "half_width cannot be planned in an audit in waves, whose budget is fixed",
        ),
    ],
)
def test_what_an_audit_in_waves_cannot_be_asked(session, ask, said):
    with pytest.raises(ValueError) as caught:
        ask(session)
    assert str(caught.value) == said


@pytest.mark.usefixtures("without_kernel")
def test_the_report_says_in_how_many_waves(tmp_path, session, known):
    write_session(session, str(tmp_path / "a.html"))
    assert (
        "the estimate needs a whole wave"
        in (tmp_path / "a.html").read_text(encoding="utf-8").lower()
    )
    label(session, known[1], 20)
    write_session(session, str(tmp_path / "a.html"), json=str(tmp_path / "a.json"))
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (
        "wave 1 of 3 is labeled: sample the next one with workbench audit next" in page
        and "whenever one looks" not in page
    )
    for _ in range(2):
        label(session, known[1], 20)
    write_session(session, str(tmp_path / "a.html"), json=str(tmp_path / "a.json"))
    page, data = (
        (tmp_path / f"a.{ending}").read_text(encoding="utf-8") for ending in ("html", "json")
    )
    text = re.sub("<[^>]+>", "", page)
    assert "within 4 strata and 3 waves that depend on earlier labels" in text
    assert "20, 20, 20" in text
    results = {each["name"]: each for each in json.loads(data)["results"]}
    row, limits = results["planned"]["rows"][0], session.estimate().interval()
    assert (row["low"], row["high"], row["labeled"]) == (limits.low, limits.high, 60)
    assert [each["wave"] for each in results["rates"]["rows"]] == [1] * 4 + [2] * 4 + [3] * 4


def test_a_file_of_the_first_format_is_carried_on(tmp_path):
    dump = (Path(__file__).parents[2] / "fixtures" / "session_format_1.sql").read_text(
        encoding="utf-8"
    )
    with closing(sqlite3.connect(tmp_path / "old.db")) as file:
        file.executescript(dump)
    with wb.AuditSession.open(
        tmp_path / "old.db"
    ) as session:  # what the version that wrote it printed
        assert str(session.estimate("fixed")) == (
            "SessionEstimate(Accuracy 87.5% (95% confidence interval 58.3% to 91.7%); "
            "7 of 8 planned labels, method fixed)"
        )
        session.record(session.next()[0].id, 1)
        assert session.estimate().labeled == 8 and session.status().waves == 0


def test_readme_and_note_say_what_was_recorded():
    record = json.loads(session_waves.RECORD.read_text())
    errors, turned = (
        [
            each["error over proportion"]
            for name, each in record["settings"].items()
            if ("opposite" in name) == opposite
        ]
        for opposite in (False, True)
    )
    widths = [each["width over proportion"] for each in record["settings"].values()]
    said = [
        f"{min(errors):.2f} to {max(errors):.2f} times that of proportional allocation, and up to {max(turned):.2f} times "
        "if the scores are misleading. Its interval was",
        f"{min(widths):.2f} to {max(widths):.2f} times as wide",
    ]
    assert all(each.replace("0.", ".") in designs.OF_WAVES.text for each in said)
    readme = documented.said()
    for text in (
        f"{min(errors):.2f} to {max(errors):.2f} times as large, and up to {max(turned):.2f} times as "
        "large if the scores were reversed",
        f"{min(widths):.2f} to {max(widths):.2f} times as wide",
    ):
        assert text.replace("0.", ".") in readme
    assert (
        f"{len(record['settings'])} settings of {record['runs']:,} audits: least "
        f"{documented.floored(record['least coverage'])}"
    ) in readme


def test_the_recorded_coverage_is_that_of_fresh_draws():
    record = json.loads(session_waves.RECORD.read_text())
    settings = {name: setting for name, *setting in session_waves.settings()}
    assert set(record["settings"]) == set(settings)
    least = min(each["coverage"] for each in record["settings"].values())
    assert record["least coverage"] == least == record["settings"][record["least"]]["coverage"]
    runs = 1_000
    again = session_waves.measured(*settings[record["least"]], np.random.default_rng(7), runs)
    error = max(least * (1 - least), 0.01) ** 0.5 * (1 / runs + 1 / record["runs"]) ** 0.5
    assert (
        again["coverage"] == pytest.approx(least, abs=4 * error)
        and abs(again["bias in errors"]) < 4.5
    )
