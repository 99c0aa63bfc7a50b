"""Keys, and what comes out of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.pseudonyms.keys import (
    Key,
    check_length,
    check_outside,
    expected_collisions,
    forget,
    normal_form,
)
from celosia.core.randomness import Seeded

KEY = Key(bytes(range(32)))


def test_the_pseudonym_of_the_specification() -> None:
    # Check 33.
    assert KEY.pseudonym("person", "2026-01", normal_form("María  GARCÍA")) == "XF5NS2HGCIKM6"


def test_expected_collisions_of_ten_million_values() -> None:
    assert expected_collisions(10**7, bits=32) == pytest.approx(11641.5, abs=0.1)
    assert expected_collisions(10**7, bits=64) == pytest.approx(2.7e-6, rel=0.01)


def test_short_pseudonyms_are_refused_for_many_values() -> None:
    check_length(9, 10**5)
    check_length(10, 10**9)
    with pytest.raises(InputError, match="45 bits"):
        check_length(9, 10**5 + 1)


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
)
@settings(max_examples=300)
def test_two_lists_of_parts_are_never_hashed_alike(first: list[str], second: list[str]) -> None:
    assert (KEY._digest(*first) == KEY._digest(*second)) == (first == second)


def test_breaks_inside_parts_are_told_apart() -> None:
    assert KEY._digest("a\x1fb") != KEY._digest("a", "b")
    assert KEY._digest("a\x10u") != KEY._digest("a\x1f")


def test_keyed_numbers_are_uniform() -> None:
    counts = Counter(KEY.number(7, "test", str(each)) for each in range(7000))
    # Each count is binomial with mean 1000 and deviation 29.3: five deviations.
    assert set(counts) == set(range(7))
    assert all(abs(count - 1000) < 147 for count in counts.values())


def test_a_keyed_order_depends_on_key_and_purpose_only() -> None:
    values = list(range(20))
    assert KEY.order(values, "a") == KEY.order(values[::-1], "a")
    assert KEY.order(values, "a") != KEY.order(values, "b")
    assert sorted(KEY.order(values, "a")) == values


def test_a_key_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = Key.new().save(tmp_path / "key.bin")
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="key"):
        Key.new().save(path)
    path.chmod(0o640)
    with pytest.raises(InputError, match="other users"):
        Key.load(path)


def test_a_saved_key_gives_the_same_pseudonyms(tmp_path: Path) -> None:
    again = Key.load(KEY.save(tmp_path / "key.bin"))
    assert again.pseudonym("id", "all", "1") == KEY.pseudonym("id", "all", "1")
    assert again.fingerprint() == KEY.fingerprint() != Key.new().fingerprint()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 32, b"celosia key 1\nabc\n"])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.bin"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="not a key file"):
        Key.load(path)


def test_a_missing_or_short_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no key file"):
        Key.load(tmp_path / "none")
    with pytest.raises(InputError, match="32 bytes"):
        Key(b"short")


def test_a_key_inside_the_output_is_refused(tmp_path: Path) -> None:
    safe = tmp_path / "safe"
    check_outside(tmp_path / "key.bin", [safe])
    for place in (safe / "key.bin", safe / "a" / "key.bin", safe / ".." / "safe" / "key", safe):
        with pytest.raises(InputError, match="published"):
            check_outside(place, [safe])


def test_a_forgotten_key_is_gone(tmp_path: Path) -> None:
    path = KEY.save(tmp_path / "key.bin")
    forget(path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError):
        forget(path)


def test_a_key_is_never_printed() -> None:
    assert KEY.secret.hex() not in repr(KEY) + str(KEY)


def test_a_seeded_key_is_a_simulation() -> None:
    assert Key.new(Seeded(1)) == Key.new(Seeded(1))
    assert Key.new(Seeded(1)).derive("x").simulation
    assert not Key.new().simulation
