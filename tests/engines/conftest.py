"""What tests of engines share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engines.server import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The url of a private PostgreSQL server."""
    with postgres_server() as url:
        yield url
