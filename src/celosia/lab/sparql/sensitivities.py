"""The fifteen printed sensitivities, what they should have been, and whether the answers fit them.

With the corrected rules and all distances, bounds for single facts are useless for long patterns:
10^26 for nine patterns at epsilon 0.1. What helps is declared caps, or entities as units
(`answers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import exp, sqrt

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.datasets.watdiv import QUERIES
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.sparql import publication
from celosia.lab.sparql.graphs import policy_of, sparql_of
from celosia.lab.sparql.oracle import corrected_sensitivity
from celosia.lab.sparql.original_analysis import (
    THESIS_DELTA,
    compat_scale,
    compat_sensitivity,
    list_frequencies,
    patterns,
)
from celosia.lab.sql.flex import flex_beta
from celosia.lab.tolerance import Tolerance, at_most
from celosia.queries.algebra import Question
from celosia.queries.bounds.elastic_sensitivity import ElasticSensitivity, elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.stability import Rule
from celosia.queries.policy import Policy
from celosia.queries.sparql import compile as compiled

compare_equal, compare_printed = comparing("program")

AVERAGED = 1000
"""About as many answers are behind each printed average."""
FAR = 4.0
"""Standard errors beyond which an average does not belong to so many answers of its scale."""
UNLIKELY = "F1, F2, F3, L3, L5, S2, S3, S5"
"""Averages that are farther off for some epsilon: fewer answers are behind them, or others."""
TOO_FAR = frozenset(
    {
        ("F1", 0.1),
        ("F1", 0.01),
        ("F2", 1.0),
        ("F3", 1.0),
        ("L3", 0.01),
        ("L5", 1.0),
        ("S2", 0.1),
        ("S3", 0.1),
        ("S5", 0.1),
        ("S5", 0.01),
        ("S5", 1.0),
    }
)
"""The same with their epsilons: these averages are shown to be wrong."""
IMPOSSIBLE = 1e-6
"""A chance at which one answer cannot be meant."""


def rows(progress: Progress) -> list[Row]:
    """All columns of the table of sensitivities, the scales, and the averages that do not fit."""
    found = [
        *_stars(),
        compare_printed(
            "lab.sparql.smoothing",
            "lab.sparql.beta_at_epsilon_0_1",
            publication.BETA,
            flex_beta(0.1, THESIS_DELTA),
        ),
    ]
    for done, name in enumerate(publication.SENSITIVITIES):
        progress(Step(Message("lab.sparql.bounding_queries"), done, len(publication.SENSITIVITIES)))
        found += [*_broken(name), *_corrected(name), *_scales(name)]
    return [*found, *_consistency()]


def run_name(query: str) -> str:
    """The run of one query."""
    return Message(
        "lab.sparql.patterns", query=query, patterns=len(patterns(QUERIES[query].pattern))
    )


def _stars() -> Iterator[Row]:
    for size, number in enumerate(publication.STARS, start=2):
        star = [("?x", f"p{place}", f"?y{place}") for place in range(size)]
        found = compat_sensitivity(star, list_frequencies({}))
        yield compare_equal(
            "lab.sparql.broken_analysis",
            Message("lab.sparql.star_of_patterns", size=size),
            number,
            found,
        )


def _broken(name: str) -> Iterator[Row]:
    run, known = run_name(name), publication.SENSITIVITIES[name]
    given, frequency = patterns(QUERIES[name].pattern), list_frequencies(publication.FREQUENCIES)
    found = compat_sensitivity(given, frequency)
    yield compare_equal(
        run,
        "lab.sparql.sensitivity_as_printed_broken_analysis",
        known.printed,
        found,
        kind=None,
        wrong=Message("lab.wrong.broken_analysis"),
    )
    found = compat_sensitivity(given, frequency, distance=0)
    yield compare_equal(run, "lab.sparql.broken_analysis_at_distance_0", known.at_0, found)


def _corrected(name: str) -> Iterator[Row]:
    run, known = run_name(name), publication.SENSITIVITIES[name]
    given, frequency = patterns(QUERIES[name].pattern), list_frequencies(publication.FREQUENCIES)
    for distance, number in enumerate(known.uncapped):
        found = corrected_sensitivity(given, frequency, distance=distance, sets=False)
        yield compare_equal(
            run,
            Message("lab.sparql.without_the_rule_of_sets_distance", distance=distance),
            number,
            found,
        )
    in_order = bound(name)
    for distance, number in enumerate(known.capped):
        yield compare_equal(
            run,
            Message("lab.sparql.corrected_distance", distance=distance),
            number,
            int(in_order.at(distance)),
        )
        plain = corrected_sensitivity(given, frequency, distance=distance)
        yield compare_equal(
            run,
            Message("lab.sparql.corrected_written_down_plainly_distance", distance=distance),
            number,
            plain,
        )
    ours = bound(name, rule="tight")
    most_at_1 = max(known.capped)
    cell = Message("lab.sparql.our_bound_over_all_orders_distance")
    yield compare(run, cell, most_at_1, int(ours.at(1)), at_most(most_at_1), kind="program")
    for epsilon, (text, distance) in zip((0.1, 1.0), known.smooth, strict=True):
        most = smooth(in_order.growth, beta=_beta(epsilon))
        yield compare_printed(
            run,
            Message("lab.sparql.smooth_bound_epsilon", epsilon=epsilon),
            text,
            float(most.bound),
        )
        yield compare_equal(
            run,
            Message("lab.sparql.its_distance_epsilon", epsilon=epsilon),
            distance,
            most.distance,
        )


def _scales(name: str) -> Iterator[Row]:
    for epsilon, text in zip(publication.EPSILONS, publication.ANSWERS[name].scales, strict=True):
        found = compat_scale(publication.SENSITIVITIES[name].printed, epsilon=epsilon)
        yield compare_printed(
            run_name(name),
            Message("lab.sparql.scale_behind_the_answers_epsilon", epsilon=epsilon),
            text,
            found,
        )


def _consistency() -> Iterator[Row]:
    """An average of n answers has a standard error of sqrt(2 / n) scales."""
    run = Message("lab.sparql.averages_as_printed")
    yield from _averages(run)
    settings = [(name, epsilon) for name in publication.ANSWERS for epsilon in publication.EPSILONS]
    far = [each for each in settings if distance_in_scales(*each) > FAR * sqrt(2 / AVERAGED)]
    names = ", ".join(dict.fromkeys(name for name, _ in far))
    yield compare_equal(
        run,
        Message("lab.sparql.beyond_errors_of_answers", far=FAR, averaged=AVERAGED),
        UNLIKELY,
        names,
    )
    # Laplace noise is beyond t scales with chance exp(-t).
    never = [each for each in settings if exp(-distance_in_scales(*each)) < IMPOSSIBLE]
    listed = [Message("lab.sparql.at_epsilon", name=name, epsilon=each) for name, each in never]
    yield compare_equal(
        run,
        "lab.sparql.not_even_one_answer_is_so",
        Message("lab.sparql.at_epsilon", name="F2", epsilon=1.0),
        Message("lab.joined.list", parts=listed),
    )
    found = distance_in_scales("F2", 1.0)
    yield compare_printed(run, "lab.sparql.f2_at_epsilon_1_scales_from", "14.4", found)


def _averages(run: str) -> Iterator[Row]:
    """Every printed average, beside the original that it was printed with."""
    for name, known in publication.ANSWERS.items():
        printed = Message("lab.sparql.original_as_printed", name=name)
        graph = Message("lab.not_run.other_graph")
        yield Row(run, printed, known.original, None, not_run=graph)
        for epsilon, private in zip(publication.EPSILONS, known.private, strict=True):
            scale = compat_scale(publication.SENSITIVITIES[name].printed, epsilon=epsilon)
            far = (name, epsilon) in TOO_FAR
            near = Tolerance(
                absolute=FAR * sqrt(2 / AVERAGED) * scale,
                refuted=far,
                why=Message("lab.tolerance.mean_of_answers", far=FAR, averaged=AVERAGED),
            )
            original = original_of(name, epsilon)
            cell = Message("lab.sparql.average_as_printed", name=name, epsilon=epsilon)
            wrong = Message("lab.wrong.average_too_far") if far else ""
            yield compare(run, cell, private, original, near, wrong=wrong)


def original_of(name: str, epsilon: float) -> float:
    """The count that was printed beside a private average."""
    if (name, epsilon) == ("F2", 1.0):
        return publication.OTHER_ORIGINAL
    return publication.ANSWERS[name].original


def distance_in_scales(name: str, epsilon: float) -> float:
    """How far a printed average is from its original, in scales of the noise of one answer."""
    known, place = publication.ANSWERS[name], publication.EPSILONS.index(epsilon)
    original = original_of(name, epsilon)
    scale = compat_scale(publication.SENSITIVITIES[name].printed, epsilon=epsilon)
    return abs(known.private[place] - original) / scale


def bound(name: str, *, rule: Rule = "elastic") -> ElasticSensitivity:
    """The corrected sensitivity of a query from the fitted frequencies, by our analyst.

    Args:
        name: of the query.
        rule: in the order of the text, or over all orders.
    """
    policy = _policy()
    ones = {(table.name, column): 1 for table in policy.tables for column in ("subject", "object")}
    question = _question(name)
    facts = DeclaredFacts(policy, ones | dict(publication.FREQUENCIES))
    return elastic_sensitivity(question, question.aggregates[0], facts=facts, rule=rule)


@cache
def _question(name: str) -> Question:
    return compiled(sparql_of(QUERIES[name].pattern), _policy())


@cache
def _policy() -> Policy:
    used = {each for query in QUERIES.values() for _, each, _ in patterns(query.pattern)}
    return policy_of(sorted(used))


@cache
def _beta(epsilon: float) -> Fraction:
    return choose_beta(epsilon, THESIS_DELTA)
