"""Counts of linked facts of two and three entities: processor seconds against plain and pyoxigraph.

A million facts by default (`--rows`): 6 of 10 say who follows whom, 3 who likes what, both with
hubs, 1 how old somebody is. Every entity is protected with all its facts, without declared caps.
`private` is an answer of an open vault with planning and ledger, `plain` the same count over the
same store without privacy, both on DuckDB; pyoxigraph has all facts in memory. The bar is twice
plain after 100 ms. The last figure is the largest memory of all before pyoxigraph is filled.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from bench.memory import peak
from bench.timing import processor_seconds
from celosia.core.randomness import Seeded
from celosia.queries.emission import Target, count_query, distinct_count_query
from celosia.queries.planning.planner import compile_query
from celosia.queries.policy import load_policy
from celosia.queries.rdf.file_loader import load
from celosia.queries.sessions import open_engine
from celosia.queries.vault import Vault

ALLOWANCE = 0.1
PREFIX = "http://example.org/"
SHAPES = {
    "followed": "SELECT (COUNT(DISTINCT ?b) AS ?n) { ?a e:follows ?b . ?b e:likes ?c }",
    "following": "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?a e:follows ?b . ?b e:likes ?c }",
    "linked": "SELECT (COUNT(*) AS ?n) { ?a e:follows ?b . ?b e:likes ?c }",
    "two steps": "SELECT (COUNT(*) AS ?n) { ?a e:follows ?b . ?b e:follows ?c }",
    "mutual": "SELECT (COUNT(*) AS ?n) { ?a e:follows ?b . ?b e:follows ?a }",
    "same taste": "SELECT (COUNT(*) AS ?n) { ?a e:follows ?b . ?a e:likes ?c . ?b e:likes ?c }",
    "triangles": "SELECT (COUNT(*) AS ?n) { ?a e:follows ?b . ?b e:follows ?c . ?c e:follows ?a }",
}
POLICY = f"""name = "links"
unit = {{ name = "entity" }}
budget = {{ epsilon = 20 }}
[graph]
store = "links.graph"
[graph.prefixes]
e = "{PREFIX}"
[graph.classes.User]
predicates = ["e:follows", "e:likes", "e:age"]
"""


def run(rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Seconds, ratios and answers by shape."""
    import pyoxigraph  # for comparison only

    found: dict[str, dict[str, Any]] = {
        name: {}
        for name in ("counts", "answers", "plain", "private", "pyoxigraph", "ratios", "memory")
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "links.nt").write_text("\n".join(_facts(rows)) + "\n", "utf-8")
        (folder / "links.toml").write_text(POLICY, "utf-8")
        load(folder / "links.nt", folder / "links.graph")
        policy = load_policy(folder / "links.toml")
        engine = open_engine(policy)
        with Vault.open(folder / "links.toml", rng=Seeded(1)) as vault:
            for shape, text in SHAPES.items():
                question = compile_query(text, policy)
                counted = question.aggregates[0].argument
                target = Target(policy=policy)
                tree = count_query(question.source, target=target)
                if counted is not None:
                    tree = distinct_count_query(question.source, counted, target=target)
                ((found["counts"][shape],),) = engine.run(tree, timeout=600)
                found["plain"][shape] = processor_seconds(
                    lambda tree=tree: engine.run(tree, timeout=600),  # type: ignore[misc]
                    repeat=3,
                )
                vault.sparql(text, epsilon=0.5)  # warms
                started = process_time()
                found["answers"][shape] = vault.sparql(text, epsilon=0.51).value
                found["private"][shape] = process_time() - started
        engine.close()
        found["memory"]["peak, MB"] = round(peak() / 1e6)
        store = pyoxigraph.Store()
        store.bulk_load((folder / "links.nt").read_bytes(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    for shape, text in SHAPES.items():
        started = process_time()
        list(store.query(f"PREFIX e: <{PREFIX}> {text}"))  # type: ignore[arg-type]
        found["pyoxigraph"][shape] = process_time() - started
        times = max(0.0, found["private"][shape] - ALLOWANCE) / found["plain"][shape]
        found["ratios"][f"{shape}, times plain after 100 ms"] = round(times, 2)
        over = found["private"][shape] / found["pyoxigraph"][shape]
        found["ratios"][f"{shape}, times pyoxigraph"] = round(over, 2)
    for kind in ("plain", "private", "pyoxigraph"):
        found[kind] = {shape: round(value, 3) for shape, value in found[kind].items()}
    return found


def _facts(rows: int) -> Iterator[str]:
    rng = np.random.default_rng(7)
    users, things = rows // 10, max(rows // 50, 10)
    some, other = rng.permutation(users), rng.permutation(users)

    def drawn(count: int, size: int) -> Any:
        weights = np.cumsum((np.arange(size) + 10.0) ** -0.6)
        return np.searchsorted(weights / weights[-1], rng.random(count)).clip(0, size - 1)

    follows = some[drawn(6 * users, users)], other[drawn(6 * users, users)]
    likes = some[drawn(3 * users, users)], drawn(3 * users, things)
    for one, two in zip(*(each.tolist() for each in follows), strict=True):
        yield f"<{PREFIX}u{one}> <{PREFIX}follows> <{PREFIX}u{two}> ."
    for one, two in zip(*(each.tolist() for each in likes), strict=True):
        yield f"<{PREFIX}u{one}> <{PREFIX}likes> <{PREFIX}t{two}> ."
    for one in range(users):
        yield f'<{PREFIX}u{one}> <{PREFIX}age> "{one % 90}" .'
