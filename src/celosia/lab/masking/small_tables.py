"""More small tables: salaries, nationalities, ranges, coins, and a survey with weights."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
import polars as pl

from celosia.assess import attacks
from celosia.assess.linkage import align, distance_linkage
from celosia.assess.risk.individual import individual_risk
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.lab.findings import Row
from celosia.lab.masking import publication
from celosia.lab.masking.equivalence_classes import EquivalenceClasses, format_groups
from celosia.lab.masking.medical import apply_method
from celosia.lab.mechanisms.cells import comparing
from celosia.mechanisms import Laplace
from celosia.tables import Mask
from celosia.tables.masking import Recoding, unbiased_counts
from celosia.tables.masking.perturbation.pram import invariant_matrix, plain_matrix

compare_equal, compare_printed = comparing("program")

SHOWN = ("shown_postcode", "shown_age")


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    parts = (_salaries, _neighbours, _nationalities, _recoding, _coins, _survey)
    return [row for part in parts for row in part()]


def _salaries() -> Iterator[Row]:
    run = Message("lab.masking.t2_noise_on_salaries")
    before, after = (
        np.array(each, dtype=np.float64)
        for each in (publication.SALARIES, publication.NOISY_SALARIES)
    )
    cell, listed = Message("lab.masking.salaries_as_printed"), map(str, publication.NOISY_SALARIES)
    yield Row(run, cell, " ".join(listed), None, not_run=Message("lab.not_run.drawn"))
    yield compare_printed(run, "lab.masking.mean_before", "62.0", float(before.mean()), kind=None)
    yield compare_printed(run, "lab.masking.mean_after", "62.2", float(after.mean()), kind=None)
    yield compare_equal(run, "lab.masking.unchanged", 4, int((before == after).sum()))
    yield compare_printed(
        run, "lab.masking.correlation", "0.9939", float(np.corrcoef(before, after)[0, 1])
    )
    link = distance_linkage(align({"salary": before}, {"salary": after}))
    right = (np.flatnonzero(link.chances == 1) + 1).tolist()
    yield compare_equal(
        run, "lab.masking.records_linked", "{1,2,3,6,7,8,9,10}", format_groups([right])
    )
    yield compare_equal(
        run, "lab.masking.record_4_chance_of_the_right", 0.5, float(link.chances[3])
    )
    yield compare_equal(run, "lab.masking.record_5_is_taken_for", 9, int(link.nearest[4]) + 1)
    yield compare_equal(
        run, "lab.masking.record_10_far_below_all_others", 1.0, float(link.chances[9])
    )


def _neighbours() -> Iterator[Row]:
    """Two neighbouring databases, D1 and D2: what their exact means give away, and the noise."""
    run = Message("lab.masking.d1_and_d2_salaries")
    without = publication.SALARIES_OF_D1
    with_pedro = (*without, publication.SALARY_OF_PEDRO)
    means = [sum(each) / len(each) for each in (without, with_pedro)]
    for name, mean, printed in zip(("D1", "D2"), means, (61_400, 69_500), strict=True):
        yield compare_equal(run, Message("lab.masking.mean_of", name=name), printed, mean)
    learnt = len(with_pedro) * means[1] - len(without) * means[0]
    yield compare_equal(
        run,
        "lab.masking.salary_from_the_means",
        publication.SALARY_OF_PEDRO,
        round(learnt),
        kind=None,
    )
    for epsilon, scale, spread in ((0.1, "10", "14.14"), (0.5, "2", "2.83"), (1, "1", "1.41")):
        deviation = sqrt(float(Laplace(epsilon=epsilon, sensitivity=1).variance))
        named = {"epsilon": epsilon}
        words = Message("lab.masking.scale_of_a_count", **named)
        yield compare_printed(run, words, scale, deviation / sqrt(2))
        words = Message("lab.masking.deviation_of_a_count", **named)
        yield compare_printed(run, words, spread, deviation)


def _nationalities() -> Iterator[Row]:
    run = Message("lab.masking.t3_the_original")
    keys = ("postcode", "age", "nationality")
    yield compare_equal(
        run,
        "lab.masking.unique_records",
        12,
        len(EquivalenceClasses.of(publication.NATIONALITIES, keys, "illness").unique),
    )
    run = Message("lab.masking.t4_claimed_as_4_anonymous")
    short = EquivalenceClasses.of(publication.NATIONALITIES[1:], SHOWN, "illness")
    yield compare_equal(
        run,
        "lab.masking.k_of_the_11_rows_that",
        3,
        short.k,
        printed=4,
        wrong=Message("lab.wrong.row_left_out"),
    )
    crowds = EquivalenceClasses.of(publication.NATIONALITIES, SHOWN, "illness")
    yield compare_equal(run, "lab.masking.k_with_the_row_that_was", 4, crowds.k, kind=None)
    yield compare_equal(
        run,
        "lab.masking.sizes_of_the_classes",
        "4 4 4",
        " ".join(str(len(c)) for c in crowds.members),
    )
    yield compare_equal(
        run, "lab.masking.distinct_l_of_the_classes", "2 3 1", " ".join(map(str, crowds.distinct))
    )
    texts = ("0.4167", "0.1667", "0.5833")
    for number, (text, apart) in enumerate(zip(texts, crowds.distances, strict=True), 1):
        yield compare_printed(run, Message("lab.masking.t_of_class_2", number=number), text, apart)
    yield compare_equal(run, "DM", 48, crowds.discernibility)
    attack = attacks.homogeneity(publication.NATIONALITIES, list(SHOWN), "illness")
    yield compare_equal(
        run, "lab.masking.people_whose_illness_is_told_erratum", 4, attack.exposed_people
    )
    learnt = " ".join(attack.exposed[0].learnt)
    yield compare_equal(run, "lab.masking.what_is_told_of_them", "Cancer", learnt)
    ranges = apply_method(Recoding(breaks=(30, 40)), publication.NATIONALITIES, "age")["age"]
    found = " ".join(sorted(set(ranges)))
    yield compare_equal(run, "lab.masking.our_ranges_do_not_overlap_and", "<30 [30,40) ≥40", found)
    ours = publication.NATIONALITIES.with_columns(ranges.alias("shown_age"))
    yield compare_equal(
        run, "lab.masking.k_with_these", 4, EquivalenceClasses.of(ours, SHOWN, "illness").k
    )


def _recoding() -> Iterator[Row]:
    run = Message("lab.masking.b7_ranges")
    ages = pl.DataFrame({"age": [3, 11, 7, 19]})
    found = apply_method(Recoding(breaks=(0, 10, 20)), ages, "age")["age"]
    yield compare_equal(
        run, "3, 11, 7, 19", "[0,10) [10,20) [0,10) [10,20)", " ".join(found), kind=None
    )
    path = Mask(levels=(3,)).build(pl.Series(["08500"])).paths()[0]
    # The root hides all five digits: as one mark in print, as five with us.
    yield compare_equal(
        "lab.masking.figure_4_postcodes",
        "lab.masking.above_08500",
        "08*** *",
        " ".join((*path[1:-1], path[-1][0])),
        kind=None,
    )


def _coins() -> Iterator[Row]:
    """The answer of whoever tosses first is PRAM: 3/4 and 1/4 on yes and no."""
    run = Message("lab.masking.randomised_response_as_pram")
    matrix = plain_matrix(np.array([1, 1]), 0.75, "uniform")
    for share, text in ((0.0, "0.25"), (0.1, "0.30"), (0.5, "0.50"), (1.0, "0.75")):
        found = float(np.array([share, 1 - share]) @ matrix[:, 0])
        yield compare_printed(
            run, Message("lab.masking.chance_of_yes_where_are_ill", share=share), text, found
        )
    yield compare_equal(
        run,
        "lab.masking.ill_of_1_000_of_whom",
        100.0,
        round(float(unbiased_counts([300, 700], matrix)[0]), 6),
    )
    counts = np.array([40, 20, 30, 10])
    moved = counts @ invariant_matrix(counts, 0.5)
    yield compare_equal(
        run,
        "lab.masking.largest_change_of_expected_counts_by",
        0.0,
        round(float(np.abs(moved - counts).max()), 12),
    )


def _survey() -> Iterator[Row]:
    run = Message("lab.masking.francdat_individual_risk")
    found = individual_risk(publication.SURVEY, keys=["Key1", "Key2", "Key3", "Key4"], weights="w")
    for place, frequency in enumerate(publication.SAMPLE_FREQUENCIES):
        name = Message("lab.masking.record", place=place + 1)
        yield compare_equal(
            run,
            Message("lab.masking.in_the_sample", name=name),
            frequency,
            int(found.sample_frequency[place]),
            kind=None,
        )
        people = float(found.population_frequency[place])
        yield compare_printed(
            run,
            Message("lab.masking.in_the_population", name=name),
            publication.POPULATION_FREQUENCIES[place],
            people,
            kind=None,
        )
        yield compare_printed(
            run,
            Message("lab.masking.risk", name=name),
            publication.SURVEY_RISKS[place],
            float(found.risk[place]),
            kind=None,
        )
