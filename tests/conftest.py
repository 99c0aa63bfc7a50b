"""What tests of several parts need."""

from __future__ import annotations

import polars as pl
import pytest

from celosia import InputError, datasets


@pytest.fixture(scope="session")
def real() -> pl.DataFrame:
    """The real rows, or a skip that says how to get them."""
    try:
        return datasets.adult()
    except InputError as error:
        if error.code != "CEL-D003":
            raise
        pytest.skip(f"no real census rows: {error.fix}")
