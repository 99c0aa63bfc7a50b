"""Ten patients, masked in every way: tables T1 and T6 to T10 of the module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess import attacks
from celosia.assess.linkage import align, distance_linkage
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.lab.findings import Row
from celosia.lab.masking.equivalence_classes import EquivalenceClasses, format_groups
from celosia.lab.masking.publication import (
    ANONYMOUS,
    AVERAGED,
    KEYS,
    MEDICAL,
    NOISY,
    RECODED,
    SWAPPED,
)
from celosia.lab.mechanisms.cells import comparing
from celosia.tables import Mask, Schema
from celosia.tables.masking import (
    LocalSuppression,
    MaskingMethod,
    Microaggregation,
    RankSwap,
    Recoding,
)
from celosia.tables.masking.microaggregation import (
    information_loss,
    mdav_groups,
    optimal_groups,
)
from celosia.tables.masking.microaggregation.scale import squared_error
from celosia.tables.meanings import meanings

compare_equal, compare_printed = comparing("program")

AGES = MEDICAL["age"].to_numpy().astype(np.float64)
PROVINCE = Recoding(hierarchy={"method": "mask", "levels": [3]}, level=1)
RANGES = Recoding(breaks=(20, 30, 50, 80))


def rows(progress: Progress = silent) -> list[Row]:
    """All facts of the tables, in the order of their numbers."""
    return [*_original(), *_noise(), *_groups(), *_swaps(), *_ranges(), *_anonymous()]


def apply_method(method: MaskingMethod, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The table after a method; the seed matters to none of these examples."""
    return method.apply(frame, columns, rng=Seeded(1)).frame


def _original() -> Iterator[Row]:
    run = Message("lab.masking.t1_the_original")
    crowds = EquivalenceClasses.of(MEDICAL, KEYS, "illness")
    yield compare_equal(run, "k", 1, crowds.k)
    yield compare_equal(run, "lab.masking.unique_records", 10, len(crowds.unique))
    identity, illness = _attack(MEDICAL, gender="M", postcode="08242", age=21)
    yield compare_equal(
        run, "lab.masking.records_that_m_08242_21_may", 1, round(1 / identity.greatest)
    )
    yield compare_equal(
        run,
        "lab.masking.what_is_learnt_of_them",
        "Flu",
        " ".join(illness.exposed[0].learnt),
        kind=None,
    )
    yield compare_printed(run, "lab.masking.mean_age", "39.9", float(AGES.mean()))
    yield compare_printed(
        run, "lab.masking.deviation_of_ages_population", "15.789", float(AGES.std())
    )
    yield compare_printed(
        run, "lab.masking.deviation_of_ages_sample", "16.643", float(AGES.std(ddof=1))
    )
    counts = apply_method(PROVINCE, MEDICAL, "postcode")["postcode"].value_counts().sort("postcode")
    found = ", ".join(f"{code[:2]}: {count}" for code, count in counts.iter_rows())
    yield compare_equal(run, "lab.masking.records_by_province", "08: 4, 17: 2, 25: 2, 43: 2", found)


def _noise() -> Iterator[Row]:
    run = Message("lab.masking.t6_noise_on_age")
    masked = np.array(NOISY, dtype=np.float64)
    noise = masked - AGES
    cell, drawn = Message("lab.masking.ages_as_printed"), Message("lab.not_run.drawn")
    yield Row(run, cell, _listed(NOISY), None, not_run=drawn)
    yield compare_printed(run, "lab.masking.mean_noise", "1.2", float(noise.mean()))
    yield compare_printed(run, "lab.masking.mean_age", "41.1", float(masked.mean()))
    yield compare_printed(run, "lab.masking.deviation_of_the_noise", "6.226", float(noise.std()))
    yield compare_printed(
        run, "lab.masking.the_same_over_that_of_ages", "0.39", float(noise.std() / AGES.std())
    )
    yield compare_printed(
        run, "lab.masking.correlation_with_the_original", "0.919", _correlation(masked)
    )
    link = distance_linkage(align({"age": AGES}, {"age": masked}))
    right = (np.flatnonzero(link.chances == 1) + 1).tolist()
    yield compare_equal(
        run, "lab.masking.records_linked_by_the_nearest_age", "{1,4,6,9}", format_groups([right])
    )
    yield compare_equal(run, "lab.masking.share_linked_dld", 0.4, link.share)
    still = EquivalenceClasses.of(MEDICAL.with_columns(pl.Series("age", NOISY)), KEYS, "illness").k
    yield compare_equal(run, "lab.masking.k_postcodes_being_as_they_were", 1, still)


