"""Refusals of SPARQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.queries.positions import place_fields, refusal_at

Place = tuple[int, int]
"""A line and a column, both from 1."""


def refusal(key: str, /, *, at: Place | None = None, **fields: object) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        key: of the catalogue, whose template has `{at}` where the place is told.
        at: where it is, if that is known.
        fields: of the template.
    """
    return refusal_at(key, at, fields)


def not_sparql(key: str, /, *, at: Place | None = None, **fields: object) -> InputError:
    """The error of a text that is no SPARQL query."""
    return InputError(key, **place_fields(at), **fields)


def no_parser() -> EngineError:
    """The error where the extra that reads SPARQL is missing."""
    return EngineError("CEL-Q229.no_parser")


class PlacedWord(Protocol):
    """A word of a query, where it stands."""

    @property
    def text(self) -> str:
        """As it is written."""

    @property
    def place(self) -> Place:
        """Its line and column."""


_WORDS: Mapping[str, tuple[str, ...]] = {
    "CEL-Q243.too_many_branches": ("UNION", "VALUES", "|"),
    "CEL-Q244.dataset": ("FROM",),
    "CEL-Q244.several": ("FROM",),
    "CEL-Q244.no_default": ("FROM",),
    "CEL-Q244.graph": ("GRAPH",),
    "CEL-Q244.undeclared": ("GRAPH", "FROM"),
    "CEL-Q247.exists_inside": ("EXISTS",),
    "CEL-Q247.exists_optional": ("EXISTS",),
    "CEL-Q247.minus_optional": ("MINUS",),
    "CEL-Q247.optional_apart": ("OPTIONAL",),
    "CEL-Q247.optional_facts": ("OPTIONAL",),
    "CEL-Q247.optional_others": ("OPTIONAL",),
    "CEL-Q247.path": ("*", "+"),
    "CEL-Q247.path_negated": ("!",),
    "CEL-Q247.path_once": ("?",),
    "CEL-Q247.path_private": ("*", "+"),
    "CEL-Q247.service": ("SERVICE",),
    "CEL-Q247.sub_select_groups": ("GROUP", "DISTINCT"),
    "CEL-Q247.sub_select_limit": ("LIMIT", "OFFSET"),
    "CEL-Q253.not_connected": ("EXISTS",),
    "CEL-Q253.empty": ("WHERE", "{"),
    "CEL-Q253.product": ("WHERE", "{"),
    "CEL-Q258.regex": ("REGEX",),
    "CEL-Q258.by_address": ("FILTER", "BIND"),
    "CEL-Q260": ("VALUES",),
    "CEL-Q261.distinct": ("DISTINCT", "REDUCED"),
    "CEL-Q261": ("SELECT",),
    "CEL-Q262": ("SELECT",),
    "CEL-Q266": ("GROUP",),
    "CEL-Q268.having": ("HAVING",),
    "CEL-Q268.having_sides": ("HAVING",),
    "CEL-Q268.order_by": ("ORDER",),
    "CEL-Q259": ("FILTER", "BIND", "SELECT"),
}
"""The words that a refusal is about, where no name in it tells more."""
_OF_SQL: Mapping[str, str] = {
    "CEL-Q036.outer_of_others": "CEL-Q247.optional_others",
    "CEL-Q036.outer_of_rows": "CEL-Q247.optional_facts",
    "CEL-Q043.groups_of_several": "CEL-Q247.sub_select_groups",
    "CEL-Q065.no_key": "CEL-Q253.product",
    "CEL-Q144.rank_of_people": "CEL-Q144.rank_of_solutions",
}
"""Refusals of the algebra that speak of SQL, and those that say the same of SPARQL."""
_AFTER: Mapping[str, str] = {"CEL-Q266": "GROUP"}
"""Clauses that a refusal is about, where the query may speak of the same name before."""
_PLACES = frozenset({"at", "line", "column"})
_FIELDS = ("function", "aggregate", "use", "clause", "operator")


def reword(error: QueryRefused, words: Sequence[PlacedWord]) -> QueryRefused:
    """A refusal of the planner in the words of SPARQL, with its place in the query."""
    key = _OF_SQL.get(error.key)
    if key is not None:
        fields = {name: error.details[name] for name in error.details if name not in _PLACES}
        error = refusal_at(key, None, fields)
    return locate(error, words)


def locate_misread(error: InputError, words: Sequence[PlacedWord]) -> InputError:
    """The error of a text that is no SPARQL query, with the place of the name that it is about."""
    fields = dict(error.details)
    if "line" in fields:
        return error
    if "prefix" in fields:
        places = [each.place for each in words if each.text.startswith(f"{fields['prefix']}:")]
    elif "address" in fields:
        places = [each.place for each in words if each.text == f"<{fields['address']}>"]
    else:  # a variable that gets a second value stands behind AS
        named = (f"?{fields.get('variable')}", f"${fields.get('variable')}")
        places = [
            two.place
            for one, two in pairwise(words)
            if one.text.upper() == "AS" and two.text in named
        ]
    fields.pop("at", None)
    return not_sparql(error.key, at=places[-1], **fields) if places else error


def locate(error: QueryRefused, words: Sequence[PlacedWord]) -> QueryRefused:
    """The refusal with the place of the first word of the query that it speaks of."""
    if "line" in error.details:
        return error
    starts = [each.place for each in words if each.text.upper() == _AFTER.get(error.code)]
    for wanted in _candidates(error):
        behind = (each for each in words if not starts or each.place >= starts[-1])
        found = next((each for each in behind if each.text.upper() == wanted), None)
        if found is not None:
            fields = {name: value for name, value in error.details.items() if name != "at"}
            return refusal_at(error.key, found.place, fields)
    return error


def _candidates(error: QueryRefused) -> Iterator[str]:
    fields = error.details
    for name in ("variable", "name"):
        if name in fields:
            yield f"?{str(fields[name]).removeprefix('?')}".upper()
    if "label" in fields:  # such as MAX(?r)
        yield str(fields["label"]).partition("(")[0].upper()
    for name in ("written", "predicate"):
        if name in fields:
            yield str(fields[name]).upper()
            yield f"<{fields[name]}>".upper()
    yield from (str(fields[name]).upper() for name in _FIELDS if name in fields)
    yield from _WORDS.get(error.key, ())
    yield from _WORDS.get(error.code, ())
