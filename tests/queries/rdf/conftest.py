"""What the tests of graphs share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def quiet_rdflib() -> Iterator[None]:
    """Without its talk about ill-formed literals, which are drawn on purpose."""
    logger = logging.getLogger("rdflib.term")
    before, logger.disabled = logger.disabled, True
    yield
    logger.disabled = before
