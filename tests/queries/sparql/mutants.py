"""Odd queries: good and refused ones, cut up, spliced and decorated."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
WORDS = re.compile(
    r"'[^']*'|\"[^\"]*\"|<[^<>\s]*>|[?$]?[A-Za-z_][\w:]*|\d+(?:\.\d+)?|\s+|.", re.DOTALL
)
_ODD = """
* + ? | / ^ ! ( ) { } [ ] , ; . && || = != < > <= >= IN NOT ?s ?o ?x $o ex:p ex:q ex:r ex:n1 a 1 -2
0.5 1e0 "a" "a"@en 'b' "1"^^xsd:integer "x"^^<u:t> true false <u:i> _:b [] () # \\ \\u0041 @en ^^
OPTIONAL UNION MINUS EXISTS BIND AS SERVICE GRAPH FROM VALUES FILTER SELECT ASK DISTINCT REDUCED
GROUP BY HAVING ORDER DESC LIMIT OFFSET COUNT(*) COUNT SUM(?o) AVG(?o) MAX(?o) COUNT(DISTINCT*)
isIRI(?o) isLiteral(?o) LANG(?o) STR(?o) STRLEN(?o) DATATYPE(?o) ABS(?o) YEAR(?o) UCASE(?o) RAND()
CONTAINS(?o,"a") REGEX(?o,"^a") BOUND(?o) IF(?o,1,2) COALESCE(?o,1) sameTerm(?o,?s) xsd:integer(?o)
PREFIX BASE INSERT DELETE ex: : <p> é 🙂 "
"""
ODD = _ODD.split()
GOOD = [
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o }",
    "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ex:p ?o . ?s ex:q ?x }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o FILTER(?o > 1 && ?o != 2) }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p/ex:q ?o . ?o ^ex:r ?x FILTER(!(?s = ?x)) }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p [ ex:q ?o ] ; ex:r ?y FILTER(?o IN (1, ex:n1, 'a')) }",
    "SELECT (COUNT(*) AS ?n) { { ?s ex:p ?o FILTER(LANG(?o) = 'en') } ?s ?f ?x VALUES ?f {ex:q} }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o FILTER(STRLEN(?o) > 0 || isIRI(?o) || ?o < 3) }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?o , 2 , ?x . ?x ex:q ?y . ex:n1 ex:r ?y }",
    "SELECT (COUNT(*) AS ?n) { ?s ex:p ?s . _:b ex:q ?s FILTER(COALESCE(?s = ex:n1, false)) }",
]


ALIKE = [
    ["?s", "?o", "?x", "?y", "?f", "_:b"],
    ["ex:p", "ex:q", "ex:r", "ex:n1", "ex:n2", "?f"],
    ["1", "2", "'a'", "'en'", "ex:n1", "?o", "?x", "1.0", "'a'@en", "true", "_:b", "[]"],
    ["=", "!=", "<", ">", "IN", "&&", "||", "/"],
    ["STRLEN", "LANG", "isIRI", "isLiteral", "isNumeric", "ABS", "isBlank", "CEIL", "!"],
]
"""Words that may often stand in each other's place."""


def refused() -> list[str]:
    """The queries of the list of refusals."""
    lines = (HERE / "refusals.txt").read_text("utf-8").splitlines()
    return [line.split(" ", 1)[1] for line in lines if line.startswith("CEL-")]


def queries(seed: int, number: int) -> Iterator[str]:
    """Odd queries, the same for the same seed."""
    rng = random.Random(seed)
    # Good queries often: a mutant of a good one comes closest to being let through.
    texts = GOOD * 40 + refused()
    for _ in range(number):
        words = WORDS.findall(rng.choice(texts))
        for _ in range(rng.choice([0, 1, 2, 3, 4])):
            _exchange(words, rng)
        for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
            _mutate(words, rng, texts)
        yield "".join(words)


def _exchange(words: list[str], rng: random.Random) -> None:
    """Put a word in the place of one that is much like it."""
    places = [(place, kin) for place, word in enumerate(words) for kin in ALIKE if word in kin]
    if places:
        place, kin = rng.choice(places)
        words[place] = rng.choice(kin)


def _mutate(words: list[str], rng: random.Random, texts: list[str]) -> None:
    place = rng.randrange(len(words) + 1)
    way = rng.randrange(7)
    if way == 0:
        del words[place : place + rng.choice([1, 1, 2, 5])]
    elif way == 1:
        words[place:place] = [" ", rng.choice(ODD), " "]
    elif way in (2, 6):
        words[place : place + 1] = [" ", rng.choice(ODD), " "]
    elif way == 3:
        other = WORDS.findall(rng.choice(texts))
        start = rng.randrange(len(other))
        words[place:place] = [" ", *other[start : start + rng.choice([1, 3, 9])], " "]
    elif way == 4:
        words[place:place] = words[place : place + 5]
    elif words:
        first, second = rng.randrange(len(words)), rng.randrange(len(words))
        words[first], words[second] = words[second], words[first]
