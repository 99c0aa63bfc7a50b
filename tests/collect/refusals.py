"""A refusal, by its code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from celosia.core.errors import CelosiaError


@contextmanager
def refused(code: str) -> Iterator[None]:
    """What runs inside must be refused with this code."""
    with pytest.raises(CelosiaError) as caught:
        yield
    assert caught.value.code == code
