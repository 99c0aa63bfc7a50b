"""Prefix-preserving pseudonyms of addresses (check 20)."""

from __future__ import annotations

from ipaddress import ip_address

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.pseudonyms.crypto_pan import CryptoPan

KEY = bytes.fromhex(
    "1522178d33a4cf80130a5b1649907d10"  # 21 34 23 141 ...
    "d8988f8379796527 62574c2d2a842202"
)
PAN = CryptoPan(KEY)

# The sample trace of the authors' implementation, and documentation addresses (check 20).
PUBLISHED = {
    "128.11.68.132": "135.242.180.132",
    "129.118.74.4": "134.136.186.123",
    "130.132.252.244": "133.68.164.234",
    "141.223.7.43": "141.167.8.160",
    "192.0.2.1": "252.255.2.112",
    "192.0.2.200": "252.255.2.198",
    "2001:db8::1": "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e",
}


def encrypted(address: int, bits: int) -> int:
    if bits == 32:
        return int(PAN.ipv4(np.array([address], dtype=np.uint32))[0])
    words = np.array([[address >> 64, address & (1 << 64) - 1]], dtype=np.uint64)
    high, low = (int(word) for word in PAN.ipv6(words)[0])
    return high << 64 | low


@pytest.mark.parametrize("address", PUBLISHED)
def test_published_vectors(address: str) -> None:
    given = ip_address(address)
    assert encrypted(int(given), given.max_prefixlen) == int(ip_address(PUBLISHED[address]))


def shared(one: int, other: int, bits: int) -> int:
    return bits - (one ^ other).bit_length()


@pytest.mark.parametrize("bits", [32, 128])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_two_addresses_share_as_many_leading_bits_after_as_before(
    bits: int, data: st.DataObject
) -> None:
    address = st.integers(0, 2**bits - 1)
    one = data.draw(address)
    other = one ^ data.draw(address) >> data.draw(st.integers(0, bits))
    after = shared(encrypted(one, bits), encrypted(other, bits), bits)
    assert after == shared(one, other, bits)


def test_a_batch_gives_what_each_address_gives_by_itself() -> None:
    rng = np.random.default_rng(1)
    addresses = rng.integers(0, 2**32, 300, dtype=np.uint32)
    addresses[100:] = addresses[100:] & np.uint32(0xFF) | addresses[:200] & np.uint32(0xFFFFFF00)
    assert [int(each) for each in PAN.ipv4(addresses)] == [
        encrypted(int(each), 32) for each in addresses
    ]
    words = rng.integers(0, 2**64, (60, 2), dtype=np.uint64)
    words[30:, 0] = words[:30, 0]
    assert [[int(each) for each in row] for row in PAN.ipv6(words)] == [
        [int(each) for each in PAN.ipv6(row[None])[0]] for row in words
    ]


def test_no_addresses_give_no_pseudonyms() -> None:
    assert len(PAN.ipv4(np.zeros(0, dtype=np.uint32))) == 0
    assert len(PAN.ipv6(np.zeros((0, 2), dtype=np.uint64))) == 0


def test_a_key_of_another_length_is_refused_and_never_printed() -> None:
    with pytest.raises(InputError) as caught:
        CryptoPan(KEY[:31])
    assert caught.value.code == "CEL-I071"
    assert "key" not in repr(PAN)
