"""More small tables: salaries, nationalities, ranges, coins, and a survey with weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from celosia.assess import attacks
from celosia.assess.linkage import align, distance_linkage
from celosia.assess.risk.individual import individual_risk
from celosia.lab.findings import Row
from celosia.lab.masking.equivalence_classes import EquivalenceClasses, format_groups
from celosia.lab.masking.medical import apply_method
from celosia.lab.masking.publication import (
    NATIONALITIES,
    NOISY_SALARIES,
    POPULATION_FREQUENCIES,
    SALARIES,
    SAMPLE_FREQUENCIES,
    SURVEY,
    SURVEY_RISKS,
)
from celosia.lab.mechanisms.cells import compare_equal, compare_printed
from celosia.tables import Mask
from celosia.tables.masking import Recoding, unbiased_counts
from celosia.tables.masking.perturbation.transitions import invariant_matrix, plain_matrix

SHOWN = ("shown_postcode", "shown_age")


def rows() -> Iterator[Row]:
    """All of them."""
    yield from _salaries()
    yield from _nationalities()
    yield from _recoding()
    yield from _coins()
    yield from _survey()


def _salaries() -> Iterator[Row]:
    run = "T2, noise on salaries"
    before, after = (np.array(each, dtype=np.float64) for each in (SALARIES, NOISY_SALARIES))
    yield compare_printed(run, "mean before", "62.0", float(before.mean()))
    yield compare_printed(run, "mean after", "62.2", float(after.mean()))
    yield compare_equal(run, "unchanged", 4, int((before == after).sum()))
    yield compare_printed(run, "correlation", "0.9939", float(np.corrcoef(before, after)[0, 1]))
    link = distance_linkage(align({"salary": before}, {"salary": after}))
    right = (np.flatnonzero(link.chances == 1) + 1).tolist()
    yield compare_equal(run, "records linked", "{1,2,3,6,7,8,9,10}", format_groups([right]))
    yield compare_equal(
        run, "record 4: chance of the right one of two", 0.5, float(link.chances[3])
    )
    yield compare_equal(run, "record 5 is taken for", 9, int(link.nearest[4]) + 1)
    yield compare_equal(
        run, "record 10, far below all others, is linked", 1.0, float(link.chances[9])
    )


def _nationalities() -> Iterator[Row]:
    run = "T3, the original"
    keys = ("postcode", "age", "nationality")
    yield compare_equal(
        run, "unique records", 12, len(EquivalenceClasses.of(NATIONALITIES, keys, "illness").unique)
    )
    run = "T4, claimed as 4-anonymous"
    short = EquivalenceClasses.of(NATIONALITIES[1:], SHOWN, "illness")
    yield compare_equal(run, "k of the 11 rows that were printed (erratum 1)", 3, short.k)
    crowds = EquivalenceClasses.of(NATIONALITIES, SHOWN, "illness")
    yield compare_equal(run, "k with the row that was left out", 4, crowds.k)
    yield compare_equal(
        run, "sizes of the classes", "4 4 4", " ".join(str(len(c)) for c in crowds.members)
    )
    yield compare_equal(
        run, "distinct l of the classes", "2 3 1", " ".join(map(str, crowds.distinct))
    )
    texts = ("0.4167", "0.1667", "0.5833")
    for number, (text, apart) in enumerate(zip(texts, crowds.distances, strict=True), 1):
        yield compare_printed(run, f"t of class {number}", text, apart)
    yield compare_equal(run, "DM", 48, crowds.discernibility)
    attack = attacks.homogeneity(NATIONALITIES, list(SHOWN), "illness")
    yield compare_equal(run, "people whose illness is told (erratum 15)", 4, attack.exposed_people)
    learnt = " ".join(attack.exposed[0].learnt)
    yield compare_equal(run, "what is told of them", "Cancer", learnt)
    ranges = apply_method(Recoding(breaks=(30, 40)), NATIONALITIES, "age")["age"]
    found = " ".join(sorted(set(ranges)))
    yield compare_equal(
        run, "our ranges do not overlap and leave no age out (erratum 2)", "<30 [30,40) ≥40", found
    )
    ours = NATIONALITIES.with_columns(ranges.alias("shown_age"))
    yield compare_equal(run, "k with these", 4, EquivalenceClasses.of(ours, SHOWN, "illness").k)


def _recoding() -> Iterator[Row]:
    run = "B7, ranges"
    ages = pl.DataFrame({"age": [3, 11, 7, 19]})
    found = apply_method(Recoding(breaks=(0, 10, 20)), ages, "age")["age"]
    yield compare_equal(run, "3, 11, 7, 19", "[0,10) [10,20) [0,10) [10,20)", " ".join(found))
    path = Mask(levels=(3,)).build(pl.Series(["08500"])).paths()[0]
    # The root hides all five digits: as one mark in print, as five with us.
    yield compare_equal("Figure 4, postcodes", "above 08500", "08*** *****", " ".join(path[1:]))


def _coins() -> Iterator[Row]:
    """The answer of whoever tosses first is PRAM: 3/4 and 1/4 on yes and no."""
    run = "Randomised response as PRAM"
    matrix = plain_matrix(np.array([1, 1]), 0.75, "uniform")
    for share, text in ((0.0, "0.25"), (0.1, "0.30"), (0.5, "0.50"), (1.0, "0.75")):
        found = float(np.array([share, 1 - share]) @ matrix[:, 0])
        yield compare_printed(run, f"chance of yes where {share:g} are ill", text, found)
    yield compare_equal(
        run,
        "ill of 1,000 of whom 300 say yes",
        100.0,
        round(float(unbiased_counts([300, 700], matrix)[0]), 6),
    )
    counts = np.array([40, 20, 30, 10])
    moved = counts @ invariant_matrix(counts, 0.5)
    yield compare_equal(
        run,
        "largest change of expected counts by an invariant matrix",
        0.0,
        round(float(np.abs(moved - counts).max()), 12),
    )


def _survey() -> Iterator[Row]:
    run = "francdat, individual risk"
    found = individual_risk(SURVEY, keys=["Key1", "Key2", "Key3", "Key4"], weights="w")
    for place, frequency in enumerate(SAMPLE_FREQUENCIES):
        name = f"record {place + 1}"
        yield compare_equal(
            run, f"{name}: in the sample", frequency, int(found.sample_frequency[place])
        )
        people = float(found.population_frequency[place])
        yield compare_printed(
            run, f"{name}: in the population", POPULATION_FREQUENCIES[place], people
        )
        yield compare_printed(run, f"{name}: risk", SURVEY_RISKS[place], float(found.risk[place]))
