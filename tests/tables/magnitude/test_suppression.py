"""Cell suppression: the rules by hand, the choice of cells by brute force, the audit by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.effort import some

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import help_of, parameters
from celosia.tables.magnitude import (
    RULES,
    Dominance,
    MagnitudeTable,
    MinimumFrequency,
    PPercent,
    PriorPosterior,
    ProtectedTable,
    Rule,
    audit,
    feasible,
    magnitude_table,
    protect,
)
from celosia.tables.magnitude.attack import in_cube


def firms(seed: int, rows: int = 60, sizes: tuple[int, ...] = (3, 3)) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    columns = {f"d{axis}": draw.integers(0, size, rows) for axis, size in enumerate(sizes)}
    return pl.DataFrame(columns | {"sales": np.rint(draw.lognormal(3, 1.2, rows)) + 1})


def table_of(cells: dict[tuple[str, ...], list[float]]) -> MagnitudeTable:
    """A table from the contributions of each inner cell."""
    width = len(next(iter(cells)))
    rows = [(*cell, amount) for cell, amounts in cells.items() for amount in amounts]
    schema = {f"d{axis}": pl.String for axis in range(width)} | {"sales": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return magnitude_table(frame, by=[f"d{axis}" for axis in range(width)], value="sales")


def test_sums_numbers_and_largest_contributions_agree_with_polars() -> None:
    frame = firms(1, 500, (3, 4, 2))
    table = magnitude_table(frame, by=["d0", "d1", "d2"], value="sales")
    assert table.shape == (4, 5, 3)
    for cell in table.cells():
        chosen = frame
        for name, label in zip(table.by, table.label(cell), strict=True):
            if label != "Total":
                chosen = chosen.filter(pl.col(name) == int(label))
        amounts = chosen["sales"].sort(descending=True).to_list()
        assert table.values[cell] == pytest.approx(sum(amounts))
        assert table.counts[cell] == len(amounts)
        assert table.largest[cell].tolist() == [*amounts, 0, 0, 0][:3]


def test_records_of_a_unit_are_one_contribution_in_each_cell() -> None:
    frame = pl.DataFrame(
        {"r": ["n", "n", "n", "s"], "firm": ["a", "a", "b", "a"], "sales": [1, 2, 4, 8]}
    )
    table = magnitude_table(frame, by=["r"], value="sales", unit="firm")
    assert table.counts.tolist() == [2, 1, 2]
    assert table.largest[:, 0].tolist() == [4, 8, 11]
    assert table.values.tolist() == [7, 8, 15]


CELL = [100.0, 50.0, 5.0, 4.0]


@pytest.mark.parametrize(
    ("rule", "unsafe", "protection"),
    [
        # By hand on a cell of 159: the rest beside the two largest is 9.
        (PPercent(10), True, 1.0),
        (PPercent(9), False, 0.0),
        (PriorPosterior(10, 100), True, 1.0),
        (PriorPosterior(10, 50), True, 11.0),
        (Dominance(2, 90), True, 150 / 0.9 - 159),
        (Dominance(2, 95), False, 0.0),
        (Dominance(1, 60), True, 100 / 0.6 - 159),
        (MinimumFrequency(5), True, 15.9),
        (MinimumFrequency(4), False, 0.0),
    ],
    ids=str,
)
def test_each_rule_judges_a_cell_as_by_hand(rule: Rule, unsafe: bool, protection: float) -> None:
    table = table_of({("x",): CELL, ("y",): [10.0] * 40})
    assert bool(rule.unsafe(table)[0]) is unsafe
    assert rule.protection(table)[0] == pytest.approx(protection)


@pytest.mark.parametrize("rule", [PPercent(1), Dominance(1, 99), MinimumFrequency(2)], ids=str)
def test_a_single_contributor_is_unsafe_by_every_rule_and_nobody_at_all_is_safe(rule: Rule) -> None:
    table = table_of({("x", "a"): [5.0], ("y", "a"): [5.0] * 9, ("y", "b"): [5.0] * 9})
    assert rule.unsafe(table).tolist()[0] == [True, False, True]  # the row of x has one as well


def withstand(table: MagnitudeTable, rules: list[Rule], hidden: NDArray[np.bool_]) -> bool:
    """Whether a choice of cells is enough, by the audit alone."""
    unsafe = np.any([rule.unsafe(table) for rule in rules], axis=0)
    protection = np.max([rule.protection(table) for rule in rules], axis=0)
    made = ProtectedTable(
        table=table,
        rules=tuple(rules),
        unsafe=unsafe,
        hidden=hidden | unsafe,
        protection=protection,
        cost="cells",
        proved_minimal=False,
    )
    return all(each.holds for each in audit(made))


@pytest.mark.parametrize("seed", some(range(5), 2))
def test_no_smaller_choice_of_cells_withstands_the_audit(seed: int) -> None:
    table = magnitude_table(firms(seed, 24, (3, 2)), by=["d0", "d1"], value="sales")
    rules: list[Rule] = [PPercent(15), MinimumFrequency(3)]
    found = protect(table, rules, cost="contributors")
    assert found.proved_minimal
    free = [tuple(c) for c in np.argwhere((table.counts > 0) & ~found.unsafe).tolist()]
    spent = table.counts[found.hidden & ~found.unsafe].sum()
    for number in range(len(free)):
        for chosen in combinations(free, number):
            if sum(int(table.counts[cell]) for cell in chosen) >= spent:
                continue
            hidden = np.zeros(table.shape, dtype=np.bool_)
            for cell in chosen:
                hidden[cell] = True
            assert not withstand(table, rules, hidden)
    assert withstand(table, rules, found.hidden)


@settings(max_examples=5, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    sizes=st.sampled_from([(4,), (3, 4), (2, 2, 2), (2, 3, 2)]),
    rows=st.integers(15, 50),
)
def test_every_protected_table_passes_its_audit(
    seed: int, sizes: tuple[int, ...], rows: int
) -> None:
    frame = firms(seed, rows, sizes)
    by = [f"d{axis}" for axis in range(len(sizes))]
    table = magnitude_table(frame, by=by, value="sales")
    found = protect(table, [PPercent(10)])
    assert (found.hidden >= found.unsafe).all()
    assert not found.hidden[table.counts == 0].any()
    for each in audit(found):
        assert each.holds
        assert each.low <= each.value + 1e-6 * each.value
        assert each.high >= each.value - 1e-6 * each.value
    shown = found.frame()
    assert shown["sales"].is_null().to_list() == found.hidden.reshape(-1).tolist()


def test_the_interval_of_a_cell_is_that_of_all_whole_tables_that_fit() -> None:
    # Rows 3 and 5, columns 4 and 4, all inner cells of a 2 x 2 table suppressed: x in 0 .. 3.
    published = np.array([[np.nan, np.nan, 3.0], [np.nan, np.nan, 5.0], [4.0, 4.0, 8.0]])
    found = feasible(published)
    whole = [x for x in range(9) if 3 - x >= 0 and 4 - x >= 0 and 5 - (4 - x) >= 0]
    assert (found[0, 0].low, found[0, 0].high) == pytest.approx((min(whole), max(whole)))
    assert (found[1, 1].low, found[1, 1].high) == pytest.approx((1, 4))


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), sizes=st.sampled_from([(4,), (3, 4), (2, 3, 2)]))
def test_a_cube_is_never_found_where_the_linear_program_says_no(
    seed: int, sizes: tuple[int, ...]
) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(1, 9, sizes).astype(np.float64)
    for axis in range(len(sizes)):
        values = np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)
    hidden = draw.random(values.shape) < 0.6
    hidden[(0,) * values.ndim] = True
    cell = tuple(draw.choice(np.argwhere(hidden)).tolist())
    interval = feasible(np.where(hidden, np.nan, values), only=[cell])[cell]
    for needed in (1.0, 3.0, 6.0):
        look = partial(in_cube, cell, needed=needed, hidden=hidden, values=values)
        assert not look(upwards=True) or interval.high >= values[cell] + needed - 1e-6
        assert not look(upwards=False) or interval.low <= values[cell] - needed + 1e-6


def test_a_cell_that_is_suppressed_alone_is_computed_exactly() -> None:
    published = np.array([[1.0, np.nan, 1e9 + 1], [2.0, 3.0, 5.0], [3.0, 1e9 + 3, 1e9 + 6]])
    alone = feasible(published)[0, 1]
    assert (alone.low, alone.high) == pytest.approx((1e9, 1e9))


def test_without_a_total_there_is_no_upper_end() -> None:
    found = feasible(np.array([np.nan, 2.0, np.nan]))
    assert found[0,].low == 0
    assert found[0,].high == np.inf
    assert found[2,].low == 2


def test_the_audit_finds_a_table_with_too_few_cells_suppressed() -> None:
    table = magnitude_table(firms(3), by=["d0", "d1"], value="sales")
    rules: list[Rule] = [Dominance(1, 30)]
    found = protect(table, rules)
    assert (found.hidden & ~found.unsafe).any()
    assert not withstand(table, rules, found.unsafe)


def test_two_single_contributors_in_a_line_cannot_tell_each_other_apart() -> None:
    # To an outsider the two unsafe cells protect each other; each of them knows one of them.
    table = table_of({("a",): [50.0], ("b",): [50.0], ("c",): [5.0] * 9, ("d",): [4.0] * 9})
    found = protect(table, [PPercent(10)])
    assert found.hidden.tolist() == [True, True, False, True, False]
    hidden = np.array([True, True, False, False, False])
    outsider = feasible(np.where(hidden, np.nan, table.values))
    assert (outsider[0,].low, outsider[0,].high) == pytest.approx((0, 100))
    assert not withstand(table, [PPercent(10)], hidden)


def test_a_firm_that_is_alone_in_two_cells_knows_both() -> None:
    # a and b belong to one firm: hiding them with c would tell it c exactly.
    frame = pl.DataFrame(
        {
            "region": ["a", "b", "c", *"d" * 9, *"e" * 9],
            "firm": ["one", "one", "two", *(f"f{number}" for number in range(18))],
            "sales": [50.0, 50.0, 50.0, *[5.0] * 9, *[4.0] * 9],
        }
    )
    table = magnitude_table(frame, by=["region"], value="sales", unit="firm")
    assert table.sole[0] == table.sole[1] != table.sole[2]
    assert not withstand(table, [PPercent(10)], np.zeros(6, dtype=np.bool_))
    found = protect(table, [PPercent(10)])
    assert found.hidden.tolist() == [True, True, True, False, True, False]


def test_the_published_frame_does_not_say_which_cells_were_unsafe() -> None:
    table = magnitude_table(firms(3), by=["d0", "d1"], value="sales")
    found = protect(table, [Dominance(1, 30)])
    shown, officer = found.frame(), found.frame(for_officer=True)
    assert shown.columns == ["d0", "d1", "sales", "status"]
    assert set(shown["status"]) == {"published", "suppressed"}
    assert set(officer["status"]) == {"published", "primary", "secondary"}
    assert officer["published"].null_count() == shown["sales"].null_count() > 0
    facts = found.as_dict()
    assert facts["primary"] + facts["secondary"] == shown["sales"].null_count()
    assert "suppressed" in str(found)


def test_dimensions_may_have_any_name() -> None:
    frame = pl.DataFrame({"*x": ["n", "s", "s"], "status": ["x", "x", "y"], "*": [9, 5, 7]})
    table = magnitude_table(frame, by=["*x", "status"], value="*")
    assert table.values.tolist() == [[9, 0, 9], [5, 7, 12], [14, 7, 21]]
    shown = protect(table, [MinimumFrequency(2)]).frame()
    assert shown.columns == ["*x", "status", "*", "status_"]


def test_a_larger_table_is_protected_cell_by_cell() -> None:
    table = magnitude_table(firms(8, 400, (7, 8)), by=["d0", "d1"], value="sales")
    found = protect(table, [PPercent(25)])
    assert all(each.holds for each in audit(found))
    assert found.unsafe.sum() > 3
    assert found.hidden.sum() <= 5 * found.unsafe.sum()


def test_a_table_that_is_safe_is_published_as_it_is() -> None:
    table = table_of({("a",): [1.0] * 50, ("b",): [1.0] * 50})
    found = protect(table, [PPercent(10), Dominance(2, 80), MinimumFrequency(3)])
    assert not found.hidden.any()
    assert found.proved_minimal
    assert audit(found) == ()


def test_a_table_of_one_firm_cannot_be_protected_except_by_hiding_it_all() -> None:
    found = protect(table_of({("a",): [7.0]}), [PPercent(10)])
    assert found.hidden.all()


def test_an_interval_is_told_as_plain_values() -> None:
    (one, *_) = audit(protect(table_of({("a",): [7.0]}), [PPercent(10)]))
    values = one.as_dict()
    assert values["high"] is None
    assert values["cell"] == ["a"]
    assert values["required_high"] == pytest.approx(7.7)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("CEL-V310", {"by": []}),
        ("CEL-V310", {"by": ["d0", "d0"]}),
        ("CEL-V310", {"by": ["d0", "d1", "x", "y"]}),
        ("CEL-V317", {"by": ["d7"]}),
        ("CEL-V317", {"unit": "nobody"}),
        ("CEL-V311", {"value": "name"}),
        ("CEL-V312", {"by": ["holes"]}),
        ("CEL-V312", {"value": "gaps"}),
        ("CEL-V313", {"value": "loss"}),
        ("CEL-V314", {"total": "0"}),
        ("CEL-V318", {"value": "endless"}),
        ("CEL-V319", {"largest": 1}),
    ],
)
def test_bad_tables_are_refused_without_a_cell_in_the_message(
    code: str, changes: dict[str, Any]
) -> None:
    frame = firms(1, 5).with_columns(
        pl.Series("name", ["planted-7391"] * 5),
        pl.Series("holes", ["planted-7391", None, "a", "b", "c"]),
        pl.Series("gaps", [1.0, None, 2.0, 3.0, float("nan")]),
        pl.Series("loss", [1.0, -7391.0, 2.0, 3.0, 4.0]),
        pl.Series("endless", [1.0, float("inf"), 2.0, 3.0, 4.0]),
    )
    with pytest.raises(InputError) as caught:
        magnitude_table(frame, **({"by": ["d0"], "value": "sales"} | changes))
    assert caught.value.code == code
    assert "7391" not in str(caught.value)


def test_an_empty_or_huge_table_is_refused() -> None:
    with pytest.raises(InputError) as empty:
        magnitude_table(firms(1).head(0), by=["d0"], value="sales")
    assert empty.value.code == "CEL-V316"
    wide = pl.DataFrame({"a": range(500), "b": range(500), "sales": range(500)})
    with pytest.raises(InputError) as huge:
        magnitude_table(wide, by=["a", "b"], value="sales")
    assert huge.value.code == "CEL-V315"


@pytest.mark.parametrize(
    "make",
    [
        lambda: PPercent(0),
        lambda: PPercent(float("nan")),
        lambda: Dominance(0, 80),
        lambda: Dominance(1, 101),
        lambda: MinimumFrequency(1),
        lambda: MinimumFrequency(3, margin=0),
    ],
)
def test_bad_rules_are_refused(make: Any) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == "CEL-I060"


def test_prior_knowledge_that_is_too_much_is_refused() -> None:
    with pytest.raises(InputError, match="p must be below q") as caught:
        PriorPosterior(50, 10)
    assert caught.value.code == "CEL-V320"


@pytest.mark.parametrize("name", RULES)
def test_every_rule_says_what_it_is(name: str) -> None:
    assert say(f"methods.{name}.title")
    assert say(f"methods.{name}.summary").endswith(".")
    for each in parameters(RULES[name]):
        assert help_of(name, each.name), each.name


def test_rules_and_table_must_fit() -> None:
    table = table_of({("a",): [1.0] * 9})
    for code, rules, cost in (
        ("CEL-V321", [], "cells"),
        ("CEL-V322", [Dominance(4, 80)], "cells"),
        ("CEL-V323", [PPercent(10)], "celsl"),
    ):
        with pytest.raises(InputError) as caught:
            protect(table, rules, cost=cost)  # type: ignore[arg-type]
        assert caught.value.code == code


def test_a_single_contributor_far_away_cannot_compute_a_cell() -> None:
    # Suppressing a rectangle would do against outsiders and neighbours. Who is alone in one corner
    # computes the two beside it from their totals, and from these the opposite corner.
    cells: dict[tuple[str, ...], list[float]] = {
        (row, column): [20.0, 21.0, 22.0] for row in "abc" for column in "xyz"
    }
    table = table_of(cells | {("a", "x"): [30.0], ("b", "y"): [31.0]})
    protected = protect(table, [MinimumFrequency(2, margin=50)])
    assert int(protected.unsafe.sum()) == 2
    assert protected.insiders == "all"
    for cell, other in (((0, 0), (1, 1)), ((1, 1), (0, 0))):
        known: dict[tuple[int, ...], float] = {other: float(table.values[other])}
        seen = feasible(protected.published(), known=known, only=[cell])[cell]
        value = float(table.values[cell])
        assert seen.low <= value / 2 + 1e-6
        assert seen.high >= value * 1.5 - 1e-6


def test_the_audit_finds_a_far_insider_where_only_a_rectangle_is_suppressed() -> None:
    cells: dict[tuple[str, ...], list[float]] = {
        (row, column): [20.0, 21.0, 22.0] for row in "abc" for column in "xyz"
    }
    table = table_of(cells | {("a", "x"): [30.0], ("b", "y"): [31.0]})
    protected = protect(table, [MinimumFrequency(2, margin=50)])
    hidden = np.zeros(table.shape, dtype=bool)
    hidden[:2, :2] = True
    weak = replace(protected, hidden=hidden)
    assert [each.holds for each in audit(weak) if each.status == "primary"] == [False, False]


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6))
def test_no_single_contributor_anywhere_computes_an_unsafe_cell(seed: int) -> None:
    table = magnitude_table(firms(seed, 14, (3, 3)), by=["d0", "d1"], value="sales")
    protected = protect(table, [PPercent(10), MinimumFrequency(2)])
    lone = np.argwhere(protected.unsafe & (table.sole >= 0)).tolist()
    for cell in map(tuple, np.argwhere(protected.unsafe).tolist()):
        for other in map(tuple, lone):
            if table.sole[other] == table.sole[cell]:
                continue
            his = map(tuple, np.argwhere(protected.unsafe & (table.sole == table.sole[other])))
            known = {each: float(table.values[each]) for each in his}
            seen = feasible(protected.published(), known=known, only=[cell])[cell]
            value, needed = float(table.values[cell]), float(protected.protection[cell])
            part = table.known_part(cell, int(table.sole[other]))
            slack = 1e-4 * needed + 1e-6
            assert seen.high >= value + needed - slack
            assert seen.low <= max(part, value - needed) + slack


def test_a_suppressed_grand_total_is_not_told_by_a_share() -> None:
    table = table_of({("a",): [5.0], ("b",): [7.0]})
    protected = protect(table, [MinimumFrequency(3)])
    assert bool(protected.hidden[-1])
    assert protected.as_dict()["published_share_of_value"] is None
    shown = protect(table_of({("a",): [5.0] * 4, ("b",): [7.0] * 4}), [MinimumFrequency(3)])
    assert shown.as_dict()["published_share_of_value"] == 1.0
