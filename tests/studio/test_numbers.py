"""Numbers on pages: written as the language writes them, and one below the other."""

from __future__ import annotations

import re

import polars as pl
import pytest
from playwright.sync_api import Browser

from celosia.core.messages import speaking
from celosia.studio.comparison import distribution
from celosia.studio.mask.pages import charts
from celosia.studio.publish.pages import results_statistics
from celosia.studio.publish.pages.rules import DATES
from celosia.studio.widgets import chart
from celosia.studio.widgets.table import html_table
from celosia.tables.hierarchies.date_formats import find_format, read_date


@pytest.mark.parametrize(
    ("cells", "is_right"),
    [
        (["2.408", "1,93", "34"], True),
        (["+8", "-0,061", ""], True),
        (["90,7 %", "0.4706"], True),
        (["1e-09", "\N{EN DASH}"], True),
        ([3, "< 2"], True),
        (["47677", "47602"], False),  # codes of a file, or years
        (["2.408", "none"], False),
        ([True, False], False),
        ([None, None], False),
    ],
)
def test_a_column_of_numbers_goes_right_and_so_does_its_head(
    cells: list[object], is_right: bool
) -> None:
    made = html_table(["head"], [[each] for each in cells])
    assert ('<th scope="col" class="number">' in made) == is_right
    written = re.findall(r'<td class="number">', made)
    assert len(written) == (len(cells) if is_right else 0)


def test_bins_and_values_of_a_distribution_are_written_in_the_language() -> None:
    many = pl.Series([float(each) * 1234.5 for each in range(100)])
    found = distribution(many, many)
    with speaking("es"):
        first, last = (charts._label(found["labels"][at]) for at in (0, -1))
        assert (first, last) == ("de 0 a 5.092", "de 117.123 a 122.216")
        assert charts._label(1.5) == "1,5"
        assert results_statistics._value("mode", "10618.93") == "10.619"
        assert results_statistics._value("mode", "[2, 3[") == "[2, 3["
    few = pl.Series([1, 2])
    assert list(map(charts._label, distribution(few, few)["labels"])) == ["1", "2"]
    assert charts._label("Lugo") == "Lugo"  # as results of an earlier version have it


@pytest.mark.parametrize("form", [each for each in DATES if each])
def test_each_way_to_write_a_date_is_shown_by_its_own_example(form: str) -> None:
    assert read_date(DATES[form], form).isoformat()[:10] == "2026-11-30"
    assert find_format([DATES[form]]) is not None


def test_axes_write_great_and_small_numbers_with_powers_of_ten(browser: Browser) -> None:
    with speaking("es"):
        script = chart._numbers()
    page = browser.new_page()
    try:
        wanted = {1e9: "10⁹", 2.5e10: "2,5 \u00d7 10¹⁰", 1e-6: "10⁻⁶", -3e-7: "-3 \u00d7 10⁻⁷"}
        wanted |= {12345.5: "12.345,5", 0: "0", 999_999_999: "999.999.999", 1e15: "10¹⁵"}
        found = page.evaluate(f"(all) => all.map({script})", list(wanted))
    finally:
        page.close()
    assert dict(zip(wanted, found, strict=True)) == wanted
