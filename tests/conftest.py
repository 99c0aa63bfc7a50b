"""What tests of several parts need."""

from __future__ import annotations

import polars as pl
import pytest

from celosia import InputError, datasets
from celosia.queries import deadlines


@pytest.fixture(scope="session")
def real() -> pl.DataFrame:
    """The real rows, or a skip that says how to get them."""
    try:
        return datasets.adult()
    except InputError as error:
        if error.code != "CEL-D003":
            raise
        pytest.skip(f"no real census rows: {error.fix}")


@pytest.fixture(autouse=True)
def _no_waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of real vaults come when they are ready, and a busy machine makes none of them late.

    A test marked `real_time` waits for the deadlines of its questions, as users do.
    """
    if request.node.get_closest_marker("real_time") is None:
        run = deadlines.Attempt.run
        monkeypatch.setattr(deadlines, "wait_until", lambda moment: None)
        monkeypatch.setattr(deadlines.Attempt, "run", lambda it, until: run(it, until + 600))
