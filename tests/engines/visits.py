"""A table of visits, several of a person, that is published twice: on an engine as in memory."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import KAnonymity, Schema
from celosia.core.errors import PrivacyError, PrivacyWarning
from celosia.tables import publish
from celosia.tables.history import ReleaseHistory
from celosia.tables.release import PublishedTable

SCHEMA = Schema.of(
    quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["clinic"], person="person"
)


def visits(people: int = 60) -> pl.DataFrame:
    """One to three visits of each person; those of one person are alike, but for the disease."""
    draws = np.random.default_rng(3)
    person = np.repeat(np.arange(people), draws.integers(1, 4, people))
    return pl.DataFrame(
        {
            "person": [f"p{number}" for number in person],
            "age": (person % 6 + 20).tolist(),
            "sex": np.where(person // 6 % 3, "F", "M").tolist(),
            "disease": draws.choice(["flu", "gout", "asthma"], person.size).tolist(),
            "clinic": [f"c{number % 7}" for number in person],
        }
    )


Publisher = Callable[..., PublishedTable]
"""Publishes the visits elsewhere, with the same keywords as `publish`."""


def check_series(publisher: Publisher, folder: Path, *, refusal: bool = True) -> None:
    """A second release elsewhere is planned, measured and recorded as one in memory."""
    frame, first = visits(), folder / "first.history"
    arguments: tuple[Any, ...] = (SCHEMA, KAnonymity(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        publish(frame, *arguments, history=first, levels={"age": 0, "sex": 1})
        other = folder / "other.history"
        for end in ("", ".key"):
            shutil.copyfile(f"{first}{end}", f"{other}{end}")
        if refusal:
            with pytest.raises(PrivacyError) as refused:
                publisher(history=other, levels={"age": 3, "sex": 0})
            assert refused.value.code == "CEL-P123"
        expected = publish(frame, *arguments, history=first, suppression=0.3)
        found = publisher(history=other, suppression=0.3)
    joint = found.solution.joint
    assert joint is not None
    assert (joint.earlier, joint.known) == (1, frame.height)
    assert found.measures() == expected.measures()
    with ReleaseHistory.open(first) as one, ReleaseHistory.open(other) as two:
        assert len(two.entries()) == 2
        assert two.verify() == one.verify()
