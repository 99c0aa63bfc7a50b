"""Odd statements: cut up, spliced and decorated queries, and every function that SQLGlot knows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

HERE = Path(__file__).parent
WORDS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

_ODD = """
DISTINCT ALL * ( ) , ; + - / % || :: < > = <> . ' " -- /* NULL TRUE 0 1 -1 1e400 'x' '2020-13-01'
LEFT RIGHT FULL OUTER CROSS NATURAL LATERAL SEMI ANTI ASOF JOIN ON USING WHERE GROUP BY HAVING ORDER
LIMIT OFFSET QUALIFY WINDOW OVER() UNION INTERSECT EXCEPT WITH RECURSIVE SELECT FROM VALUES EXISTS
IN NOT ANY CASE WHEN THEN ELSE END BETWEEN LIKE ILIKE ESCAPE SIMILAR IS ISNULL AS ROLLUP(price)
CUBE(price) GROUPING SETS COUNT(*) SUM(price) MAX(price) AVG FILTER(WHERE TRUE) custkey price status
placed name region orders customer nation secret o.price c.custkey random() now() pg_sleep(9)
current_date read_csv('x') generate_series(1,9) ? $1 :x @v (SELECT 1)
(SELECT MAX(price) FROM orders)
INTERVAL '1' DAY CAST(status AS BLOB) price::INTEGER price[1] {'a':1} [1,2] TABLESAMPLE 10% PIVOT
INSERT UPDATE DELETE DROP TABLE COPY ATTACH PRAGMA SET CALL DESCRIBE EXPLAIN INTO FOR x->1
COLUMNS(*)
"""
ODD = _ODD.split()

SHAPES = [
    "SELECT COUNT(*) FROM orders WHERE {f}(price) > 1",
    "SELECT COUNT(*) FROM orders WHERE {f}(status, 'x') IS NULL",
    "SELECT COUNT(*) FROM orders WHERE {f}() IS NULL",
    "SELECT {f}(price) FROM orders",
    "SELECT {f}(price, 1) FROM orders",
    "SELECT {f}(placed), COUNT(*) FROM orders GROUP BY {f}(placed)",
    "SELECT COUNT(*) FROM {f}('x')",
    "SELECT status, COUNT(*) FROM orders GROUP BY status HAVING {f}(COUNT(*)) > 1",
]


def seeds() -> list[str]:
    """The queries of the golden file and of the list of refusals."""
    golden = (HERE / "golden.txt").read_text("utf-8").split("\n\n")[1:]
    refused = (HERE / "refusals.txt").read_text("utf-8").splitlines()
    found = [pair.split("\n=>\n")[0] for pair in golden]
    # Good queries eight times: a mutant of a good one comes closest to being let through.
    return 8 * found + [line.split(" ", 1)[1] for line in refused if line.startswith("CEL-")]


def functions() -> list[str]:
    """The names of all functions that SQLGlot has a type for."""
    return sorted({each.sql_names()[0] for each in exp.ALL_FUNCTIONS if each.sql_names()})


def statements(seed: int, number: int) -> Iterator[str]:
    """Odd statements, the same for the same seed."""
    rng = random.Random(seed)
    texts, names = seeds(), functions()
    trees = [tree for text in texts if (tree := _parsed(text)) is not None]
    for _ in range(number):
        chance = rng.random()
        if chance < 0.2:
            yield rng.choice(SHAPES).format(f=rng.choice(names))
            continue
        if chance < 0.6:
            yield _grafted(rng.choice(trees), rng.choice(trees), rng)
            continue
        words = WORDS.findall(rng.choice(texts))
        for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
            _mutate(words, rng, texts)
        yield "".join(words)


def _parsed(text: str) -> exp.Expr | None:
    try:
        found = sqlglot.parse(text, read="duckdb")
    except (SqlglotError, RecursionError):
        return None
    return found[0] if isinstance(found[0], exp.Select) else None


def _grafted(stock: exp.Expr, branch: exp.Expr, rng: random.Random) -> str:
    """A query in which one or two parts are replaced by parts of another."""
    tree = stock.copy()
    for _ in range(rng.choice([1, 1, 2])):
        place = rng.choice([node for node in tree.walk() if node.parent is not None])
        kinds = exp.Condition | exp.Query if isinstance(place, exp.Condition) else type(place)
        offered = [node for node in branch.walk() if isinstance(node, kinds)]
        if offered:
            place.replace(rng.choice(offered).copy())
    try:
        return tree.sql(dialect="duckdb")
    except Exception:  # some trees cannot be written; they are no statements
        return stock.sql(dialect="duckdb")


def _mutate(words: list[str], rng: random.Random, texts: list[str]) -> None:
    place = rng.randrange(len(words) + 1)
    way = rng.randrange(6)
    if way == 0:
        del words[place : place + rng.choice([1, 1, 2, 5])]
    elif way == 1:
        words[place:place] = [" ", rng.choice(ODD), " "]
    elif way == 2:
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
