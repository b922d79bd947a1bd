"""Populations and sessions that tests of audits share."""

import numpy as np

from workbench import AuditSession, ScoredItems

CLASSES = np.array(["cat", "dog", "eel"])


def population(size=400, seed=3, accuracy=0.85):
    """Scored items of three classes whose truth is known, but not told to the session: (items, truth)."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(CLASSES, size, p=[0.2, 0.5, 0.3])
    score = rng.uniform(0.4, 1, size)
    right = rng.random(size) < np.clip(score + accuracy - 0.7, 0, 1)
    other = rng.choice(CLASSES, size)
    ids = np.array([f"item-{k:05d}" for k in range(size)], object)
    prediction, rival = (
        np.where(right, truth, other),
        np.where(rng.random(size) < 0.8, truth, other),
    )
    return ScoredItems(ids, score, prediction=prediction, rival=rival), truth


def truths(items, truth):
    """What people would say of each identifier: {id: (1 or 0, true class)}."""
    return {
        name: (int(p == t), str(t))
        for name, p, t in zip(items.id, items.prediction, truth, strict=True)
    }


def created(folder, items, **settings):
    """A new session in a folder."""
    settings = {"budget": 60, "seed": 5, "n_strata": 4} | settings
    return AuditSession.create(folder / "audit.db", items, **settings)


def label(session, said, n, by=None):
    """Label the next n items truthfully; return their identifiers."""
    place = ("correct", "truth").index(session.design["asks"])
    handed = session.next(n, by)
    for item in handed:
        session.record(item.id, said[item.id][place], by)
    return [item.id for item in handed]
