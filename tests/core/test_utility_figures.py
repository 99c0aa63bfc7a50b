"""Lines, distributions before and after, and the trade-off of risk and loss."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.figures import Svg, before_after, lines, pareto_front, trade_off
from celosia.core.figures.trade_off import CELLS, thin_points

fractions = st.floats(0, 1, allow_nan=False)
points = st.lists(st.tuples(fractions, fractions), min_size=1, max_size=40)


def words(svg: Svg) -> list[str]:
    found = ElementTree.fromstring(str(svg)).iter()
    return [element.text or "" for element in found if element.tag.endswith("}text")]


def test_a_line_on_a_logarithmic_scale_has_a_gap_at_zero() -> None:
    svg = lines([1, 2, 3], {"n": [0.0, 10.0, 100.0]}, log=True)
    assert "10" in words(svg)
    assert "nan" not in str(svg)


def test_two_lines_differ_in_dashes_and_markers_as_well_as_in_colour() -> None:
    svg = str(lines([1, 2], {"a": [1, 2], "b": [2, 1]}))
    alone = str(lines([1, 2], {"a": [1, 2]}))
    assert "stroke-dasharray" in svg
    assert "stroke-dasharray" not in alone
    markers = re.findall(r'<path id="[^"]+" d="([^"]+)"', svg)
    assert len(set(markers)) > len(set(re.findall(r'<path id="[^"]+" d="([^"]+)"', alone)))


@pytest.mark.parametrize("places", [[1, 1], [2, 1], [1, float("nan")], [1, float("inf")]])
def test_places_that_do_not_grow_are_refused(places: list[float]) -> None:
    with pytest.raises(ValueError, match="growing order"):
        lines(places, {"n": [1, 2]})


def test_a_logarithmic_axis_refuses_a_place_at_zero() -> None:
    with pytest.raises(ValueError, match="no place for 0"):
        lines([0, 1], {"n": [1, 2]}, log_x=True)


def test_every_place_is_named_unless_the_numbers_would_collide() -> None:
    assert {"2", "5", "50"} <= set(words(lines([2, 5, 50], {"n": [1, 2, 3]}, log_x=True)))
    crowded = words(lines(list(range(101)), {"n": [1] * 101}))
    assert "37" not in crowded


def test_before_and_after_are_named_and_numbered() -> None:
    found = words(before_after(["F", "M"], [0.25, 0.75], [0.5, 0.5], title="sex", x_label="which"))
    assert {"original", "released", "25 %", "75 %", "50 %", "sex", "which"} <= set(found)


def test_of_many_values_the_frequent_are_shown_and_the_rest_is_summed() -> None:
    before = [0.02] * 50
    after = [0.51] + [0.01] * 49
    found = words(before_after([f"v{n}" for n in range(50)], before, after))
    assert "v0" in found
    assert "all others (27)" in found
    assert sum(re.fullmatch(r"v\d+", word) is not None for word in found) == 23


@pytest.mark.parametrize(
    ("values", "before", "after"),
    [([], [], []), (["a"], [1.0], []), (["a"], [1.5], [1.0]), (["a"], [float("nan")], [1.0])],
)
def test_shares_that_are_none_are_refused(
    values: list[str], before: list[float], after: list[float]
) -> None:
    with pytest.raises(ValueError, match="share"):
        before_after(values, before, after)


@given(points)
def test_the_front_is_exactly_the_points_that_nothing_dominates(
    given_points: list[tuple[float, float]],
) -> None:
    def dominated(p: tuple[float, float]) -> bool:
        return any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in given_points)

    best = sorted({p for p in given_points if not dominated(p)})
    assert pareto_front(given_points) == best


@given(points)
def test_thinning_keeps_only_given_points_and_drops_none_alone_in_its_square(
    given_points: list[tuple[float, float]],
) -> None:
    kept = thin_points(given_points)
    assert set(kept) <= set(given_points)
    for point in given_points:
        xs, ys = zip(*given_points, strict=True)
        width, height = (max(xs) - min(xs)) / CELLS, (max(ys) - min(ys)) / CELLS
        near = 1e-12
        assert any(
            abs(point[0] - x) <= width + near and abs(point[1] - y) <= height + near
            for x, y in kept
        )


def test_twenty_thousand_choices_make_a_small_figure_with_its_whole_front() -> None:
    random = np.random.default_rng(3)
    loss, risk = random.random(20_000).tolist(), random.random(20_000).tolist()
    svg = str(trade_off(loss, risk))
    assert len(svg) < 250_000
    front = pareto_front(list(zip(loss, risk, strict=True)))
    assert len(front) > 3
    assert svg.count("<use") >= len(front)


def test_the_chosen_point_is_marked_by_a_shape_and_by_words() -> None:
    plain = str(trade_off([0.1, 0.2], [0.5, 0.2]))
    marked = trade_off([0.1, 0.2], [0.5, 0.2], chosen=0, chosen_label="k = 5")
    assert "k = 5" in words(marked)
    assert str(marked).count("<use") == plain.count("<use") + 1


def test_rings_and_diamonds_tell_the_possible_from_the_best() -> None:
    found = words(trade_off([0.1, 0.2], [0.5, 0.6]))
    assert {"possible", "best for their loss"} <= set(found)


def test_a_choice_without_risk_has_no_place_on_a_logarithmic_scale() -> None:
    svg = trade_off([0.1, 0.2], [0.5, 0.0], chosen=1, chosen_label="none", log=True)
    assert "none" not in words(svg)
    assert isinstance(trade_off([0.1], [0.0], log=True), Svg)


@pytest.mark.parametrize(
    ("loss", "risk", "chosen"),
    [([], [], None), ([0.1], [], None), ([float("nan")], [0.1], None), ([0.1], [0.1], 1)],
)
def test_a_trade_off_refuses_what_it_cannot_draw(
    loss: list[float], risk: list[float], chosen: int | None
) -> None:
    with pytest.raises(ValueError, match=r"risks|choice"):
        trade_off(loss, risk, chosen=chosen)
