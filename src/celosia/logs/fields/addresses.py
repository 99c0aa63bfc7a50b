"""IP addresses: truncated, named by a table, or replaced by prefix-preserving pseudonyms."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.pseudonyms.crypto_pan import CryptoPan

OTHER = "other"
"""The label of addresses that a table of networks does not know."""

Address = IPv4Address | IPv6Address

_PORT = re.compile(r"^\[([^\]]*)\](?::\d{1,5})?$|^([^:]+):\d{1,5}$")
_HALF = (1 << 64) - 1


def parse_address(text: str) -> Address | None:
    """An address without its port; IPv4 inside IPv6 is IPv4; None where it is none.

    Numbers with leading zeros are none: some programs read them as octal. Nor are addresses with a
    zone (`%eth0`): they mean something on one machine alone, and name a device of it.

    >>> parse_address("[2001:db8::1]:443"), parse_address("::ffff:192.0.2.7")
    (IPv6Address('2001:db8::1'), IPv4Address('192.0.2.7'))
    >>> parse_address("192.0.02.1")
    """
    bare = text.strip()
    found = _PORT.match(bare)
    if found:
        bare = found[1] if found[1] is not None else found[2]
    try:
        address = ip_address(bare)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    return None if address.scope_id is not None else address.ipv4_mapped or address


def truncated(address: Address, bits: tuple[int, int]) -> str:
    """The network of an address: IPv4 to the first number of bits, IPv6 to the second.

    >>> truncated(IPv4Address("192.0.2.77"), (24, 48))
    '192.0.2.0/24'
    """
    kept = bits[isinstance(address, IPv6Address)]
    shift = address.max_prefixlen - kept
    return f"{type(address)(int(address) >> shift << shift)}/{kept}"


def truncate(texts: pl.Series, bits: tuple[int, int]) -> pl.Series:
    """The network of each address; missing where a text is no address."""
    return _by_distinct(texts, lambda found: [truncated(each, bits) for each in found])


@dataclass(frozen=True, slots=True)
class NetworkTable:
    """Labels of networks, such as countries or providers, by a table that the user gives.

    >>> table = NetworkTable.of([("192.0.2.0/24", "ES"), ("192.0.0.0/16", "FR")])
    >>> table.label(IPv4Address("192.0.2.9")), table.label(IPv4Address("10.0.0.1"))
    ('ES', 'other')
    """

    labels: Mapping[tuple[int, int], Mapping[int, str]] = field(repr=False)
    """By version and length, the label of each prefix."""

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]]) -> NetworkTable:
        """From networks and their labels.

        Raises:
            ValueError: one is no network, or has no label; its place counted from 1.
        """
        found: dict[tuple[int, int], dict[int, str]] = {}
        for number, (text, label) in enumerate(rows, 1):
            try:
                network = ip_network(text.strip())
            except ValueError:
                raise ValueError(number) from None
            if not label.strip():
                raise ValueError(number)
            shift = network.max_prefixlen - network.prefixlen
            of_length = found.setdefault((network.version, network.prefixlen), {})
            of_length[int(network.network_address) >> shift] = label.strip()
        return cls(found)

    @classmethod
    def read(cls, path: str | Path) -> NetworkTable:
        """From a CSV file: a network and a label a line, without a header.

        Raises:
            InputError: CEL-U052 it is no such file.
        """
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as stream:
                rows = [row for row in csv.reader(stream) if row]
        except (OSError, UnicodeDecodeError, csv.Error):
            raise InputError("CEL-U052", path=str(path), line=0) from None
        wrong = next((line for line, row in enumerate(rows, 1) if len(row) != 2), None)
        if wrong is not None or not rows:
            raise InputError("CEL-U052", path=str(path), line=wrong or 0)
        try:
            return cls.of((row[0], row[1]) for row in rows)
        except ValueError as error:
            raise InputError("CEL-U052", path=str(path), line=error.args[0]) from None

    def label(self, address: Address) -> str:
        """The label of the longest prefix that an address has; `other` for none."""
        for version, length in sorted(self.labels, reverse=True):
            if version == address.version:
                prefix = int(address) >> (address.max_prefixlen - length)
                label = self.labels[version, length].get(prefix)
                if label is not None:
                    return label
        return OTHER


def labelled(texts: pl.Series, table: NetworkTable) -> pl.Series:
    """The label of each address; missing where a text is no address."""
    return _by_distinct(texts, lambda found: [table.label(each) for each in found])


def encrypt(texts: pl.Series, pan: CryptoPan) -> pl.Series:
    """Prefix-preserving pseudonyms; missing where a text is no address."""

    def work(found: list[Address]) -> list[str]:
        is_six = np.array([each.version == 6 for each in found], dtype=bool)
        numbers = [int(each) for each in found]
        shown: list[str] = [""] * len(found)
        four = np.flatnonzero(~is_six)
        for place, new in zip(
            four, pan.ipv4(np.array([numbers[i] for i in four], dtype=np.uint32)), strict=True
        ):
            shown[place] = str(IPv4Address(int(new)))
        six = np.flatnonzero(is_six)
        words = np.array(
            [[numbers[i] >> 64, numbers[i] & _HALF] for i in six], dtype=np.uint64
        ).reshape(-1, 2)
        for place, (high, low) in zip(six, pan.ipv6(words), strict=True):
            shown[place] = str(IPv6Address(int(high) << 64 | int(low)))
        return shown

    return _by_distinct(texts, work)


def _by_distinct(texts: pl.Series, work: Callable[[list[Address]], list[str]]) -> pl.Series:
    """Do some work once for each distinct text that is an address."""
    distinct = texts.drop_nulls().unique()
    parsed = [(text, address) for text in distinct if (address := parse_address(text)) is not None]
    made = work([address for _, address in parsed])
    old = pl.Series([text for text, _ in parsed], dtype=pl.String)
    new = pl.Series(made, dtype=pl.String)
    return texts.replace_strict(old, new, default=None, return_dtype=pl.String)
