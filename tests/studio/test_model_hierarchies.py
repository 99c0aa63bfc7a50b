"""Hierarchies edited by hand: whatever is done, the result is a hierarchy of the same values."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.studio.publish import grid as grids
from celosia.studio.publish import rules
from celosia.studio.publish.form import DATA, ColumnForm
from celosia.studio.publish.grid import Grid, as_rule
from celosia.studio.publish.hierarchies import (
    Values,
    build,
    imported,
    preview,
    values_of,
)
from celosia.studio.publish.hierarchy_tasks import QUESTIONS, ask
from celosia.studio.publish.readers import ask_column
from celosia.studio.publish.repair import repair
from celosia.studio.worker import JobProgress
from celosia.tables.hierarchies import Hierarchy, from_table, write_hierarchy

CITIES = ("Madrid", "Lima", "Quito", "Talca", "Leeds", "York")


def values(tmp_path: Path, cells: list[Any]) -> Values:
    pl.DataFrame({"x": [1] * len(cells), "*": cells}).write_parquet(tmp_path / "v.parquet")
    return values_of(tmp_path / "v.parquet", 1)


def column(rule: dict[str, Any] | None, **more: Any) -> ColumnForm:
    return ColumnForm(name="*", kind="text", role="quasi-identifier", hierarchy=rule, **more)


def built(grid: Grid) -> Hierarchy:
    """The hierarchy that the rule of a grid gives, as the schema builds it."""
    rule = from_table(as_rule(grid), folder=Path())
    assert not isinstance(rule, Hierarchy)
    return rule.build(pl.Series(["unused"]))


def test_groups_are_made_named_joined_and_taken_apart() -> None:
    grid = grids.put(Grid.of(CITIES), 0, {"Lima", "Quito", "Talca"}, "America")
    grid = grids.put(grid, 0, {"Leeds", "York"}, "England")
    grid = grids.put(grid, 1, {"England", "Madrid"}, "Europe")
    assert as_rule(grid)["tree"] == {
        "Europe": {"Madrid": ["Madrid"], "England": ["Leeds", "York"]},
        "America": {"America": ["Lima", "Quito", "Talca"]},
    }
    renamed = grids.rename(grid, 1, "England", "Yorkshire")
    assert built(renamed).label("York", level=1) == "Yorkshire"
    joined = grids.rename(grid, 1, "England", "America")
    assert built(joined).label("York", level=2) == "America"
    apart = grids.dissolve(grid, 1, "America")
    assert [built(apart).label(city, level=1) for city in ("Lima", "Quito")] == ["Lima", "Quito"]
    assert built(grids.remove_level(grid, 1)).label("Leeds", level=1) == "Europe"
    assert built(grids.add_level(grid, 2)).levels == built(grid).levels + 1
    assert grids.counts(grid, 2, {"Lima": 3, "Leeds": 2}) == {"Europe": 2, "America": 3}


@pytest.mark.parametrize("label", ["", "  ", "*", "x" * 201])
def test_a_label_that_tells_nothing_is_refused(label: str) -> None:
    with pytest.raises(InputError) as caught:
        grids.put(Grid.of(CITIES), 0, {"Lima"}, label)
    assert caught.value.code == "CEL-W053"


def test_values_are_not_renamed_and_nothing_is_not_put_anywhere() -> None:
    grid = Grid.of(CITIES)
    with pytest.raises(InputError) as caught:
        grids.rename(grid, 0, "Lima", "Callao")
    assert caught.value.code == "CEL-W055"
    with pytest.raises(InputError) as caught:
        grids.dissolve(grid, 0, "Lima")
    assert caught.value.code == "CEL-W055"
    with pytest.raises(InputError) as caught:
        grids.put(grid, 0, {"Paris"}, "France")
    assert caught.value.code == "CEL-W054"
    with pytest.raises(InputError) as caught:
        grids.remove_level(grid, 0)
    assert caught.value.code == "CEL-W054"


@given(st.data())
def test_after_any_edits_it_is_a_hierarchy_of_the_same_values(data: st.DataObject) -> None:
    grid = Grid.of(CITIES)
    names = st.sampled_from(("A", "B", "C", "Lima", "York"))
    for _step in range(data.draw(st.integers(0, 6))):
        act = data.draw(st.sampled_from(("put", "rename", "dissolve", "add", "remove")))
        level = data.draw(st.integers(0, grid.top))
        label = data.draw(st.sampled_from(grid.labels(level)))
        if act == "put":
            some = data.draw(st.sets(st.sampled_from(grid.labels(level)), min_size=1))
            grid = grids.put(grid, level, some, data.draw(names))
        elif act == "add" and grid.top < 5:
            grid = grids.add_level(grid, level)
        elif act == "rename" and level:
            grid = grids.rename(grid, level, label, data.draw(names))
        elif act == "dissolve" and level:
            grid = grids.dissolve(grid, level, label)
        elif act == "remove" and level:
            grid = grids.remove_level(grid, level)
    hierarchy = built(grid)
    assert sorted(hierarchy.leaves) == sorted(CITIES)
    again = Grid.from_hierarchy(hierarchy)
    assert sorted(zip(*again.levels, strict=True)) == sorted(zip(*grid.levels, strict=True))


def test_a_preview_counts_the_records_of_each_label(tmp_path: Path) -> None:
    ages = [17, 23, 23, 29, 38, 61, None]
    rule = {"method": "intervals", "widths": [10, 20]}
    found = preview(column(rule), values(tmp_path, ages))
    decades = Counter(age // 10 for age in ages if age is not None)
    level = found.levels[1]
    assert (level.labels, level.fewest, level.most) == (
        len(decades),
        min(decades.values()),
        max(decades.values()),
    )
    assert found.levels[-1].most == 6
    assert level.examples[0] == "20-29"
    assert found.paths[0] == ("17", "10-19", "0-19", "*")
    assert (found.uncovered_values, found.error) == (0, None)


REPAIRS: tuple[tuple[str, dict[str, Any], list[Any]], ...] = (
    ("tree", {"method": "tree", "tree": {"North": ["Leeds", "York"]}}, list(CITIES)),
    ("plain", {"method": "tree", "tree": ["Leeds"]}, list(CITIES)),
    (
        "order",
        {"method": "ordered", "order": ["low", "high"], "sizes": [2]},
        ["low", "mid", "high"],
    ),
    ("start", {"method": "intervals", "widths": [10], "start": 20}, [5, 25, 61]),
    ("bounds", {"method": "intervals", "bounds": [[20, 30, 60]]}, [5, 25, 60]),
    ("above", {"method": "intervals", "bounds": [[20, 30, 60]]}, [25, 61]),
    ("domain", {"method": "intervals", "widths": [10], "domain": [0, 50]}, [5, 25, 61]),
    ("closed", {"method": "intervals", "bounds": [[0, 50]], "domain": [0, 49]}, [5, 25, 61]),
    ("words", {"method": "intervals", "widths": [10]}, ["5", "25", "old"]),
    ("dates", {"method": "dates"}, ["2020-01-01", "soon"]),
    ("broken", {"method": "intervals"}, [1, 2, 3]),
)


@pytest.mark.parametrize(("name", "rule", "cells"), REPAIRS, ids=[each[0] for each in REPAIRS])
def test_one_click_gives_every_value_a_place(
    tmp_path: Path, name: str, rule: dict[str, Any], cells: list[Any]
) -> None:
    found = values(tmp_path, cells)
    before = preview(column(rule), found)
    assert before.error is not None or before.uncovered_values
    mended = repair(column(rule), found, other="Other")
    after = preview(column(mended), found)
    assert (after.error, after.uncovered_values) == (None, 0)
    if name not in ("words", "dates", "broken"):
        assert mended["method"] == rule["method"]
    build(column(mended), found)


def test_values_without_a_place_are_listed_most_frequent_first(tmp_path: Path) -> None:
    cells = ["Leeds", "Paris", "Paris", "Rome"]
    found = preview(column({"method": "tree", "tree": ["Leeds"]}), values(tmp_path, cells))
    assert found.uncovered == (("Paris", 2), ("Rome", 1))
    assert (found.uncovered_values, found.uncovered_rows) == (2, 3)
    numbers = preview(
        column({"method": "intervals", "widths": [10], "domain": [0, 50]}),
        values(tmp_path, [5, 60, 60, 70]),
    )
    assert numbers.uncovered == (("60", 2), ("70", 1))
    assert numbers.as_dict()["error"]["code"] == "CEL-H024"


def test_fields_make_rules_that_the_library_reads() -> None:
    made = [
        rules.intervals_rule({"by": "bounds", "bounds": "20 30 60\n20 60", "open_above": True}),
        rules.intervals_rule({"widths": "0.5; 1", "start": 0.5, "style": "bracket"}),
        rules.mask_rule({"direction": "left", "character": "#", "levels": ""}),
        rules.dates_rule({"levels": ["year"], "format": " ", "century": None}),
        rules.ordered_rule({"sizes": "", "order": ""}),
    ]
    assert [from_table(rule, folder=Path()).as_dict() for rule in made] == [  # type: ignore[union-attr]
        {"method": "intervals", "bounds": [[20, 30, 60], [20, 60]], "open_above": True},
        {"method": "intervals", "widths": [0.5, 1], "start": 0.5, "style": "bracket"},
        {"method": "mask", "direction": "left", "character": "#"},
        {"method": "dates", "levels": ["year"]},
        {"method": "ordered"},
    ]
    for text in ("5, ten", "1e999", "nan", "1_000"):
        with pytest.raises(InputError):
            rules.numbers_in(text)


@pytest.mark.parametrize("kind", ["automatic", "intervals", "mask", "dates", "ordered", "tree"])
def test_every_kind_has_a_rule_to_begin_with(tmp_path: Path, kind: str) -> None:
    found = values(tmp_path, list(CITIES))
    rule = rules.starting_rule(kind, column({"method": "ordered", "sizes": [2]}), found)
    from_table(rule, folder=Path())
    if kind == "tree":
        assert "Leeds - Lima" in rule["tree"]


def test_a_job_answers_as_a_thread_does(tmp_path: Path) -> None:
    found = values(tmp_path, [17, 23, 90])
    (tmp_path / "v.parquet").rename(tmp_path / DATA)
    chosen = column({"method": "intervals", "widths": [10]})
    questions: dict[str, dict[str, Any]] = {
        "preview": {},
        "repair": {"other": "Other"},
        "start": {"method": "mask"},
        "labels": {},
    }
    assert questions.keys() == QUESTIONS.keys()
    for what, how in questions.items():
        by_job = ask_column(
            JobProgress(lambda text: None),
            folder=str(tmp_path),
            column=chosen,
            place=1,
            what=what,
            how=how,
        )
        assert pickle.loads(pickle.dumps(by_job)) == ask(what, chosen, found, **how)
    assert ask("labels", chosen, found).splitlines()[0] == b"17;10-19;*"


def test_long_trees_are_not_edited_by_hand(tmp_path: Path) -> None:
    found = values(tmp_path, [f"v{place}" for place in range(401)])
    with pytest.raises(InputError) as caught:
        rules.starting_rule("tree", column({"method": "ordered"}), found)
    assert caught.value.code == "CEL-W056"


def test_hierarchies_are_brought_as_csv_and_as_toml(tmp_path: Path) -> None:
    grid = grids.put(Grid.of(CITIES), 0, {"Lima", "Quito"}, '<b>"A";</b>')
    csv = write_hierarchy(built(grid), tmp_path / "h.csv")
    assert imported(csv, "city") == (as_rule(grid), None)
    csv.write_text("Lima;*\nQuito;*\nLima;*\n")
    assert imported(csv, "city").note == "row 3 repeats an earlier row and was left out."
    toml = tmp_path / "h.toml"
    toml.write_text('[columns.city]\nrole = "x"\nhierarchy = { method = "mask" }\n')
    assert imported(toml, "city").rule == {"method": "mask"}
    toml.write_text('method = "mask"\nlevels = [2]\n')
    assert imported(toml, "city").rule == {"method": "mask", "levels": [2]}


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("h.toml", 'file = "/etc/passwd"\n', "CEL-W056"),
        ("h.toml", '[columns.city.hierarchy]\nfile = "/etc/passwd"\n', "CEL-W052"),
        ("h.toml", "kind = [", "CEL-W056"),
        ("h.toml", 'columns = "city"\n', "CEL-W056"),
        ("h.toml", 'method = "magic"\n', "CEL-I061"),
        ("h.csv", "a;b;*\na;c;*\n", "CEL-H003"),
        ("h.csv", "", "CEL-H001"),
    ],
)
def test_what_is_no_hierarchy_is_refused_without_a_path(
    tmp_path: Path, name: str, text: str, code: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        imported(tmp_path / name, "city")
    assert caught.value.code == code
    assert str(tmp_path) not in f"{caught.value} {caught.value.details}"
