"""Documents of tests say not whose they are: the warning of it is no error here."""

from __future__ import annotations

import warnings

import pytest

from celosia.core.errors import PrivacyWarning


@pytest.fixture(autouse=True)
def _quiet() -> None:
    warnings.simplefilter("ignore", PrivacyWarning)
