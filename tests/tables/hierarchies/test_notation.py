"""Hierarchies in schema files: every kind in, every kind out, every slip answered."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import help_of, parameters
from celosia.core.notation import notation
from celosia.tables.hierarchies import (
    BUILDERS,
    Automatic,
    Builder,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    Ordered,
    Tree,
    builder_from_text,
    from_table,
)

HERE = Path()


def refusal(table: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        from_table(table, folder=HERE)
    return caught.value


@pytest.mark.parametrize(
    ("toml", "builder"),
    [
        ('method = "automatic"', Automatic()),
        (
            'method = "intervals"\nwidths = [5, 10, 20]\nstart = 1\ndomain = [1, 100]',
            Intervals(widths=(5, 10, 20), start=1, domain=(1, 100)),
        ),
        (
            'method = "intervals"\nbounds = [[20, 30, 40, 60]]\nopen_above = true\n'
            'style = "bracket"',
            Intervals(bounds=((20, 30, 40, 60),), open_above=True, style="bracket"),
        ),
        (
            'method = "ordered"\norder = ["low", "medium", "high"]\nsizes = [2]',
            Ordered(order=("low", "medium", "high"), sizes=(2,)),
        ),
        ('method = "mask"\nlevels = [1, 2, 3]', Mask(levels=(1, 2, 3))),
        (
            'method = "dates"\nlevels = ["month", "year"]\nformat = "%d/%m/%y"\ncentury = 1900',
            Dates(levels=("month", "year"), format="%d/%m/%y", century=1900),
        ),
        (
            'method = "tree"\nroot = "any"\n[tree]\nHigh = ["HS-grad"]\n[tree.Higher]\n'
            'Graduate = ["Masters"]',
            Tree({"High": ["HS-grad"], "Higher": {"Graduate": ["Masters"]}}, root="any"),
        ),
        ('method = "tree"\ntree = ["Male", "Female"]', Tree(["Male", "Female"])),
    ],
)
def test_every_kind_is_read_and_written(toml: str, builder: Builder) -> None:
    table = tomllib.loads(toml)
    assert from_table(table, folder=HERE) == builder
    assert builder.as_dict() == table


def test_a_file_is_read_relative_to_the_folder_of_the_schema(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("Male|*\nFemale|*\n")
    sex = from_table({"file": "sex.csv", "delimiter": "|"}, folder=tmp_path)
    assert isinstance(sex, Hierarchy)
    assert sex.leaves == ("Male", "Female")


@pytest.mark.parametrize(
    ("text", "builder"),
    {
        "automatic": Automatic(),
        "intervals:[5, 10]": Intervals(widths=(5, 10)),
        "intervals:bounds=[[20, 30.5]],style=bracket": Intervals(
            bounds=((20, 30.5),), style="bracket"
        ),
        "ordered:[low, high],[2]": Ordered(order=("low", "high"), sizes=(2,)),
        "mask:left,levels=[1, 2]": Mask(direction="left", levels=(1, 2)),
        "dates:[month, '5 years'],format='%d/%m/%y'": Dates(
            levels=("month", "5 years"), format="%d/%m/%y"
        ),
        'tree:{ "a b" = ["x", "y"] },root=any': Tree({"a b": ["x", "y"]}, root="any"),
    }.items(),
)
def test_a_rule_is_read_from_its_notation_and_written_back(text: str, builder: Builder) -> None:
    assert builder_from_text(text) == builder
    assert builder_from_text(notation(builder)) == builder


@pytest.mark.parametrize("name", BUILDERS)
def test_every_rule_says_what_it_is(name: str) -> None:
    assert say(f"methods.{name}.title")
    assert say(f"methods.{name}.summary").endswith(".")
    for each in parameters(BUILDERS[name]):
        assert help_of(name, each.name), each.name


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({}, "CEL-H060"),
        ({"file": "a.csv", "method": "mask"}, "CEL-H060"),
        ("mask", "CEL-H060"),
        (None, "CEL-H060"),
        ({"kind": "mask"}, "CEL-H060"),
        ({"method": "masks"}, "CEL-I061"),
        ({"method": 3}, "CEL-I061"),
        ({"method": ["mask"]}, "CEL-I061"),
        ({"method": "mask", "widths": [1]}, "CEL-I062"),
        ({"method": "automatic", "levels": [1]}, "CEL-I062"),
        ({"file": "a.csv", "levels": [1]}, "CEL-H062"),
        ({"file": 3}, "CEL-H060"),
        ({"file": ""}, "CEL-H060"),
        ({"file": "a.csv", "encoding": 8}, "CEL-H060"),
        ({"file": "absent.csv"}, "CEL-H011"),
        ({"method": "tree"}, "CEL-I063"),
        ({"method": "intervals"}, "CEL-H022"),
    ],
)
def test_a_table_that_says_nothing_sensible_is_refused(table: Any, code: str) -> None:
    assert refusal(table).code == code


def test_misspelt_words_are_answered_with_the_nearest_and_the_whole_list() -> None:
    name = refusal({"method": "interval"})
    assert "did you mean 'intervals'" in name.what
    assert "automatic, classification, coordinates, dates, intervals, mask" in name.fix
    key = refusal({"method": "intervals", "width": [5]})
    assert "'width' (did you mean 'widths'?)" in key.what
    assert "open_below" in key.fix


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.dates()
    | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
KEYS = {
    "intervals": (
        "widths",
        "start",
        "bounds",
        "open_below",
        "open_above",
        "domain",
        "style",
    ),
    "ordered": ("order", "sizes"),
    "mask": ("direction", "character", "levels"),
    "dates": ("levels", "format", "century"),
    "tree": ("tree", "root"),
}


@given(data=st.data(), kind=st.sampled_from(sorted(KEYS)))
@settings(max_examples=200)
def test_junk_under_a_key_is_a_builder_or_an_input_error_never_another(
    data: st.DataObject, kind: str
) -> None:
    table = {"kind": kind} | data.draw(st.dictionaries(st.sampled_from(KEYS[kind]), junk))
    try:
        builder = from_table(table, folder=HERE)
    except InputError:
        return
    assert not isinstance(builder, Hierarchy)
    assert from_table(builder.as_dict(), folder=HERE) == builder
