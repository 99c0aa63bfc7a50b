"""Tables and wishes that once broke a promise, a figure or the program."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from celosia import frames
from celosia.core.errors import InputError, PrivacyError
from celosia.tables import (
    AlphaK,
    AverageRisk,
    Column,
    DistinctDiversity,
    EntropyDiversity,
    Hierarchy,
    KAnonymity,
    KMap,
    Model,
    RecursiveDiversity,
    Role,
    Schema,
    TableRelease,
    check,
    publish,
)
from celosia.tables.coded_table import code_column
from celosia.tables.metrics import Loss
from celosia.tables.recoding import Lattice, anytime_search

NAN = float("nan")


def quietly(*arguments: Any, **choices: Any) -> TableRelease:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return publish(*arguments, **choices)


@pytest.mark.parametrize("ordered", [False, True])
def test_a_nan_among_sensitive_values_is_judged_in_its_own_class(ordered: bool) -> None:
    table = pl.DataFrame({"q": ["a", "a", "b", "b", "b"], "s": [1.0, 1.0, 2.0, 3.0, NAN]})
    schema = Schema.of(quasi_identifiers=["q"], sensitive=["s"])
    found = check(table.sort("s") if ordered else table, schema, DistinctDiversity(2))
    assert not found.holds


def test_a_nan_of_a_sorted_column_keeps_its_label() -> None:
    levels = Hierarchy.from_paths([("NaN", "lo", "*"), ("1", "lo", "*"), ("3", "hi", "*")])
    table = pl.DataFrame({"q": [1.0, 1.0, 3.0, 3.0, NAN, NAN], "s": list("abcdef")}).sort("q")
    schema = Schema.of(quasi_identifiers={"q": levels}, sensitive=["s"])
    released = quietly(table, schema, KAnonymity(2), suppression=0, keep_order=True).data["q"]
    assert released.is_nan().to_list() == [False] * 4 + [True] * 2


def starred(**choices: Any) -> TableRelease:
    table = pl.DataFrame({"a": [*"xyzw", *[None] * 4], "s": ["p", "q", "r", "t", *["hiv"] * 4]})
    levels = Hierarchy.from_paths([(value, "*") for value in "xyzw"])
    columns = (
        Column("a", Role.QUASI_IDENTIFIER, missing="suppress", hierarchy=levels),
        Column("s", Role.SENSITIVE),
    )
    return quietly(table, Schema(columns), **choices)


def test_suppressed_records_that_show_what_a_class_shows_are_judged_with_it() -> None:
    with pytest.raises(PrivacyError) as refused:
        starred(models=AlphaK(0.4, 2), suppression=0.5)
    assert refused.value.code == "CEL-P005"
    assert starred(models=AlphaK(0.4, 2), suppression=0.5, drop_suppressed=True).risk.records == 4


def test_suppressed_records_that_show_what_a_class_shows_are_counted_in_it() -> None:
    release = starred(models=KAnonymity(2), suppression=0.5)
    assert release.solution.class_sizes == {8: 1}
    assert (release.risk.records, release.risk.suppressed) == (8, 0)
    assert release.solution.suppressed == 4


@pytest.mark.parametrize("name", ["*", "^a", "a$", "c0", "hidden", "new c0", "len"])
def test_a_column_may_have_any_name(name: str) -> None:
    table = pl.DataFrame({name: ["x", "x", "y", "y"], "other": [1, None, 3, 4]})
    schema = Schema.of(quasi_identifiers=[name], sensitive=["other"])
    release = quietly(table, schema, KAnonymity(2), keep_order=True)
    assert release.data.columns == [name, "other"]
    assert release.data[name].to_list() == ["x", "x", "y", "y"]


@pytest.mark.parametrize("name", ["^a$", "^.*$"])
def test_a_name_that_stands_for_other_columns_is_refused(name: str, tmp_path: Path) -> None:
    table = pl.DataFrame({name: ["x", "x"], "a": ["secret", "secret"]})
    with pytest.raises(InputError) as refused:
        publish(table, Schema.of(quasi_identifiers=[name], identifiers=["a"]), KAnonymity(2))
    assert refused.value.code == "CEL-F028"
    (tmp_path / "t.csv").write_text(f"{name},a\nx,secret\n")
    with pytest.raises(InputError, match="pattern"):
        frames.read(tmp_path / "t.csv")


@pytest.mark.parametrize("cells", [[NAN, None, 1.0, 2.0], ["", None, "a", "b"]])
def test_two_kinds_of_nothing_are_not_two_values(cells: list[Any]) -> None:
    table = pl.DataFrame({"q": ["a"] * 4, "s": cells})
    schema = Schema.of(quasi_identifiers=["q"], sensitive=["s"])
    with pytest.raises(InputError) as refused:
        publish(table, schema, DistinctDiversity(2))
    assert refused.value.code == "CEL-T014"


@pytest.mark.parametrize(
    "model",
    [
        lambda: KAnonymity(10**400),
        lambda: KMap(10**11, 0.1),
        lambda: KMap(10**7, 0.1),
        lambda: EntropyDiversity(1e300),
        lambda: EntropyDiversity(10**400),
        lambda: RecursiveDiversity(2, 10**26),
        lambda: RecursiveDiversity(1e-320, 2),
        lambda: AlphaK(0.5, 10**20),
        lambda: AlphaK(1e-320, 2),
        lambda: AverageRisk(1e-320),
        lambda: Loss(weights={"a": 10**400}),
        lambda: Loss(weights=3),  # type: ignore[arg-type]
    ],
)
def test_numbers_beyond_all_measure_are_refused(model: Any) -> None:
    with pytest.raises(InputError):
        model()


@pytest.mark.parametrize(
    ("schema", "models"),
    [(5, KAnonymity(2)), (Schema.of(quasi_identifiers=["q"]), 5)],
)
def test_a_check_of_the_wrong_things_is_refused(schema: Any, models: Any) -> None:
    with pytest.raises(InputError):
        check(pl.DataFrame({"q": ["a", "a"]}), schema, models)


def test_the_account_of_a_descent_adds_up() -> None:
    table = pl.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    columns = [code_column(table[name], Column(name, Role.QUASI_IDENTIFIER)) for name in "ab"]
    lattice = Lattice(columns)
    models: list[Model] = [KAnonymity(2)]
    account = anytime_search(lattice, models, suppression=0.4).certificate
    assert account.evaluated <= account.nodes == lattice.nodes
    assert account.evaluated + account.closed_by_bound + account.still_open == account.nodes
