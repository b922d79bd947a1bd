"""The desk without a browser: what a page is told, what it asks for, and what is in the file then."""

import json
import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from audited import created, population, truths

import workbench as wb
from workbench.extras.sessions import store
from workbench.extras.sessions.desk import desk
from workbench.labeling.images import png_of

WITH_TEXT = {"text": np.array([f"text of {k}" for k in range(400)])}


@pytest.fixture
def items():
    return population()


def seated(folder, items, **settings):
    """A session that asks for the true class, and a desk."""
    seat = {
        name: settings.pop(name)
        for name in ("labels", "render", "images", "image", "by")
        if name in settings
    }
    session = created(folder, items[0], **{"asks": "truth", "columns": WITH_TEXT} | settings)
    return session, desk(session, **seat)


def ask(seat, kind, **more):
    """Ask as a page does that shows what the desk shows; return what the desk says."""
    seat._answer(seat, {"kind": kind, "turn": seat.page["turn"], **more}, [])
    return seat.page["said"]


def label(seat, text):
    return ask(seat, "label", label=[each["text"] for each in seat.labels].index(text))


def on_disk(session):
    """What a fresh process reads: {id: label} of the budget."""
    with wb.AuditSession.open(session.path) as again:
        events = again.events()
        ids = {event.body["id"] for event in events if event.kind in ("labeled", "skipped")}
        said = {each: again.history(each) for each in ids}
    return {each: entries[-1].label for each, entries in said.items() if entries}


def synced(seat):
    """All that the browser is told, as text."""
    state = {
        name: value
        for name, value in seat.get_state().items()
        if name not in ("_esm", "_css", "picture")
    }
    return json.dumps(state, default=str)


def test_a_label_is_on_disk_before_the_page_says_so(tmp_path, items):
    session, seat = seated(tmp_path, items)
    first, told = seat.page["item"]["id"], []
    seat.observe(lambda change: told.append((change["new"]["said"], on_disk(session))), "page")
    label(seat, "eel")
    assert told == [(f"Recorded: eel for item {first}.", {first: "eel"})]
    assert seat.page["item"]["id"] != first and seat.page["progress"]["done"] == 1


def test_a_label_that_fails_is_not_said_to_be_done(tmp_path, items, monkeypatch):
    session, seat = seated(tmp_path, items)
    first = seat.page["item"]
    monkeypatch.setattr(wb.AuditSession, "record", raising(ValueError("the disk is full")))
    assert label(seat, "eel") == "Not recorded: the disk is full." and seat.page["trouble"]
    assert (
        seat.page["item"] == first and seat.page["progress"]["done"] == 0 and on_disk(session) == {}
    )


def raising(error):
    def fail(*details, **more):
        raise error

    return fail


def test_a_second_key_for_the_same_item_does_nothing(tmp_path, items):
    session, seat = seated(tmp_path, items)
    turn, first = seat.page["turn"], seat.page["item"]["id"]
    for choice in (0, 1):
        seat._answer(seat, {"kind": "label", "label": choice, "turn": turn}, [])
    assert on_disk(session) == {first: seat.labels[0]["text"]}
    assert seat.page["said"] == "Not recorded, because the page showed an older item."


def test_undo_brings_the_item_back_and_goes_back_further(tmp_path, items):
    session, seat = seated(tmp_path, items)
    ids = []
    for text in ("cat", "dog"):
        ids.append(seat.page["item"]["id"])
        label(seat, text)
    third = seat.page["item"]["id"]
    assert (
        ask(seat, "undo") == f"Your last label or skip, of item {ids[1]}, was undone."
        and seat.page["item"]["id"] == ids[1]
    )
    ask(seat, "undo")
    assert seat.page["item"]["id"] == ids[0] and on_disk(session) == {}
    assert "has no label or skip to undo" in ask(seat, "undo") and seat.page["trouble"]
    assert [label(seat, "eel") and seat.page["item"]["id"] for _ in ids] == [ids[1], third]
    assert on_disk(session) == dict.fromkeys(ids, "eel")


def test_a_skip_is_recorded_and_can_be_undone(tmp_path, items):
    session, seat = seated(tmp_path, items)
    first = seat.page["item"]["id"]
    assert ask(seat, "skip") == f"Skipped: item {first}." and on_disk(session) == {first: None}
    assert seat.page["progress"]["text"] == "1 of 60, 1 could not be labeled"
    ask(seat, "undo")
    assert seat.page["item"]["id"] == first and on_disk(session) == {}


