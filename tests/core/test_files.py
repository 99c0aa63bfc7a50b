"""Files appear whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from celosia.core.errors import InputError
from celosia.core.files import replacing


def test_a_file_takes_its_name_when_the_block_ends_well(tmp_path: Path) -> None:
    target = tmp_path / "safe.csv.gz"
    with replacing(target) as draft:
        assert draft.suffixes == [".csv", ".gz"]
        draft.write_text("a")
        assert not target.exists()
    assert target.read_text() == "a"
    assert [*tmp_path.iterdir()] == [target]


@pytest.mark.parametrize("blow", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_when_the_block_fails(tmp_path: Path, blow: type[BaseException]) -> None:
    target = tmp_path / "safe.csv"
    target.write_text("old")

    def fail_half_way() -> None:
        with replacing(target) as draft:
            draft.write_text("half")
            raise blow

    with pytest.raises(blow):
        fail_half_way()
    assert target.read_text() == "old"
    assert [*tmp_path.iterdir()] == [target]


def test_the_file_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with replacing(tmp_path / "made") as draft:
        draft.write_text("")
    made = tmp_path / "made"
    assert stat.S_IMODE(made.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_secret_file_is_never_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    with replacing(path, secret=True) as draft:
        draft.write_text("secret")
        assert draft.stat().st_mode & 0o077 == 0
    assert path.stat().st_mode & 0o077 == 0


def test_an_existing_file_is_kept_unless_overwriting_is_allowed(tmp_path: Path) -> None:
    target = tmp_path / "safe.csv"
    target.write_text("old")
    with pytest.raises(InputError) as refused, replacing(target, overwrite=False):
        pass
    assert refused.value.code == "CEL-I004"
    assert target.read_text() == "old"


def test_a_folder_and_a_place_without_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"), replacing(tmp_path):
        pass
    with pytest.raises(InputError, match="does not exist"), replacing(tmp_path / "no" / "a.csv"):
        pass
