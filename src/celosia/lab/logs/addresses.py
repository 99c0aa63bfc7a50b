"""Published vectors of Crypto-PAn, and the prefixes that they keep."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.pseudonyms.crypto_pan import CryptoPan
from celosia.lab.findings import Kind, Row, compare
from celosia.logs.fields.addresses import encrypt

KEY = bytes.fromhex("1522178d33a4cf80130a5b1649907d10d8988f837979652762574c2d2a842202")
"""The key of the authors' sample trace."""

PUBLISHED = {
    "128.11.68.132": "135.242.180.132",
    "129.118.74.4": "134.136.186.123",
    "130.132.252.244": "133.68.164.234",
    "141.223.7.43": "141.167.8.160",
}
"""Of the authors' sample trace."""
OURS = {
    "192.0.2.1": "252.255.2.112",
    "192.0.2.200": "252.255.2.198",
    "2001:db8::1": "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e",
}
"""Of addresses for documentation, by another program."""


def rows(progress: Progress) -> Iterable[Row]:
    """Every vector, computed again."""
    progress(Step(Message("lab.studies.logs.addresses.title"), 0))
    found = encrypt(pl.Series(list(PUBLISHED | OURS)), CryptoPan(KEY)).to_list()
    for (given, stated), computed in zip((PUBLISHED | OURS).items(), found, strict=True):
        kind: Kind | None = "program" if given in OURS else None
        yield compare(given, "pseudonym", stated, computed, kind=kind)
