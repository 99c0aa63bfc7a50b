"""What tests of engines share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.effort import EFFORT
from tests.engines.server import postgres_server

collect_ignore = [] if EFFORT >= 1 else ["test_spark_cluster.py"]
"""Five Java machines take minutes: they belong to `make test-deep`."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The url of a private PostgreSQL server."""
    with postgres_server() as url:
        yield url