def test_a_new_desk_shows_the_item_that_was_out(tmp_path, items):
    session, seat = seated(tmp_path, items, by="ann")
    label(seat, "cat")
    pending = seat.page["item"]
    with wb.AuditSession.open(session.path) as again:
        assert desk(again, by="ann").page["item"] == pending
        assert desk(again, by="ben").page["item"]["id"] != pending["id"]


def test_two_people_never_see_the_same_item(tmp_path, items):
    session, ann = seated(tmp_path, items, by="ann", budget=30)
    ben, seen = desk(wb.AuditSession.open(session.path), by="ben"), {"ann": [], "ben": []}
    for turn in range(29):
        seat, name = ((ann, "ann"), (ben, "ben"))[turn % 3 == 0]
        seen[name].append(seat.page["item"]["id"])
        label(seat, truths(*items)[seen[name][-1]][1])
    assert (
        not set(seen["ann"]) & set(seen["ben"])
        and ben.page["item"] is None
        or ann.page["item"] is None
    )
    waiting, last = (ann, ben) if ann.page["item"] is None else (ben, ann)
    assert waiting.page["end"].startswith(
        "No item is left for you now: 1 item is assigned to others."
    )
    label(last, "cat")
    assert (
        last.page["end"].startswith("Done: 30 of 30 items labeled, 0 could not be labeled.")
        and last.done
    )
    assert {who: len(ids) for who, ids in seen.items()} == {"ann": 19, "ben": 10}
    assert sum(session.status().labels.values()) == 30 and set(session.status().labels) == {
        "ann",
        "ben",
    }


def test_the_same_person_at_two_desks_corrects_nothing_unseen(tmp_path, items):
    session, one = seated(tmp_path, items, by="ann")
    two = desk(wb.AuditSession.open(session.path), by="ann")
    first = one.page["item"]["id"]
    assert two.page["item"]["id"] == first
    label(one, "cat")
    assert "the item is labeled by now" in label(two, "dog")
    assert on_disk(session) == {first: "cat"} and two.page["item"]["id"] == one.page["item"]["id"]


def test_a_second_label_that_nobody_can_give_is_set_aside(tmp_path, items):
    session, ann = seated(tmp_path, items, by="ann", budget=8, second_share=1.0)
    for _ in range(8):
        label(ann, "cat")
    ben = desk(session, by="ben")
    first = ben.page["item"]["id"]
    assert ask(ben, "skip") == f"Set aside (its first label stays): item {first}."
    for _ in range(7):
        label(ben, "dog")
    assert ben.page["item"] is None and ben.page["end"].endswith(
        "and you set 1 aside. Load this page again later."
    )
    assert [entry.label for entry in session.history(first)] == [
        "cat"
    ] and session.status().skipped == 0


def test_blind_means_that_the_browser_is_told_nothing(tmp_path, items):
    session, seat = seated(tmp_path, items, columns=None)
    seen = set(map(str, items[0].prediction))
    for _ in range(12):
        shown = seat.page["item"]
        assert shown["prediction"] is None and shown["columns"] == [] and seat.page["look"] == []
        words = synced(seat).replace("neither the prediction nor the stratum", "")
        assert not [word for word in ("stratum", "interval:", "Accuracy", "%") if word in words]
        assert not [name for name in seen if name in json.dumps(seat.page["item"])]
        label(seat, "cat")
    assert session.looks == []


def test_the_interval_comes_with_a_look_that_the_trail_keeps(tmp_path, items):
    session, seat = seated(tmp_path, items, by="ann")
    said = truths(*items)
    while not seat.done:
        label(seat, said[seat.page["item"]["id"]][1])
    assert session.looks == [] and "Accuracy" not in synced(seat)
    ask(seat, "look")
    (look,), found = session.looks, session.estimate()
    assert (look["who"], look["labeled"]) == ("ann", 60)
    assert seat.page["look"][0] == f"{found.headline()}."
    assert f"{100 * found.interval().low:.1f}%" in seat.page["look"][0]
    ask(seat, "undo")
    assert seat.page["look"] == []


