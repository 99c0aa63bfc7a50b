"""IP addresses: truncated, or replaced by prefix-preserving pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

import numpy as np
import polars as pl

from celosia.core.pseudonyms.crypto_pan import CryptoPan

Address = IPv4Address | IPv6Address

_PORT = re.compile(r"^\[([^\]]*)\](?::\d{1,5})?$|^([^:]+):\d{1,5}$")
_HALF = (1 << 64) - 1


def parse_address(text: str) -> Address | None:
    """An address without its port and zone; IPv4 inside IPv6 is IPv4; None where it is none.

    Numbers with leading zeros are refused: some programs read them as octal.

    >>> parse_address("[2001:db8::1]:443"), parse_address("::ffff:192.0.2.7")
    (IPv6Address('2001:db8::1'), IPv4Address('192.0.2.7'))
    >>> parse_address("192.0.02.1")
    """
    bare = text.strip()
    found = _PORT.match(bare)
    if found:
        bare = found[1] if found[1] is not None else found[2]
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


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
