"""Codes, places, positions and dates get groups that mean something, never alphabetical ones."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest

from celosia import InputError
from celosia.tables import Automatic, Classification, Coordinates, Dates
from celosia.tables.hierarchies import propose
from celosia.tables.hierarchies.classification import CHAPTERS, _blocks, _table, recognise


def path_of(rule: Classification, value: str, *others: str) -> tuple[str, ...]:
    return next(
        path for path in rule.build(pl.Series([value, *others])).paths() if path[0] == value
    )


def dates(form: str) -> Dates:
    return Dates(levels=("month", "quarter", "year", "decade"), format=form)


@pytest.mark.parametrize(
    ("name", "value", "groups"),
    [
        ("countries", "ES", ("Southern Europe", "Europe")),
        ("countries", "esp", ("Southern Europe", "Europe")),
        ("countries", "España", ("Southern Europe", "Europe")),
        ("countries", "United-States", ("Northern America", "Americas")),
        ("us-states", "New York", ("Middle Atlantic", "Northeast")),
        ("us-states", "TX", ("West South Central", "South")),
        ("spanish-provinces", "La Coruña", ("Galicia", "Noroeste")),
        ("education", "HS-grad", ("Upper secondary", "Secondary education")),
        ("education", "doctorado", ("Doctorate", "Higher education")),
        ("isco-08", "2211", ("221", "22", "2 Professionals")),
        ("icd-10", "J45.0", ("J45", "J40-J47", "J00-J99")),
        ("icd-10", "h60", ("H60", "H60-H62", "H60-H95")),
        ("icd-10", "D48", ("D48", "D37-D48", "C00-D48")),
        ("icd-10", "Y05", ("Y05", "X85-Y09", "V01-Y98")),
        ("icd-10", "B10", ("B10", "A00-B99", "A00-B99")),
        ("nuts", "ES300", ("ES30", "ES3", "ES")),
        ("nuts", "frk26", ("FRK2", "FRK", "FR")),
        ("nuts", "EL3", ("EL3", "EL3", "EL")),
    ],
)
def test_a_value_has_its_published_groups(name: str, value: str, groups: tuple[str, ...]) -> None:
    assert path_of(Classification(name), value) == (value, *groups, "*")  # type: ignore[arg-type]


def test_the_lists_are_whole_and_name_everything_once() -> None:
    for name, leaves, tops in (
        ("countries", 249, {"Africa", "Americas", "Antarctica", "Asia", "Europe", "Oceania"}),
        ("us-states", 51, {"Midwest", "Northeast", "South", "West"}),
        ("spanish-provinces", 52, None),
    ):
        table = _table(name)
        assert len(set(table)) >= leaves
        assert all(len(groups) == 2 for groups in table.values())
        assert tops is None or {groups[-1] for groups in table.values()} == tops
    codes = {name for name in _table("countries") if len(name) == 2}
    assert len(codes - {"uk"}) == 249
    assert len([name for name in _table("us-states") if len(name) == 2]) == 51


def test_blocks_of_diagnoses_nest_in_chapters_and_do_not_overlap() -> None:
    blocks = _blocks()
    assert len(blocks) == 261
    ordered = sorted(blocks)
    assert all(left[4:] < right[:3] for left, right in pairwise(ordered))
    for block in blocks:
        inside = [each for each in CHAPTERS if each[:3] <= block[:3] and block[4:] <= each[4:]]
        assert len(inside) == 1, block


def test_what_a_classification_does_not_know_is_in_a_group_of_its_own() -> None:
    rule = Classification("countries")
    others = ("Spain", "France", "Chile", "Peru")
    assert path_of(rule, "?", *others) == ("?", "other", "other", "*")
    with pytest.raises(InputError, match="knows 1 of 2") as refused:
        rule.build(pl.Series(["Spain", "Lugo"]))
    assert refused.value.code == "CEL-H042"


@pytest.mark.parametrize(
    ("cells", "rule"),
    [
        (["Spain", "Chile", "Peru", "Cuba"], Classification("countries")),
        (["DE", "FR", "ES", "PT"], Classification("countries")),
        (["CA", "TX", "NY", "WA"], Classification("us-states")),
        (["Lugo", "Ourense", "A Coruña", "Soria"], Classification("spanish-provinces")),
        (["Bachelors", "HS-grad", "11th", "Masters"], Classification("education")),
        (["J45", "I21.9", "E11", "F32.1"], Classification("icd-10")),
        (["ES300", "DE212", "FRK26", "UKI31"], Classification("nuts")),
        (["3 de marzo de 2021", "25 de setiembre de 1999"], dates("%d de %B de %Y")),
        (["03-mar-2021", "17-ene-2020", "09-sept-2018"], dates("%d-%b-%Y")),
        (["03 Dic. 2021", "17 ago 1999"], dates("%d %b %Y")),
        (["40.41, -3.70", "40.42, -3.71", "41.38, 2.17"], Coordinates()),
        (["19/08/1963", "01/02/1970"], dates("%d/%m/%Y")),
        (["08/19/1963", "01/02/1970"], dates("%m/%d/%Y")),
        (["01/02/1963", "03/04/1970"], Dates(levels=("year", "decade"), format="%d/%m/%Y")),
        (["19.8.63", "1.2.70"], dates("%d.%m.%y")),
        (["19 Aug 1963", "1 Feb 1970"], dates("%d %b %Y")),
        ([19630819, 19700201], dates("%Y%m%d")),
        (["2020-01-05 10:30", "2021-02-07 11:45"], None),
    ],
    ids=str,
)  # fmt: skip
def test_automatic_hierarchies_know_codes_places_and_dates(
    cells: list[object], rule: object
) -> None:
    found = propose(pl.Series(cells))
    if rule is not None:
        assert found == rule
    Automatic().build(pl.Series(cells))


def test_towns_are_no_classification_and_get_no_alphabetical_groups() -> None:
    towns = ["Vigo", "Ferrol", "Elche", "Toro", "Gijón"]
    assert recognise(towns) is None
    assert Automatic().build(pl.Series(towns)).height == 1


def test_numbers_that_are_no_dates_stay_numbers() -> None:
    assert not isinstance(propose(pl.Series([19631399, 20200101])), Dates)
    assert not isinstance(propose(pl.Series([1963, 1970, 1980])), Dates)


def test_cells_of_a_grid_nest_around_zero() -> None:
    paths = Coordinates(widths=(1, 10)).build(pl.Series(["0.5, -0.5", "-0.5, 179.9"])).paths()
    assert paths[0] == ("-0.5, 179.9", "-1, 179 (1 degrees)", "-10, 170 (10 degrees)", "*")
    assert paths[1] == ("0.5, -0.5", "0, -1 (1 degrees)", "0, -10 (10 degrees)", "*")
    with pytest.raises(InputError):
        Coordinates(widths=(0.2, 0.5))
    with pytest.raises(InputError) as refused:
        Coordinates().build(pl.Series(["91, 0"]))
    assert refused.value.code == "CEL-H043"
