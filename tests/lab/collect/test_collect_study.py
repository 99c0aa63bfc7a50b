"""The study of local privacy (specification, section 8), on some lines of each table."""

from __future__ import annotations

from math import isclose, sqrt
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from celosia import lab
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.core.errors import Cancelled
from celosia.core.progress import Step, silent
from celosia.core.randomness import Seeded
from celosia.lab.collect import (
    aggregates,
    count_mean,
    dbitflip,
    hadamard,
    identities,
    publication,
    puzzle,
    rappor,
)
from celosia.lab.collect.broken import BrokenHalfDebias
from celosia.lab.collect.law import ErrorLaw, compare_among, correlation_floor, pooled_rmse, rmse
from celosia.lab.findings import Row

LINES = {
    **{"count_mean": 20, "hadamard": 20, "count_mean_epsilon": 9, "hadamard_epsilon": 9},
    **{"report_bytes": 5, "sketch_users": 11, "puzzle": 34, "puzzle_top": 14, "rappor": 20},
    **{"rappor_users": 11, "rappor_chances": 60, "dbitflip": 56, "dbitflip_users": 11},
}
QUICK = {
    **{"count_mean": (0, 11), "count_mean_epsilon": (3, 8), "hadamard": (3, 8)},
    **{"hadamard_epsilon": (0, 3, 8), "puzzle": (0, 6, 7), "puzzle_top": (0, 12)},
    **{"rappor": (0, 2, 10, 12), "rappor_chances": (16, 54), "rappor_users": (0, 10)},
    **{"dbitflip": (0, 16, 48, 55)},
}
"""Lines that the suite computes: large and small ones, and those that are wrong in some way."""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = publication.table

    def table(name: str) -> list[publication.Line]:
        lines = whole(name)
        return [lines[place] for place in QUICK.get(name, range(len(lines)))]

    for module in (publication, puzzle, rappor):
        monkeypatch.setattr(module, "table", table)
    for module in (count_mean, hadamard, puzzle, rappor):
        monkeypatch.setattr(module, "RUNS", 5)
    monkeypatch.setattr(dbitflip, "REAL", ())
    monkeypatch.setattr(puzzle, "_slow", list)
    monkeypatch.setattr(rappor, "_times", list)


PARAMETERS = {
    *("hashes", "width", "fragment_hashes", "fragment_width", "bits", "epsilon", "users", "top"),
    *("f", "p", "q"),
}
OURS = {"theory", "one"}
"""Columns that were added for this study."""


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("part", "cells", "tables"),
    [
        (count_mean, 73, "count_mean count_mean_epsilon"),
        (hadamard, 82, "hadamard hadamard_epsilon"),
        (puzzle, 43, "puzzle puzzle_top"),
        (rappor, 67, "rappor rappor_chances rappor_users"),
        (dbitflip, 70, "dbitflip dbitflip_users"),
    ],
    ids=["cms", "hcms", "sfp", "rappor", "dbitflip"],
)
@pytest.mark.usefixtures("few")
def test_some_lines_of_every_part_are_reproduced(part: ModuleType, cells: int, tables: str) -> None:
    found: list[Row] = part.rows(silent)
    assert [str(row) for row in found if row.differs] == []
    assert len({(row.run, row.cell) for row in found}) == len(found) == cells
    published = {row.published for row in found}
    for line in (line for name in tables.split() for line in publication.table(name)):
        for column in line.keys() - PARAMETERS - OURS:
            assert float(line[column]) in published, (column, line)


@pytest.mark.parametrize(("name", "lines"), LINES.items())
def test_all_printed_lines_are_there(name: str, lines: int) -> None:
    found = publication.table(name)
    assert len(found) == lines
    assert all(None not in line and None not in line.values() for line in found)


def test_wrong_cells_are_named_as_wrong() -> None:
    lines = publication.table("hadamard")[:1]
    found = identities.identities("x", lines[0], users=50_000, spread=19_650)
    assert any("C-18a" in row.cell for row in found)
    told = " ".join(study.rules for study in lab.studies() if study.name == "collect")
    assert "named as wrong" in told
    assert {study.name for study in lab.studies()} >= {
        "collect",
        *(f"collect/{part}" for part in ("cms", "hcms", "sfp", "rappor", "dbitflip")),
    }