@pytest.mark.parametrize("method", ["planned", "anytime", "looks", "fixed"])
def test_without_strata_is_an_audit_of_one_stratum(tmp_path, items, method):
    """The same labels, entered into a session that was made with one stratum over as many items."""
    session, said = created(tmp_path, items[0]), truths(*items)
    labels = []
    for item in session.next(60):
        labels.append(said[item.id][0])
        session.record(item.id, labels[-1])
    (tmp_path / "one").mkdir()
    one = created(tmp_path / "one", items[0], n_strata=1)
    for item, answer in zip(one.next(60), labels, strict=True):
        one.record(item.id, answer)
    found, same = session.estimate(method), one.estimate(method)
    assert tuple(found.at_random) == pytest.approx(tuple(same.interval()), abs=1e-12)
    assert tuple(same.at_random) == tuple(same.interval())
    assert f"{100 * same.interval().low:.1f}% to {100 * same.interval().high:.1f}%" in found.gain()
    wide, own = (
        f"{100 * (interval.high - interval.low):.1f}"
        for interval in (same.interval(), found.interval())
    )
    assert found.gain().endswith(
        "with the same width" if wide == own else f"{wide} points wide instead of {own}"
    )
    assert same.gain().endswith("with the same width")
    assert wb.Result.from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_class_metrics_say_nothing_of_random_labels(tmp_path, items):
    session = created(tmp_path, items[0], question="class_metrics", metrics_of="cat", asks="truth")
    for item in session.next(60):
        session.record(item.id, truths(*items)[item.id][1])
    assert session.estimate().at_random is None and session.estimate().gain() == ""


def test_right_or_wrong_shows_the_prediction_and_says_that_it_is_not_blind(tmp_path, items):
    session, seat = seated(tmp_path, items, asks="correct")
    shown = seat.page["item"]
    where = list(items[0].id).index(shown["id"])
    assert shown["prediction"] == items[0].prediction[where]
    assert shown["columns"] == [["text", f"text of {where}"]]
    assert [(each["text"], each["key"]) for each in seat.labels] == [
        ("correct", "1"),
        ("incorrect", "0"),
    ]
    assert "not blind" in seat.words["mode"] and session.design["asks"] == "correct"
    label(seat, "incorrect")
    assert on_disk(session) == {shown["id"]: 0}


def test_keys_are_the_signs_themselves_then_digits_then_letters(tmp_path):
    classes = np.array(["a", "7", "s", "dog", "cat", "u"])
    items = wb.ScoredItems(None, np.linspace(0.1, 0.9, 60), np.resize(classes, 60))
    with wb.AuditSession.create(tmp_path / "k.db", items, budget=20, asks="truth") as session:
        keys = {each["text"]: each["key"] for each in desk(session).labels}
    assert keys["a"] == "a" and keys["7"] == "7" and keys["other"] == "o"
    assert len(set(keys.values())) == len(keys) and not {"s", "u", ""} & set(keys.values())


