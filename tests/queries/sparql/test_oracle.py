"""Before noise, every query of WatDiv has the count that pyoxigraph finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from tests.effort import some

from celosia.datasets.watdiv import QUERIES, watdiv
from celosia.lab.sparql.shop import STORE, Shop, ShopQuery, shop_queries

TRIPLES = 10_000
POLICIES = [
    (unit, private) for unit in ("entity", "triple") for private in ("people", "everything")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("oracle")
    watdiv(TRIPLES).load(place / STORE)
    return place


@pytest.fixture(scope="module")
def truth() -> dict[str, int]:
    store = pyoxigraph.Store()
    lines = b"".join(watdiv(TRIPLES).lines())
    store.bulk_load(lines, format=pyoxigraph.RdfFormat.N_TRIPLES)
    found = {}
    for each in shop_queries(TRIPLES):
        answer = store.query(each.text)
        assert isinstance(answer, pyoxigraph.QuerySolutions)
        (row,) = answer
        assert isinstance(row[0], pyoxigraph.Literal)
        found[each.name] = int(row[0].value)
    return found


@pytest.fixture(scope="module", params=some(POLICIES, 2), ids="-".join)
def shop(request: pytest.FixtureRequest, folder: Path) -> Iterator[Shop]:
    unit, private = request.param
    with Shop(folder, unit=unit, private=private) as opened:
        yield opened


def test_every_count_before_noise_is_that_of_pyoxigraph(shop: Shop, truth: dict[str, int]) -> None:
    """Under caps, too: the graph keeps to them, so that nothing is left out."""
    wanted: list[ShopQuery] = shop_queries(TRIPLES)
    assert {each.query.name for each in wanted} == set(QUERIES)
    assert {each.name: shop.exact(each) for each in wanted} == truth
    assert sum(count > 0 for count in truth.values()) > len(QUERIES)