@pytest.mark.parametrize("column", ["percent", "rmse", "nmse", "nrmse"])
def test_a_changed_digit_is_noticed(column: str) -> None:
    line = dict(publication.table("count_mean")[0])
    line[column] = f"{float(line[column]) + 0.1:.2f}"
    rows = list(identities.identities("x", line, users=50_000, spread=19_650))
    # A percentage and its mean, a root and its square, are checked against each other.
    assert [row.matches for row in rows].count(False) == 1 + (column in {"percent", "rmse"})


def test_a_misprint_that_is_none_is_noticed() -> None:
    line = publication.table("count_mean")[0]
    (run, *_) = identities.MISPRINTS
    rows = list(identities.identities(run, line, users=50_000, spread=19_650))
    assert not any(row.matches for row in rows)


@pytest.mark.parametrize("name", ["count_mean", "dbitflip"])
def test_every_printed_correlation_that_can_be_refuted_is(name: str) -> None:
    counts = (
        publication.EXPONENTIAL_50 if name == "count_mean" else publication.exponential_counts()
    )
    rows = [
        row for line in publication.table(name) for row in identities.correlation("x", line, counts)
    ]
    assert len(rows) >= 20
    assert not any(row.differs for row in rows)
    assert sum(row.matches is True for row in rows) >= 20
    right = dict(publication.table(name)[-1], pearson="1.0000")
    (row,) = identities.correlation("x", right, counts)
    assert not row.matches


Small = arrays(np.float64, 8, elements=st.floats(-50, 50))


@given(arrays(np.int64, 8, elements=st.integers(0, 1000)), Small)
def test_no_correlation_is_below_the_floor_of_its_mse(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]],
    errors: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    floor = correlation_floor(float(np.mean(errors**2)), counts)
    guess = counts + errors
    if floor > 0 and np.std(guess) > 1e-6:
        assert float(np.corrcoef(counts, guess)[0, 1]) >= floor - 1e-9


def test_the_law_of_equal_variances_is_that_of_chi_squared() -> None:
    law = ErrorLaw(np.full(21, 9.0))
    assert isclose(law.rmse, 3)
    assert isclose(law.spread, 1 / sqrt(42))
    assert isclose(law.mean_spread, 0.7555 / sqrt(21), rel_tol=1e-3)
    biased = ErrorLaw(np.full(21, 9.0), np.full(21, 4.0))
    assert isclose(biased.rmse, 5)


@pytest.mark.statistical
@pytest.mark.parametrize(("hashes", "width"), [(16, 16), (16, 256), (128, 64)])
def test_errors_of_runs_spread_as_the_law_says(hashes: int, width: int) -> None:
    counts, runs = publication.EXPONENTIAL_50, 400
    protocol = CountMean(epsilon=2, hashes=hashes, width=width)
    drawn, law = publication.generator(Seeded(3)), count_mean.law(protocol, counts)
    squares = np.array(
        [rmse(aggregates.count_mean(protocol, counts, drawn), counts) ** 2 for _ in range(runs)]
    )
    assert law.of_runs("r", "c", np.sqrt(squares).tolist()).matches
    for wrong in (0.8, 1.25):
        assert not law.of_runs("r", "c", (wrong * np.sqrt(squares)).tolist()).matches
    # The deviation of 400 heavy-tailed squares is known to some 20 %.
    assert isclose(float(np.std(squares)) / (2 * law.rmse**2), law.spread, rel_tol=0.3)


@pytest.mark.statistical
def test_aggregates_of_sketches_have_the_errors_of_real_reports() -> None:
    counts = np.array([900, 500, 100, 0])
    drawn, real, runs = publication.generator(Seeded(5)), [], 150
    ours = []
    for run in range(runs):
        protocol = CountMean(epsilon=1, hashes=8, width=8, key=f"k{run}")
        ours.append(rmse(aggregates.count_mean(protocol, counts, drawn), counts))
        real.append(rmse(count_mean.real_run(protocol, counts, run), counts))
    law = count_mean.law(protocol, counts)
    assert law.of_runs("r", "c", ours).matches
    assert law.of_runs("r", "c", real).matches


