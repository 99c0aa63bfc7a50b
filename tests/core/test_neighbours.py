"""Neighbours: said in words, and refused when they say nothing."""

from __future__ import annotations

import pytest

from celosia.core.errors import InputError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation


def test_neighbours_say_what_one_step_is() -> None:
    assert str(ADD_REMOVE) == "add or remove one row"
    assert str(CHANGE_ONE) == "change one row"
    assert str(Neighbours(Relation.ADD_REMOVE, unit="patient")) == "add or remove one patient"


def test_a_relation_may_be_given_by_its_name() -> None:
    assert Neighbours("change-one") == CHANGE_ONE  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["bounded", "", None, 1])
def test_an_unknown_relation_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="add-remove, change-one") as error:
        Neighbours(bad)  # type: ignore[arg-type]
    assert error.value.code == "CEL-M001"


@pytest.mark.parametrize("bad", ["", None, 3])
def test_a_unit_that_is_no_word_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="privacy unit") as error:
        Neighbours(unit=bad)  # type: ignore[arg-type]
    assert error.value.code == "CEL-M001"
