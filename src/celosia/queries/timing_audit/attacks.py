"""The questions of an attacker who wants to know one thing about one person.

Every question selects the rows of one person with one property and tries to make these rows costly
or fatal: joins that multiply them, expressions that fail or grow, programs that are hard.
"""

# ruff: noqa: S608 - questions of ours, which no input is part of

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.queries.request import QueryRequest

PERSON = 17
"""The patient that the attacker asks about."""
_HERS = f"v.patient = {PERSON} AND v.emergency AND v.diagnosis = 'D0'"
_PUBLIC = ["d", "e", "f", "g", "h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One question, and the policy under which it is asked."""

    name: str
    query: str
    policy: str = "tables"
    """`tables`, `graph`, or `deadline`: tables with one declared deadline for all questions."""
    delta: float = 0.0
    method: str | None = None

    def request(self, epsilon: float) -> QueryRequest:
        """The question at a price, never answered from the ledger."""
        return QueryRequest(
            self.query, epsilon=epsilon, delta=self.delta, method=self.method, fresh=True
        )


def _chain(length: int, *, on: str = "specialty") -> str:
    """Public joins, each of which multiplies a private row by the doctors of a specialty."""
    joins = ["FROM visits v JOIN doctors d ON v.doctor = d.id"]
    names = _PUBLIC[:length]
    joins += [f"JOIN doctors {new} ON {old}.{on} = {new}.{on}" for old, new in pairwise(names)]
    return " ".join(joins)


def _amplifying() -> Iterator[Attack]:
    for length in (2, 3, 4, 5):
        chain = _chain(length)
        yield Attack(name=f"chain {length}", query=f"SELECT count(*) AS n {chain} WHERE {_HERS}")
    full = _chain(5)
    last = "h.fee"
    variants = {
        "sum": f"SELECT sum({last}) AS n {full} WHERE {_HERS}",
        "distinct": f"SELECT count(DISTINCT h.id) AS n {full} WHERE {_HERS}",
        "grouped": f"SELECT h.specialty, count(*) AS n {full} WHERE {_HERS} GROUP BY h.specialty",
        "mean": f"SELECT avg({last}) AS n {full} WHERE {_HERS}",
        "median": f"SELECT median({last}) AS n {full} WHERE {_HERS}",
        "maximum": f"SELECT max({last}) AS n {full} WHERE {_HERS}",
        "variance": f"SELECT var_pop({last}) AS n {full} WHERE {_HERS}",
        "inequality": f"SELECT count(*) AS n {full} AND d.fee < h.fee WHERE {_HERS}",
        "crossing": f"SELECT count(*) AS n {full} WHERE {_HERS} AND v.cost < h.fee",
        "in a sub-query": f"SELECT count(*) AS n FROM (SELECT v.id AS id {full} WHERE {_HERS}) s",
        "in WITH": "WITH p AS (SELECT d.id AS id FROM doctors d JOIN doctors e ON d.specialty = "
        "e.specialty JOIN doctors f ON e.specialty = f.specialty) SELECT count(*) AS n FROM visits "
        f"v JOIN p ON v.doctor = p.id WHERE {_HERS}",
        "exists": "SELECT count(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM doctors d JOIN "
        "doctors e ON d.specialty = e.specialty JOIN doctors f ON e.specialty = f.specialty "
        f"WHERE d.id = v.doctor AND f.fee < 0) AND {_HERS}",
        "not exists": "SELECT count(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM doctors "
        "d JOIN doctors e ON d.specialty = e.specialty WHERE d.id = v.doctor AND e.fee < 0) AND "
        f"{_HERS}",
        "beside everybody": f"SELECT count(*) AS n FROM (SELECT v.id AS id {full} WHERE {_HERS} "
        "UNION ALL SELECT w.id AS id FROM visits w) s",
        "unknown keys": f"SELECT v.diagnosis, count(*) AS n {full} WHERE {_HERS} "
        "GROUP BY v.diagnosis",
        "rows of rooms": "SELECT count(*) AS n FROM visits v JOIN rooms r ON v.ward = r.ward JOIN "
        f"rooms s ON r.floor = s.floor JOIN rooms t ON s.floor = t.floor WHERE {_HERS}",
    }
    for name, query in variants.items():
        delta = 1e-6 if name == "unknown keys" else 0.0
        yield Attack(name=f"chain, {name}", query=query, delta=delta)


def _among_private() -> Iterator[Attack]:
    pairs = "FROM visits v JOIN visits w ON v.ward = w.ward"
    triples = f"{pairs} JOIN visits x ON w.ward = x.ward"
    yield Attack(name="self-join", query=f"SELECT count(*) AS n {pairs} WHERE {_HERS}")
    yield Attack(name="self-join, three", query=f"SELECT count(*) AS n {triples} WHERE {_HERS}")
    yield Attack(name="self-join, a sum", query=f"SELECT sum(w.cost) AS n {pairs} WHERE {_HERS}")
    yield Attack(
        name="self-join, distinct", query=f"SELECT count(DISTINCT w.id) AS n {pairs} WHERE {_HERS}"
    )
    yield Attack(
        name="self-join, race", query=f"SELECT count(*) AS n {pairs} WHERE {_HERS}", method="r2t"
    )
    yield Attack(
        name="partners of others",
        query="SELECT count(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE "
        f"w.ward = v.ward AND w.cost > v.cost) AND {_HERS}",
    )
    yield Attack(
        name="a program beside everybody",
        query=f"SELECT count(*) AS n {pairs} WHERE ({_HERS}) OR w.id = v.id",
    )


_FAILING = {
    "division": "SELECT sum(1 / (v.cost - v.cost)) AS n FROM visits v WHERE {0}",
    "a division of all": "SELECT count(*) AS n FROM visits v WHERE 1 / (v.patient - 17) > 0",
    "a cast of text": "SELECT count(*) AS n FROM visits v WHERE CAST(v.diagnosis AS INTEGER) > 0",
    "a cast to a date": "SELECT count(*) AS n FROM visits v WHERE CAST(v.ward AS DATE) > "
    "DATE '2020-01-01' AND {0}",
    "overflow": "SELECT sum(GREATEST(LEAST(v.patient * 9223372036854775807, 9), 0)) AS n "
    "FROM visits v WHERE {0}",
    "powers": "SELECT count(*) AS n FROM visits v WHERE v.cost * v.cost * v.cost * v.cost * v.cost "
    "* 1e300 > 0 AND {0}",
    "a long text": "SELECT count(*) AS n FROM visits v WHERE LENGTH(v.note || v.note || v.note || "
    "v.note) > 10 AND {0}",
    "a repeated text": "SELECT count(*) AS n FROM visits v WHERE REPEAT(v.note, 1000000) = '' "
    "AND {0}",
    "a padded text": "SELECT count(*) AS n FROM visits v WHERE LPAD(v.note, 1000000, 'x') = '' "
    "AND {0}",
    "a regular expression": "SELECT count(*) AS n FROM visits v WHERE "
    "regexp_matches(v.note, '(a+)+$') AND {0}",
    "deep LIKE": "SELECT count(*) AS n FROM visits v WHERE v.note LIKE '%a%a%a%a%a%a%a%b' AND {0}",
    "LIKE with places": "SELECT count(*) AS n FROM visits v WHERE v.note LIKE '%_a_%_a_%' AND {0}",
    "growing texts": "WITH a AS (SELECT v.note || v.note AS t, v.patient AS p FROM visits v WHERE "
    "{0}), b AS (SELECT t || t AS t, p FROM a), c AS (SELECT t || t AS t, p FROM b), d AS (SELECT "
    "t || t AS t, p FROM c), e AS (SELECT t || t AS t, p FROM d) SELECT count(*) AS n FROM e "
    "WHERE t <> ''",
    "a replaced text": "SELECT count(*) AS n FROM visits v WHERE "
    "REPLACE(v.note, 'a', 'aaaaaaaaaaaaaaaaaaaa') <> '' AND {0}",
    "a far date": "SELECT count(*) AS n FROM visits v WHERE v.day + INTERVAL 100000 YEAR > "
    "DATE '2020-01-01' AND {0}",
    "a root of a negative number": "SELECT count(*) AS n FROM visits v WHERE "
    "SQRT(v.cost - 1000) > 0 AND {0}",
    "a logarithm of zero": "SELECT count(*) AS n FROM visits v WHERE LN(v.cost - v.cost) > 0 "
    "AND {0}",
    "a list of numbers": "SELECT count(*) AS n FROM visits v, generate_series(1, 1000000000) WHERE "
    "{0}",
    "sleep": "SELECT count(*) AS n FROM visits v WHERE pg_sleep(3) IS NULL AND {0}",
}

_UNKNOWN_KEYS = {
    "a cast": "SELECT v.note, count(*) AS n FROM visits v WHERE CAST(v.diagnosis AS INTEGER) IS "
    "NULL AND {0} GROUP BY v.note",
    "a cast of the key": "SELECT CAST(v.note AS INTEGER) AS k, count(*) AS n FROM visits v WHERE "
    "{0} GROUP BY CAST(v.note AS INTEGER)",
    "a division": "SELECT v.diagnosis, sum(GREATEST(LEAST(v.cost / (v.patient - 17), 9), 0)) AS n "
    "FROM visits v GROUP BY v.diagnosis",
    "a key for each visit": "SELECT v.id, count(*) AS n FROM visits v WHERE ({0}) OR v.cost < 50 "
    "GROUP BY v.id",
    "doctors of her doctors": "SELECT e.id, count(*) AS n FROM visits v JOIN doctors d ON v.doctor "
    "= d.id JOIN doctors e ON d.specialty = e.specialty WHERE {0} GROUP BY e.id",
}
"""Questions that find their groups in the data: what fails or grows does so before any noise."""

_LARGE = {
    "notes of her ward": "SELECT count(DISTINCT w.note) AS n FROM visits v JOIN visits w ON v.ward "
    "= w.ward WHERE ({0}) OR v.id = w.id",
    "a median": "SELECT v.ward, median(v.cost) AS n FROM visits v WHERE {0} GROUP BY v.ward",
}
"""Questions whose private result is large, or all of a column, before it is a few numbers."""

_SPARQL = {
    "a path": "SELECT (COUNT(*) AS ?n) WHERE {{ {0} ?p :ward ?w . ?q :ward ?w . ?q :ward ?x . "
    "?r :ward ?x {1} }}",
    "a star": "SELECT (COUNT(*) AS ?n) WHERE {{ {0} ?p :ward ?w . ?p :ward ?x . ?p :cost ?c {1} }}",
    "a text": "SELECT (COUNT(*) AS ?n) WHERE {{ {0} ?p :note ?t . "
    "FILTER(CONTAINS(?t, 'aaaaaaaaaaaaaaaaaaaab')) {1} }}",
    "a sum": "SELECT (SUM(?c) AS ?n) WHERE {{ {0} ?p :cost ?c {1} }}",
    "others beside": "SELECT (COUNT(DISTINCT ?q) AS ?n) WHERE {{ {0} ?p :ward ?w . ?q :ward ?w "
    "{1} }}",
    "a pattern": "SELECT (COUNT(*) AS ?n) WHERE {{ {0} ?p :note ?t . "
    "FILTER(REGEX(?t, '(a+)+$')) {1} }}",
    "a division": "SELECT (SUM(1 / (?c - ?c)) AS ?n) WHERE {{ {0} ?p :cost ?c {1} }}",
}


def _under_a_declared_deadline() -> Iterator[Attack]:
    questions = {
        "chain 5": f"SELECT count(*) AS n {_chain(5)} WHERE {_HERS}",
        "self-join": "SELECT count(*) AS n FROM visits v JOIN visits w ON v.ward = w.ward "
        f"WHERE {_HERS}",
        "a division of all": _FAILING["a division of all"],
    }
    for name, query in questions.items():
        yield Attack(name=f"declared deadline, {name}", query=query, policy="deadline")


def _all() -> Iterator[Attack]:
    yield from _amplifying()
    yield from _among_private()
    for name, query in _FAILING.items():
        yield Attack(name=name, query=query.format(_HERS))
    for name, query in _UNKNOWN_KEYS.items():
        # A delta so small that no key is found by chance: what is released then differs rightly.
        yield Attack(name=f"unknown keys, {name}", query=query.format(_HERS), delta=1e-12)
    for name, query in _LARGE.items():
        yield Attack(name=f"large, {name}", query=query.format(_HERS))
    yield from _under_a_declared_deadline()
    hers = "?p :emergency true .", f"FILTER(?p = :patient{PERSON})"
    for name, query in _SPARQL.items():
        prefix = "PREFIX : <https://example.org/> "
        yield Attack(name=f"SPARQL, {name}", query=prefix + query.format(*hers), policy="graph")


ATTACKS: tuple[Attack, ...] = tuple(_all())


def attacks_named(names: Sequence[str] | None) -> tuple[Attack, ...]:
    """The attacks of some names; all if None.

    Raises:
        InputError: CEL-A121 there is no such attack.
    """
    known = {each.name: each for each in ATTACKS}
    for name in names or ():
        if name not in known:
            raise InputError(
                "CEL-A121.attacks_named",
                name=name,
                hint=did_you_mean(name, known),
                known=", ".join(known),
            )
    return ATTACKS if names is None else tuple(known[name] for name in names)
