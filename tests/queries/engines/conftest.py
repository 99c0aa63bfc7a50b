"""Each of the three engines in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engines.server import postgres_server
from tests.queries.engines.places import ENGINES, Place
from tests.spark import spark

__all__ = ["spark"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The url of a private PostgreSQL server."""
    with postgres_server() as url:
        yield url


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, marks=pytest.mark.spark) if kind == "spark" else kind for kind in ENGINES
    ],
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Each engine in turn."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None
    made = Place(request.param, tmp_path_factory.mktemp("place"), url)
    yield made
    made.close()
