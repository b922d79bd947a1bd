"""A file with flipped bits or forged contents is refused in the workbench's own words, or can be worked with."""

import sys
from pathlib import Path

import pytest
from audited import created, label, population, truths

import workbench as wb

sys.path.append(str(Path(__file__).parents[2] / "peers"))
import audit_forgeries


def test_no_flipped_bit_and_no_forgery_ends_in_a_traceback():
    assert [*audit_forgeries.problems(100, 100, seed=2)] == []


@pytest.fixture
def session(tmp_path):
    items, truth = population()
    with created(tmp_path, items) as session:
        label(session, truths(items, truth), 12)
        yield session


@pytest.mark.parametrize(
    "kind, body",
    [
        ("labeled", {"id": "{}", "label": 2**70}),
        ("labeled", {"id": "{}", "label": True}),
        ("labeled", {"id": "{}", "label": 2}),
        ("extended", {"budget": True}),
        ("extended", {"budget": 10}),
        ("looked", {"method": "fixed", "labeled": 10, "intervals": {"accuracy": [0.9, 0.1]}}),
        ("handed", {"ids": ["{}"], "until": "2030-01-01T00:00:00"}),
    ],
)
def test_an_event_that_breaks_the_rules_is_refused_although_its_chain_holds(session, kind, body):
    name = session._trail.items[20].id
    body = {
        key: name if value == "{}" else [name] if value == ["{}"] else value
        for key, value in body.items()
    }
    with session._store.writing():
        session._store.add([("ann", kind, body)])
    with pytest.raises(ValueError, match=rf"event 15 \({kind}\) is not valid"):
        wb.AuditSession.open(session.path)


def test_the_last_hash_stands_for_all_before_it(session):
    kept = session.verify().last_hash
    assert kept == session.last_hash and len(kept) == 64 and kept in session.verify().headline()
    session.skip(session.next()[0].id)
    assert session.last_hash != kept