def _groups() -> Iterator[Row]:
    run = Message("lab.masking.t7_groups_of_two_ages")
    exact = apply_method(Microaggregation(k=2), MEDICAL, "age")["age"]
    yield compare_equal(
        run,
        "lab.masking.means",
        "21.5 27 39.5 46.5 65",
        " ".join(f"{each:g}" for each in sorted(set(exact))),
    )
    yield compare_printed(run, "lab.masking.mean_age", "39.9", float(exact.to_numpy().mean()))
    cut = apply_method(Microaggregation(k=2, truncate=True), MEDICAL, "age")["age"].to_list()
    yield compare_equal(
        run,
        "lab.masking.as_printed_means_cut_erratum_3",
        _listed(AVERAGED),
        _listed(cut),
        kind=None,
        wrong=Message("lab.wrong.means_cut"),
    )
    yield compare_printed(
        run, "lab.masking.mean_age_as_printed_erratum_3", "39.6", float(np.mean(AVERAGED))
    )
    yield compare_equal(run, "SST", 2492.9, float(AGES.var() * AGES.size))
    yield compare_printed(
        run,
        "lab.masking.loss_100_sse_sst",
        "5.435",
        information_loss(AGES, optimal_groups(AGES, 2)),
    )
    link = distance_linkage(align({"age": AGES}, {"age": exact.to_numpy()}))
    yield compare_equal(run, "lab.masking.share_linked_one_of_two", 0.5, link.share)
    still = EquivalenceClasses.of(MEDICAL.with_columns(exact), KEYS, "illness").k
    yield compare_equal(run, "lab.masking.k_postcodes_being_as_they_were", 1, still)
    for k, best, groups in (
        (2, "135.5", "{21,22} {25,29} {36,43} {45,48} {58,72}"),
        (3, "374.083", "{21,22,25,29} {36,43,45} {48,58,72}"),
        (4, "724", "{21,22,25,29,36} {43,45,48,58,72}"),
        (5, "724", "{21,22,25,29,36} {43,45,48,58,72}"),
    ):
        labels = optimal_groups(AGES, k)
        yield compare_printed(
            Message("lab.masking.ages_k", k=k), "lab.masking.least_sse", best, _squares(labels)
        )
        yield compare_equal(
            Message("lab.masking.ages_k", k=k), "lab.masking.best_groups", groups, _by_age(labels)
        )
    for k, near, groups in (
        (2, "135.5", "{21,22} {25,29} {36,43} {45,48} {58,72}"),
        (3, "458.083", "{21,22,25} {29,36,43,45} {48,58,72}"),
        (4, "818.083", "{21,22,25,29,36,43} {45,48,58,72}"),
    ):
        labels = mdav_groups(AGES[:, np.newaxis], k)
        yield compare_printed(
            Message("lab.masking.ages_k", k=k), "lab.masking.sse_of_mdav", near, _squares(labels)
        )
        yield compare_equal(
            Message("lab.masking.ages_k", k=k),
            "lab.masking.groups_of_mdav",
            groups,
            _by_age(labels),
        )


def _swaps() -> Iterator[Row]:
    """With a window of one rank and an even number of records the pairs are forced."""
    run = Message("lab.masking.t8_ages_swapped_with_their_neighbours")
    found = apply_method(RankSwap(window=1), MEDICAL, "age")["age"].to_list()
    yield compare_equal(
        run,
        "lab.masking.ages_a_window_of_two_positions",
        _listed(SWAPPED),
        _listed(found),
        kind=None,
    )
    yield compare_equal(
        run, "lab.masking.the_values_as_a_whole", _listed(sorted(AGES)), _listed(sorted(found))
    )
    ranks = np.abs(np.argsort(np.argsort(found)) - np.argsort(np.argsort(AGES)))
    yield compare_equal(
        run,
        "lab.masking.ranks_that_each_age_moved",
        Message("lab.masking.1_to_1"),
        Message("lab.masking.to", ranks=ranks.min(), ranks2=ranks.max()),
    )
    yield compare_printed(
        run, "lab.masking.correlation_with_the_original", "0.891", _correlation(np.array(found))
    )
    still = EquivalenceClasses.of(MEDICAL.with_columns(pl.Series("age", found)), KEYS, "illness").k
    yield compare_equal(run, "lab.masking.k_postcodes_being_as_they_were", 1, still)


def _recoded() -> pl.DataFrame:
    return apply_method(RANGES, apply_method(PROVINCE, MEDICAL, "postcode"), "age")


