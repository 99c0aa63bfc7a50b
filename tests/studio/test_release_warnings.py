"""Every warning of a published table is told in the language of the page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from celosia import DistinctDiversity, KAnonymity, Schema, datasets, publish, tables
from celosia.core.errors import PrivacyWarning
from celosia.core.messages import render, speaking
from celosia.studio import stored_json

SCHEMA = Schema.of(
    quasi_identifiers={"zip": tables.Mask(), "age": tables.Intervals(widths=(10, 20))},
    sensitive=["disease"],
)


def warnings_of_releases() -> Iterator[str]:
    """One of each kind: kept order, too few suppressed records, suppressed ones too much alike."""
    patients = datasets.examples.patients()
    for models, options in (
        ([KAnonymity(3)], {"suppression": 0, "keep_order": True}),
        ([KAnonymity(4)], {"suppression": 0.4}),
        ([KAnonymity(2), DistinctDiversity(3, "disease")], {"suppression": 0.7}),
    ):
        yield from publish(patients, SCHEMA, models, **options).warnings


def test_every_warning_of_a_release_has_its_spanish() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        found = list(warnings_of_releases())
    beginnings = {text.split()[0] for text in found}
    assert beginnings == {"The", "Only", "A"}
    kept = stored_json.loads(stored_json.dumps(found))
    assert kept == found
    with speaking("es"):
        assert [text for text in kept if render(text).split()[:2] == text.split()[:2]] == []
