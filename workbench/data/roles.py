"""What the columns of a table seem to be, by their names and by what stands in them."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames, numbers, shapes
from workbench.data.classes import verdict_of
from workbench.data.columns import spelled
from workbench.data.engine import is_relation, relation_columns
from workbench.results import Note

ID, SCORE, PREDICTION, TRUTH, CORRECT = (
    "identifier",
    "score",
    "prediction",
    "truth",
    "right or wrong",
)
STRATUM, CLUSTER, WEIGHT, REPLICATE, MONTH = (
    "stratum",
    "cluster",
    "weight",
    "replicate weight",
    "period",
)
FOLD, REPEAT, MODEL, SIZE, SPLIT = "fold", "repeat", "model", "size", "score of a split"
PROBABILITY, OTHER = "probability of a class", "something else"
MOST_CLASSES = 200
LOOKED_AT = 2_000  # rows from which `unused_notes` tells what a column holds
# what a column of each role means for a report that leaves it out, and how a sentence calls what it holds
_UNUSED = {
    WEIGHT: ("unreliable", "sampling weights"),
    CLUSTER: ("unreliable", "clusters"),
    STRATUM: ("data", "strata"),
    MONTH: ("data", "periods"),
}
# what people call them; a name counts where the cells agree
_CALLED = {
    OTHER: r"(mean_|std_|rank_)(fit|score|test)_.+|(fit|score)_time",
    REPLICATE: r"(rep(licate)?[_ ]?w(eigh)?ts?|repwt|brrwt|bsw)[_ ]?[0-9]+",
    SPLIT: r"split[0-9]+_test_.+|test_.+",
    ID: r"(.*[_ .-])?(id|ids|uuid|guid|key)|.*id|item|case|nr|no|document",
    PREDICTION: r"(.*[_ .-])?(pred|predicted|prediction|predictions|yhat)([_ .-].*)?|y_?(hat|pred)|decision|assigned",
    TRUTH: r"(.*[_ .-])?(truth|true|gold|target|actual|label|y_?true)([_ .-].*)?|y",
    CORRECT: r"(is_?)?(correct|right|hit|ok)",
    SCORE: r"(.*[_ .-])?(score|scores|conf|confidence|prob|proba|probability|certainty|margin|logit|logprob)|p",
    FOLD: r"(cv_?)?fold",
    REPEAT: r"repeat|repetition",
    MODEL: r"model|system|classifier|learner|algorithm",
    MONTH: r"month|period|date|day|week|quarter|year|.*_(month|date)",
    WEIGHT: r"w|wt|weights?|.*_?weight",
    SIZE: r"n|size|count|items",
    CLUSTER: r"psu|cluster|document|passage|conversation|person|household|school|site|box|patient|user|author|"
    r"hospital|subject",
    STRATUM: r"strat(um|a)|region|district|segment|domain|group",
}
_DATE = re.compile(
    r"(19|20)[0-9]{2}([-/.]?(0?[1-9]|1[0-2]|Q[1-4]|W[0-9]{2})([-/.][0-9]{1,2})?([T ].*)?)?"
    r"|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](19|20)[0-9]{2}([T ,].*)?|(0?[1-9]|1[0-2])[-/.](19|20)[0-9]{2}"
    r"|Q[1-4][ /-]*(19|20)[0-9]{2}|(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-3][0-9]"
    r"|(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?"
    r"|nov(ember)?|dec(ember)?)[. '-]*((19|20)?[0-9]{2})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Column:
    """A column: name, what it seems to be, what stands in it, cells that are missing, whether all are 0 to 1."""

    name: str
    seems: str
    holds: str
    missing: int
    inside: bool


@dataclass(frozen=True)
class _Facts:
    size: int
    texts: list[str]
    values: np.ndarray | None
    distinct: int

    @property
    def unique(self) -> bool:
        return self.distinct == self.size > 1

    @property
    def few(self) -> bool:
        return 1 < self.distinct <= min(MOST_CLASSES, max(self.size // 2, 2))

    @property
    def fractions(self) -> bool:
        return self.values is not None and bool((self.values % 1 != 0).any())

    @property
    def inside(self) -> bool:
        return self.values is not None and bool(self.values.min() >= 0 and self.values.max() <= 1)


def _positive(facts: _Facts) -> bool:
    return facts.values is not None and bool((facts.values > 0).all())


_FITS: dict[str, Callable[[_Facts], bool]] = {
    OTHER: lambda facts: True,
    ID: lambda facts: facts.unique and not facts.fractions,
    PREDICTION: lambda facts: facts.few or facts.distinct == 1,
    TRUTH: lambda facts: facts.few or facts.distinct == 1,
    CORRECT: lambda facts: facts.distinct <= 2,
    SCORE: lambda facts: facts.values is not None and facts.distinct > 2,
    FOLD: lambda facts: facts.distinct > 1 and not facts.fractions,
    REPEAT: lambda facts: not facts.unique,
    MODEL: lambda facts: facts.few and facts.values is None,
    MONTH: lambda facts: all(map(_DATE.fullmatch, facts.texts)),
    WEIGHT: _positive,
    REPLICATE: lambda facts: True,
    SIZE: lambda facts: _positive(facts) and not facts.fractions,
    CLUSTER: lambda facts: not facts.unique,
    STRATUM: lambda facts: facts.few,
    SPLIT: lambda facts: facts.values is not None,
}


def columns_of(data: dict[str, np.ndarray]) -> list[Column]:
    """Return the probable role of each column of some rows.

    Parameters
    ----------
    data : dict of (N,) ndarray

    Examples
    --------
    >>> seen = columns_of({"item": np.array(["a7", "b8", "c9", "d1"], object), "conf": np.array([.5, .75, .5, .9]),
    ...                    "yhat": np.array(["cat", "dog", "cat", "dog"], object)})
    >>> [(column.name, column.seems) for column in seen]
    [('item', 'identifier'), ('conf', 'score'), ('yhat', 'prediction')]
    """
    of_class = set(shapes.probability_columns([*data]))
    found, taken = [], set()
    for name, cells in data.items():
        gone = shapes.gaps(cells, True)
        facts = _facts(name, cells[~gone])
        if facts.values is None:  # "None" may be a class
            gone = shapes.gaps(cells, False)
            facts = _facts(name, cells[~gone])
        seems = (
            PROBABILITY if name in of_class and facts.values is not None else _seems(name, facts)
        )
        if seems in (ID, SCORE, PREDICTION, TRUTH) and seems in taken:
            seems = OTHER
        taken.add(seems)
        found.append(Column(name, seems, _holds(facts), int(gone.sum()), facts.inside))
    return found


def _facts(name: str, cells: np.ndarray) -> _Facts:
    texts = numbers.as_text(cells)
    try:
        values = numbers.to_shares(name, cells)[0] if texts else None
    except ValueError:  # not a column of numbers
        values = None
    return _Facts(len(texts), texts, values, len({*texts}))


def _seems(name: str, facts: _Facts) -> str:
    plain = name.rpartition(".")[2].strip().casefold()
    if plain == SCORE and facts.values is not None and facts.distinct > 1:
        return SCORE
    called = next(
        (
            role
            for role, pattern in _CALLED.items()
            if re.fullmatch(pattern, plain) and facts.size and _FITS[role](facts)
        ),
        None,
    )
    if called:
        return called
    if facts.size and _FITS[MONTH](facts) and not facts.unique:
        return MONTH
    if (
        facts.distinct == 2
        and facts.values is None
        and all(verdict_of(text) is not None for text in {*facts.texts})
    ):
        return CORRECT
    return SCORE if facts.fractions and facts.inside else OTHER


def _holds(facts: _Facts) -> str:
    if not facts.size:
        return "nothing"
    if facts.values is not None and facts.distinct > 12:
        return f"numbers, {facts.values.min():.4g} to {facts.values.max():.4g}, {facts.distinct:,} different"
    shown = [" ".join(text[:20].split()) for text in dict.fromkeys(facts.texts)]
    return (
        f"all different: {checks.listed(shown[:2])}, ..."
        if facts.unique
        else f"{facts.distinct:,} different: {checks.listed(shown, 4)}"
    )


def first_of(columns: Sequence[Column], role: str) -> str:
    """Return the first column that seems to be something, "" for none."""
    return next((column.name for column in columns if column.seems == role), "")


def unused_notes(
    source: Any, used: Iterable[str], options: Mapping[str, str] | None = None
) -> tuple[Note, ...]:
    """Return a note for every column of weights, clusters, strata or periods that a report left out.

    Only the first rows are read. Call it after the report has read the source, so that a file that
    cannot be read is refused by the report.

    Parameters
    ----------
    source : str, path or data frame
        As for `workbench.data.frames.read_columns`.
    used : iterable of str
        The columns that the report used, as the user named them; "" is ignored, and "a,b" names two.
    options : mapping of str to str
        The option that would use a column of each role, as the user types it, dashes included. A
        column whose role has no option is named, too.

    Examples
    --------
    >>> audit = {"truth": ["no", "yes"] * 3, "region": ["north", "south"] * 3}
    >>> print(*unused_notes(audit, ["truth"], {STRATUM: "strata by"}))
    column 'region' seems to hold strata and was not used; name it with strata by region
    """
    named = [part.strip() for text in used for part in (text, *text.split(","))]
    columns = _first_columns(source, [name for name in named if name])
    unused = [column for column in columns if column.seems in _UNUSED]
    return tuple(_unused_note(source, column, options or {}) for column in unused)


@frames.in_rows_of("source")
def _first_columns(source: Any, used: Sequence[str]) -> list[Column]:
    """Return the probable roles of the unused columns of a source, from its first rows."""
    import narwhals as nw

    names = frames.column_names(source)
    used_names = {spelled(name, names) for name in used}
    unused = [name for name in names if name and name not in used_names]
    if not unused:
        return []
    with frames.scan(source, unused) as rows:
        if is_relation(rows.native):
            data = relation_columns(rows.native.limit(LOOKED_AT), unused)
        else:
            data = frames.to_arrays(nw.from_native(rows.native).select(*unused).head(LOOKED_AT))
    varying = {name: cells for name, cells in data.items() if len({*map(str, cells)}) > 1}
    return columns_of(varying)


def _unused_note(source: Any, column: Column, options: Mapping[str, str]) -> Note:
    kind, content = _UNUSED[column.seems]
    is_path = isinstance(source, (str, os.PathLike))
    file = f" of {os.path.basename(os.fspath(source))!r}" if is_path else ""
    option = options.get(column.seems)
    words = column.name if re.fullmatch(r"[\w.-]+", column.name) else repr(column.name)
    remedy = f"; name it with {option} {words}" if option else ": this report has no option for it"
    return Note(
        kind, f"column {column.name!r}{file} seems to hold {content} and was not used{remedy}"
    )