def test_labels_can_be_chosen_and_named(tmp_path, items):
    session, seat = seated(tmp_path, items, labels={"dog": "a hound", "cat": "a tom"})
    first = seat.page["item"]["id"]
    assert [each["text"] for each in seat.labels] == ["a hound", "a tom"]
    label(seat, "a hound")
    assert on_disk(session) == {first: "dog"}
    assert [each["text"] for each in desk(session, labels=["eel", "other"]).labels] == [
        "eel",
        "other",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"labels": ["cat", "cow"]}, "'cow' is not a predicted class"),
        ({"labels": ["cat"]}, "labels must be at least two different labels"),
        ({"labels": {"cat": "x", "dog": "x"}}, "labels must be at least two different labels"),
        ({"render": 3}, "render must be a function of an item; got 3"),
        ({"images": "no/such"}, "images must be an existing folder; 'no/such' is not one"),
        (
            {"image": "photo"},
            "image must be a column that the audit shows, text, or 'id'; got 'photo'",
        ),
        (
            {"render": str, "images": "."},
            "give render or images, not both",
        ),
        ({"by": "\n"}, "by must be a name"),
        ({"second_share": 0.5}, "by must be a name, because this audit"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, items, settings, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        seated(tmp_path, items, **settings)


def test_other_things_are_no_audit():
    with pytest.raises(TypeError, match="session must be"):
        desk("audit.db")


def test_a_renderer_returns_text_bytes_or_an_array(tmp_path, items):
    session, _ = seated(tmp_path, items)
    bold = desk(session, render=lambda item: f"<b>{item.text}</b>").page["item"]
    assert bold["columns"][0][1].startswith("<b>text of")
    drawn = desk(session, render=lambda item: np.eye(3))
    assert drawn.page["item"]["type"] == "image/png" and drawn.picture.startswith(b"\x89PNG")
    assert desk(session, render=lambda item: drawn.picture).picture == drawn.picture
    for wrong, message in (
        (lambda item: item.nothing, "an item has"),
        (lambda item: b"GIF", "render must return"),
        (lambda item: 1 / 0, "division by zero"),
        (lambda item: None, "image must"),
    ):
        trouble = desk(session, render=wrong).page["item"]["trouble"]
        assert trouble.startswith(f"This item cannot be shown: {message}")


def test_images_come_from_their_folder_only(tmp_path, items):
    (tmp_path / "photos").mkdir()
    (tmp_path / "secret.png").write_bytes(png_of([[7]]))
    (tmp_path / "photos" / "0.png").write_bytes(png_of([[9]]))
    names = {
        "file": np.where(np.arange(400) % 2, "../secret.png", "0.png"),
        "alt": np.full(400, "a gray pixel"),
    }
    session, seat = seated(tmp_path, items, columns=names, images=tmp_path / "photos", image="file")
    seen = set()
    for _ in range(20):
        page, good = seat.page["item"], items[0].id.tolist().index(seat.page["item"]["id"]) % 2 == 0
        seen.add(good)
        assert seat.picture == (png_of([[9]]) if good else b"")
        assert (
            (page["trouble"], page["alt"]) == ("", "a gray pixel")
            if good
            else page["trouble"]
            == "This item cannot be shown: '../secret.png' is not in the folder of images"
        )
        assert ["file", "0.png"] not in page["columns"]
        label(seat, "cat")
    assert seen == {True, False} and len(on_disk(session)) == 20


def test_images_are_named_by_the_identifier_where_no_column_does(tmp_path, items):
    for name in items[0].id:
        (tmp_path / name).write_bytes(png_of([[5]]))
    assert seated(tmp_path, items, images=tmp_path)[1].picture == png_of([[5]])


def test_hostile_text_is_text_and_what_turns_it_around_is_seen(tmp_path, items):
    texts = np.full(400, "<img src=x onerror=alert(1)>\u202eevil\u2066\x00" + "x" * 200_000)
    _, seat = seated(tmp_path, items, columns={"text": texts})
    shown = dict(seat.page["item"]["columns"])["text"]
    assert shown.startswith("<img src=x onerror=alert(1)>\\u202eevil\\u2066\\u0000xxx")
    assert shown.endswith("x … (100,035 more characters)")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (4, "3 of 60 \u00b7 15 labels per minute \u00b7 about 4 minutes left"),
        (40, "3 of 60 \u00b7 1.5 labels per minute \u00b7 about 38 minutes left"),
        (240, "3 of 60 \u00b7 0.2 labels per minute \u00b7 about 4 hours left"),
        (1, "3 of 60 \u00b7 60 labels per minute \u00b7 less than a minute left"),
    ],
)
def test_progress_and_pace(tmp_path, items, monkeypatch, seconds, said):
    clock = [datetime(2026, 1, 5, 9, tzinfo=UTC)]
    monkeypatch.setattr(store, "now", lambda: clock[0])
    _, seat = seated(tmp_path, items)
    assert seat.page["progress"] == {"done": 0, "budget": 60, "text": "0 of 60"}
    for _ in range(3):
        clock[0] += timedelta(seconds=seconds)
        label(seat, "cat")
    assert seat.page["progress"] == {"done": 3, "budget": 60, "text": said}
    assert repr(seat) == "Desk(3 of 60 items done)"


def test_each_thread_has_its_own_connection(tmp_path, items):
    """JupyterLab answers widgets in a thread of their own; SQLite connections stay where they were made."""
    session, seat = seated(tmp_path, items)
    said = []
    thread = threading.Thread(target=lambda: said.append(label(seat, "cat")))
    thread.start()
    thread.join()
    assert (
        said[0].startswith("Recorded")
        and len(on_disk(session)) == 1
        and session.status().labeled == 1
    )