@pytest.mark.statistical
def test_aggregates_of_bits_have_the_mean_and_variance_of_the_protocol() -> None:
    protocol, counts = DBitFlip(epsilon=2, buckets=5, bits=2), np.array([700, 200, 90, 10, 0])
    drawn, runs = publication.generator(Seeded(6)), 4000
    found = np.stack([aggregates.dbitflip(protocol, counts, drawn) for _ in range(runs)])
    law = dbitflip.law(protocol, counts)
    errors = np.sqrt(law.variances / runs)
    assert np.all(np.abs(found.mean(axis=0) - counts) < 5 * errors)
    # A variance of 4,000 normal numbers is known to sqrt(2 / 4000) = 2.2 %.
    assert np.allclose(found.var(axis=0), law.variances, rtol=5 * 0.0224)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_fault_of_the_tables_is_that_of_another_constant(epsilon: float) -> None:
    counts = publication.NORMAL_200
    protocol = HadamardCountMean(epsilon=epsilon, hashes=16, width=64)
    right = hadamard.estimates(protocol, counts, 7)
    broken = BrokenHalfDebias(epsilon=epsilon)
    wrong = broken.spoiled(right, 64, counts)
    shift = (broken.factor - 1) * counts.sum() / 63
    assert np.allclose(wrong, broken.factor * right + shift, rtol=1e-9)
    known = {0.5: 0.97, 2.0: 0.648, 4.0: 0.266}[epsilon]
    assert isclose(broken.factor - 1, known, abs_tol=5e-4)


@pytest.mark.parametrize(
    ("width", "published", "simulated"), [(16, 5727, 5747), (256, 3727, 3641), (1024, 3482, 3514)]
)
def test_errors_of_the_fault_are_those_of_an_independent_simulation(
    width: int, published: float, simulated: float
) -> None:
    protocol = HadamardCountMean(epsilon=2, hashes=16, width=width)
    law = hadamard.faulty(protocol, publication.EXPONENTIAL_50)
    for known in (published, simulated):
        assert abs(known / law.rmse - 1) < 4 * law.spread
    assert hadamard.law(protocol, publication.EXPONENTIAL_50).rmse < law.rmse / 3


def test_a_published_run_beyond_ours_is_noticed() -> None:
    ours = [10.0, 11.0, 9.0, 10.5, 9.5, 10.2]
    assert compare_among("r", "c", "10.4", ours).matches
    assert not compare_among("r", "c", "20.0", ours).matches
    assert isclose(pooled_rmse([3.0, 4.0]), sqrt(12.5))


def test_expected_values_are_those_of_the_published_table() -> None:
    counts = publication.exponential_counts()
    assert counts.sum() == 500_000
    assert counts.size == 26
    # The sampling error of the largest count is sqrt(500,000 * 0.39 * 0.61) = 345.
    assert abs(int(np.ptp(counts)) - publication.MANY_RANGE) < 4 * 345
    assert publication.normal_counts(200_000) is publication.NORMAL_200
    for users in (50, 1_000_000):
        drawn = publication.normal_counts(users)
        assert drawn.sum() == users
        assert drawn.min() > 0
    assert len(set(publication.keys("a", 3))) == 3


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (3.0, 1.0), (1.0, 2.0)])
def test_absolute_values_of_normal_numbers_have_the_folded_law(
    mean: float, deviation: float
) -> None:
    drawn = np.abs(publication.generator(Seeded(8)).normal(mean, deviation, 200_000))
    means, deviations = hadamard.fold(np.array([mean]), np.array([deviation]))
    assert abs(float(means[0]) - drawn.mean()) < 5 * float(deviations[0]) / sqrt(200_000)
    assert isclose(float(deviations[0]), drawn.std(), rel_tol=0.02)


def test_the_study_can_be_stopped() -> None:
    def stop(step: Step) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        lab.find("collect").run(progress=stop)