def _ranges() -> Iterator[Row]:
    run = Message("lab.masking.t9_provinces_and_ranges")
    found = _recoded()
    for name in ("postcode", "age"):
        yield compare_equal(run, name, _listed(RECODED[name]), _listed(found[name]), kind=None)
    crowds = EquivalenceClasses.of(found, KEYS, "illness")
    yield compare_equal(run, "k", 1, crowds.k)
    yield compare_equal(run, "lab.masking.classes", 7, len(crowds.members))
    yield compare_equal(
        run, "lab.masking.unique_records", "{4,8,9,10}", format_groups([sorted(crowds.unique)])
    )
    identity, _ = _attack(found, gender="F", postcode="43***", age="[20,30)")
    yield compare_equal(
        run, "lab.masking.records_that_f_43840_22_may", 1, round(1 / identity.greatest)
    )
    without = EquivalenceClasses.of(found, ("postcode", "age"), "illness")
    yield compare_equal(run, "lab.masking.k_without_gender", 2, without.k)


def _anonymous() -> Iterator[Row]:
    """Provinces; genders where they are rare; mean ages within what is then alike."""
    run = Message("lab.masking.t10_2_anonymous")
    recoded = apply_method(PROVINCE, MEDICAL, "postcode")
    hiding = LocalSuppression(k=2, marker="*", weights={"postcode": 2.0})
    hidden = apply_method(hiding, recoded, "postcode", "gender")
    alike = hidden.with_columns(pl.concat_str("postcode", "gender").alias("class"))
    found = apply_method(Microaggregation(k=2, by="class"), alike, "age")
    for name in ("postcode", "gender", "age"):
        yield compare_equal(run, name, _listed(ANONYMOUS[name]), _listed(found[name]), kind=None)
    crowds = EquivalenceClasses.of(found, KEYS, "illness")
    yield compare_equal(run, "k", 2, crowds.k, kind=None)
    yield compare_equal(
        run, "lab.masking.classes", "{1,3} {2,5} {4,10} {6,7} {8,9}", format_groups(crowds.members)
    )
    yield compare_equal(run, "lab.masking.distinct_l", 2, min(crowds.distinct))
    for group, text, apart in zip(
        crowds.members, ("0.4", "0.6", "0.4", "0.5", "0.5"), crowds.distances, strict=True
    ):
        yield compare_printed(
            run,
            Message("lab.masking.t_of_class", format_groups=format_groups([group])),
            text,
            apart,
        )
    yield compare_printed(run, "t", "0.6", max(crowds.distances))
    yield compare_equal(run, "DM", 20, crowds.discernibility)
    yield compare_equal(
        run, "lab.masking.genders_suppressed", 4, int((found["gender"] == "*").sum())
    )
    ages = found["age"].to_numpy()
    yield compare_printed(run, "lab.masking.mean_age", "39.9", float(ages.mean()))
    squares = float(((ages - AGES) ** 2).sum())
    yield compare_printed(run, "SSE", "163.5", squares)
    yield compare_printed(
        run, "lab.masking.loss_100_sse_sst", "6.559", 100 * squares / float(AGES.var() * AGES.size)
    )
    yield from _attacks_on(run, found)


def _attacks_on(run: str, found: pl.DataFrame) -> Iterator[Row]:
    identity, illness = _attack(found, gender="M", postcode="08242")
    yield compare_equal(
        run, "lab.masking.records_that_m_08242_21_may", 2, round(1 / identity.greatest)
    )
    cell = "lab.masking.chance_of_the_right_one"
    yield compare_equal(run, cell, 0.5, identity.greatest, kind=None)
    yield compare_equal(
        run, "lab.masking.surest_guess_of_the_illness_cancer", 0.5, illness.greatest
    )
    identity, _ = _attack(found, gender="F", postcode="43840")
    yield compare_equal(
        run, "lab.masking.records_that_f_43840_22_may", 2, round(1 / identity.greatest)
    )


def _attack(frame: pl.DataFrame, **known: object) -> Sequence[attacks.Attack]:
    """Whoever knows these values of one person looks them up."""
    schema = Schema.of(
        quasi_identifiers={"postcode": Mask(levels=(3,)), "gender": Mask()},
        other_columns="insensitive",
    )
    # Released labels are read by the original values where these are known as they are.
    raw = "*" not in str(known.get("postcode"))
    reading = meanings(schema, original=MEDICAL) if raw else {}
    person = pl.DataFrame({name: [value] for name, value in known.items()})
    return attacks.linkage(
        frame,
        person,
        on=list(known),
        learns="illness",
        meanings=reading,
    )


def _squares(labels: NDArray[np.int64]) -> float:
    return squared_error(AGES[:, np.newaxis], labels)


def _by_age(labels: NDArray[np.int64]) -> str:
    groups = [sorted(AGES[labels == each].astype(int).tolist()) for each in np.unique(labels)]
    return format_groups(sorted(groups))


def _correlation(masked: NDArray[np.float64]) -> float:
    return float(np.corrcoef(AGES, masked)[0, 1])


def _listed(values: Sequence[object] | pl.Series) -> str:
    return " ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in values)
