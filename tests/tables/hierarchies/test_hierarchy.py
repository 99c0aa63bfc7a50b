"""The value itself: what it accepts, what it refuses (spec check 12), what it tells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.tables.hierarchies import MISSING, Hierarchy, summary

POSTAL = [
    ("05345", "05340", "05300"),
    ("05349", "05340", "05300"),
    ("05352", "05350", "05300"),
    ("05356", "05350", "05300"),
]


def refusal(paths: Sequence[Sequence[str]], rows: list[int] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        Hierarchy.from_paths(paths, rows=rows)
    return caught.value


def test_the_postal_hierarchy_of_the_lattice_example_has_three_levels() -> None:
    postal = Hierarchy.from_paths(POSTAL)
    assert (postal.levels, postal.height) == (3, 2)
    assert postal.label("05352", level=1) == "05350"
    assert postal.paths() == POSTAL
    np.testing.assert_array_equal(postal.leaves_under(1), [2, 2, 2, 2])


def test_a_hierarchy_without_leaves_is_refused() -> None:
    assert refusal([]).code == "CEL-H001"
    assert refusal([()]).code == "CEL-H001"


def test_ragged_paths_are_refused_at_the_first_that_differs() -> None:
    error = refusal([("a", "x", "*"), ("b", "*"), ("c", "*")])
    assert error.code == "CEL-H002"
    assert error.what == "leaf 2 has 2 levels, leaf 1 has 3."


def test_a_leaf_given_twice_is_refused_with_both_places() -> None:
    error = refusal([("a", "*"), ("b", "*"), ("a", "*")])
    assert error.code == "CEL-H003"
    assert error.what == "leaf 3 repeats the leaf of leaf 1."


def test_a_node_with_two_parents_is_refused_where_it_disagrees() -> None:
    error = refusal([("a", "x", "p", "*"), ("b", "x", "p", "*"), ("c", "x", "q", "*")])
    assert error.code == "CEL-H004"
    assert "1 label(s) of level 1" in error.what
    assert "leaf 3 disagrees with leaf 1" in error.what


def test_all_nodes_with_two_parents_are_counted() -> None:
    paths = [(f"{label}{parent}", label, parent, "*") for label in "xyz" for parent in "pq"]
    assert "3 label(s) of level 1" in refusal(paths).what


def test_a_last_level_that_is_not_constant_is_refused() -> None:
    error = refusal([("a", "x"), ("b", "y")])
    assert error.code == "CEL-H005"
    assert error.details["roots"] == 2


def test_rows_of_a_file_are_named_instead_of_positions() -> None:
    error = refusal([("a", "*"), ("b", "*"), ("a", "*")], rows=[1, 3, 9])
    assert error.what == "row 9 repeats the leaf of row 1."
    assert error.details["row"] == 9


def test_a_label_that_is_no_leaf_is_refused_without_being_repeated() -> None:
    with pytest.raises(InputError) as caught:
        Hierarchy.from_paths(POSTAL).label("secret", level=1)
    assert caught.value.code == "CEL-H010"
    assert "secret" not in str(caught.value)


def test_empty_cells_become_a_leaf_of_their_own_below_the_root() -> None:
    postal = Hierarchy.from_paths(POSTAL).with_missing()
    assert postal.leaves[-1] == MISSING
    assert postal.label(MISSING, level=1) == MISSING
    assert postal.label(MISSING, level=2) == "05300"


def test_a_lone_leaf_with_empty_cells_gets_a_root_above_both() -> None:
    both = Hierarchy.from_paths([("only",)]).with_missing()
    assert both.paths() == [("only", "*"), (MISSING, "*")]


def test_the_summary_counts_labels_and_leaves_and_shows_none() -> None:
    levels = summary(Hierarchy.from_paths([*POSTAL, ("05399", "05390", "05300")]))
    assert [(s.level, s.labels, s.smallest, s.largest) for s in levels] == [
        (0, 5, 1, 1),
        (1, 3, 1, 2),
        (2, 1, 5, 5),
    ]
