"""The sensitivities of the thesis, and those that it should have had.

Where a published number is wrong, or its rule is, the row compares with the corrected one and its
name says what was published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import log

from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sql import flex
from celosia.lab.sql.publication import BOUNDS, SENSITIVITIES, TRUTH
from celosia.queries.algebra import Aggregate, Column, Join, Keys, Question, Relation, Scan
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.smooth_sensitivity import choose_beta, gamma_quantile, smooth

compare_equal, compare_printed = comparing("program")


def run_name(epsilon: float, joins: int) -> str:
    """The run of one of the twelve settings."""
    return Message("lab.sql.joins_at_epsilon", joins=joins, epsilon=epsilon)


def rows(progress: Progress) -> list[Row]:
    """What was printed, the bounds behind the twelve columns, and the corrections."""
    return [*_printed(), *_twelve(), *_corrections()]


def _printed() -> Iterator[Row]:
    run = Message("lab.sql.sensitivities_as_printed")
    yield compare_printed(run, "delta", "2.1874684e-10", flex.thesis_delta())
    yield compare_printed(
        run,
        "lab.sparql.beta_at_epsilon_0_1",
        "0.00217995500591925",
        flex.flex_beta(0.1, flex.thesis_delta()),
    )
    for joins, text in SENSITIVITIES.items():
        found, _ = flex.thesis_sensitivity(joins, epsilon=0.1)
        wrong = Message("lab.wrong.one_line_an_order") if joins > 1 else ""
        yield compare_printed(
            run, Message("lab.sql.joins", joins=joins), text, found, kind=None, wrong=wrong
        )


def _twelve() -> Iterator[Row]:
    for (epsilon, joins), (text, farthest, scale) in BOUNDS.items():
        run = run_name(epsilon, joins)
        found, distance = flex.thesis_sensitivity(joins, epsilon=epsilon)
        ours = smooth(thesis_growth(joins), beta=choose_beta(epsilon, flex.thesis_delta()))
        yield compare_printed(run, "lab.sql.smooth_bound", text, found)
        if farthest is not None:
            yield compare_equal(run, "lab.sql.distance_of_the_largest", farthest, distance)
        yield compare_printed(run, "lab.sql.scale_of_the_noise", scale, 2 * found / epsilon)
        yield compare_equal(run, "lab.sql.smooth_bound_by_our_search_of", found, float(ours.bound))
        yield compare_equal(run, "lab.sql.distance_by_our_search", distance, ours.distance)
    worst = 2 * flex.thesis_sensitivity(4, epsilon=1)[0]
    yield compare_printed(
        run_name(1, 4), "lab.sql.scale_over_the_exact_answer", "17.54", worst / TRUTH
    )


def thesis_growth(joins: int, **frequencies: int) -> Growth:
    """The elastic sensitivity of a question of the thesis, at every distance.

    Args:
        joins: from 1 to 4.
        frequencies: of columns of lineitem, other than those that the thesis gave.
    """
    question = flex.thesis_question(joins)
    changed = {("lineitem", name): number for name, number in frequencies.items()}
    facts = flex.FlexFacts({**flex.THESIS_FREQUENCIES, **changed})
    return elastic_sensitivity(question, question.aggregates[0], facts=facts, rule="elastic").growth


def _corrections() -> Iterator[Row]:
    run = Message("lab.sql.corrections")
    early, _ = flex.flex_smooth(bimodal(), epsilon=3.5, delta=1e-6)
    whole = smooth(bimodal(), beta=Fraction(3.5 / (2 * log(2e6))))
    yield compare_equal(run, "lab.sql.two_peaks_search_that_ends_at", 27000.0, early)
    yield compare_printed(
        run, "lab.sql.two_peaks_largest_bound_of_all", "42624.016", float(whole.bound)
    )
    yield compare_equal(run, "lab.sql.two_peaks_its_distance", 16, whole.distance)
    early, _ = flex.flex_smooth(bushy(), epsilon=0.1, delta=1e-8)
    whole = smooth(bushy(), beta=choose_beta(0.1, 1e-8))
    yield compare_printed(run, "lab.sql.bushy_join_search_that_ends_at", "1.0e12", early)
    yield compare_printed(
        run, "lab.sql.bushy_join_largest_bound_of_all", "1.46e13", float(whole.bound)
    )
    yield compare_equal(run, "lab.sql.bushy_join_its_distance", 396, whole.distance)
    for cells, text in ((1, "14.509"), (2, "17.422"), (10, "33.648")):
        found = float(gamma_quantile(cells, Fraction(1, 2 * 10**6)))
        yield compare_printed(
            run, Message("lab.sql.noise_of_cells_that_beta_allows", cells=cells), text, found
        )
    found, _ = flex.flex_smooth(
        thesis_growth(2, orderkey=7), epsilon=0.1, delta=flex.thesis_delta()
    )
    cell = Message("lab.sql.2_joins_7_lines_an_order")
    yield compare_printed(run, cell, "120376.38", found)


def bimodal() -> Growth:
    """A chain of four tables whose smoothed bound has a second peak."""
    source: Relation = Scan("t1", "t1")
    for one, other, right in (
        ("t1.a", "t2.b", "t2"),
        ("t2.c", "t3.d", "t3"),
        ("t3.e", "t4.f", "t4"),
    ):
        source = Join(source, Scan(right, right), _on(one, other))
    return _growth(source, {"t1.a": 30, "t2.b": 1000, "t2.c": 30, "t3.d": 1, "t3.e": 30, "t4.f": 1})


def bushy() -> Growth:
    """Two joins joined: the one product falls at once, the other has its peak far away."""
    left = Join(Scan("A", "A"), Scan("B", "B"), _on("A.x", "B.x"))
    right = Join(Scan("C", "C"), Scan("D", "D"), _on("C.z", "D.z"))
    many = {"A.y": 10**4, "B.x": 10**4, "C.z": 10**4, "C.y": 10**7, "A.x": 1, "D.z": 1}
    return _growth(Join(left, right, _on("A.y", "C.y")), many)


def _growth(source: Relation, frequencies: Mapping[str, int]) -> Growth:
    count = Aggregate("rows", "n")
    facts = flex.FlexFacts({_named(name): number for name, number in frequencies.items()})
    return elastic_sensitivity(
        Question(source, (count,)), count, facts=facts, rule="elastic"
    ).growth


def _on(one: str, other: str) -> Keys:
    return ((Column(*_named(one)), Column(*_named(other))),)


def _named(text: str) -> tuple[str, str]:
    relation, _, name = text.partition(".")
    return relation, name
