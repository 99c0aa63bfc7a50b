"""Simulated collections: every protocol, the published settings, trends, and repeatability."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from tests.english_words import english_words

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.simulation import report as simulation_report
from celosia.collect.simulation.protocol_fit import NAMES, fit_protocol
from celosia.collect.simulation.run import simulate
from celosia.core.errors import Cancelled, InputError
from celosia.core.messages import Message, speaking
from celosia.core.progress import Step
from celosia.datasets import telemetry as data

EXPONENTIAL = data.values_of(data.EXPONENTIAL_50K)
WORDS = data.anglicisms(20_000, seed=3)["value"].to_list()


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_can_be_simulated_and_its_errors_are_those_predicted(name: str) -> None:
    values = WORDS if name in ("sfp", "pem", "treehist") else EXPONENTIAL[::5]
    found = simulate(values, protocol=fit_protocol(name, values, epsilon=8), seed=7)
    assert found.users == len(values)
    assert found.elements
    assert found.timing.report_bits > 0
    assert found.timing.client_us is not None
    assert found.predicted_rmse is not None
    # A squared normal is above 4.5^2 with a chance of 7e-6, and a mean of them less often.
    assert found.pooled_rmse < 4.5 * found.predicted_rmse
    page = simulation_report.document(found).html()
    assert "no privacy is protected here" in page
    told = found.as_dict()
    assert told["simulation"] is True
    assert len(told["elements"]) == len(found.elements)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        (CountMean(epsilon=2, hashes=16, width=16), 1577),
        (CountMean(epsilon=2, hashes=1024, width=16), 306),
        (HadamardCountMean(epsilon=2, hashes=1024, width=16), 365),
        (HadamardCountMean(epsilon=2, hashes=1024, width=1024), 291),
        (DBitFlip(epsilon=2, buckets=21, bits=21), 215),
    ],
)
def test_predicted_errors_are_those_of_the_specification_and_runs_agree(
    protocol: Any, expected: float
) -> None:
    found = simulate(EXPONENTIAL[:], protocol=protocol, seed=1, runs=6)
    assert found.predicted_rmse == pytest.approx(expected, rel=0.005)
    # 126 squared errors; common hash functions make those of one run alike, hence the factor 2.
    assert abs(found.pooled_rmse / expected - 1) < 4 * 2 / sqrt(2 * 126)


def test_correlation_is_high_where_it_is_aligned() -> None:
    for hashes, width in ((128, 64), (1024, 256)):
        protocol = CountMean(epsilon=2, hashes=hashes, width=width)
        found = simulate(EXPONENTIAL, protocol=protocol, seed=2)
        assert found.metrics.pearson is not None
        assert found.metrics.pearson >= 0.99


def test_the_percentage_of_errors_is_small_for_many_users() -> None:
    values = data.normal(60_000, seed=4)["value"]
    found = simulate(values, protocol=CountMean(epsilon=4, hashes=1024, width=256), seed=4)
    assert found.metrics.percent_error is not None
    assert found.metrics.percent_error <= 0.2


def test_errors_fall_with_epsilon_with_hashes_and_as_a_share_with_users() -> None:
    def error(rows: int, **words: Any) -> float:
        values = data.exponential(rows, seed=6)["value"]
        sizes = {"epsilon": 2, "hashes": 64, "width": 64} | words
        found = simulate(values, protocol=CountMean(**sizes), seed=6, runs=30, aggregate=True)
        return found.pooled_rmse / rows

    usual = error(50_000)
    assert error(50_000, epsilon=0.5) > 2 * usual
    assert error(5_000) > 1.5 * usual
    assert error(50_000, hashes=4, width=16) > 2 * usual


def test_reports_and_aggregates_have_the_same_law() -> None:
    protocol = CountMean(epsilon=2, hashes=64, width=32)
    real = simulate(EXPONENTIAL, protocol=protocol, seed=8, runs=12)
    drawn = simulate(EXPONENTIAL, protocol=protocol, seed=8, runs=60, aggregate=True)
    assert real.predicted_rmse == drawn.predicted_rmse
    for found in (real, drawn):
        assert abs(found.pooled_rmse / real.predicted_rmse - 1) < 0.25  # type: ignore[operator]
    assert Message("collect.note.aggregate") in drawn.notes
    assert drawn.timing.client_us is None
    assert drawn.timing.aggregate_ms is not None
    with pytest.raises(InputError) as error:
        simulate(EXPONENTIAL, protocol=HadamardCountMean(epsilon=2), aggregate=True)
    assert error.value.code == "CEL-R016"


def test_a_seed_gives_the_same_simulation() -> None:
    protocol = HadamardCountMean(epsilon=1)
    first, second = (simulate(WORDS, protocol=protocol, seed=5, runs=2) for _ in range(2))
    assert replace(first, timing=second.timing) == second
    other = simulate(WORDS, protocol=protocol, seed=6, runs=2)
    assert other.elements != first.elements


def test_it_is_said_when_the_values_asked_about_are_those_of_the_data() -> None:
    protocol = HadamardCountMean(epsilon=4)
    assert Message("collect.note.from_data") in simulate(WORDS, protocol=protocol, seed=1).notes
    given = simulate(WORDS, protocol=protocol, candidates=["cool", "kaput"], seed=1)
    assert given.notes == ()
    assert [each.value for each in given.elements] == ["cool", "kaput"]
    assert given.elements[1].real == 0
    assert given.elements[1].relative_error is None
    found = simulate(WORDS, protocol=fit_protocol("sfp", WORDS, epsilon=8), seed=1)
    assert found.found
    assert Message("collect.note.found") in found.notes
    assert {each.value for each in found.elements} >= {"cool", "brunch", "outfit"}


def test_texts_are_compared_as_a_fragment_puzzle_tells_them() -> None:
    values = ["celosia argentea"] * 3000 + ["azul "] * 2000
    found = simulate(values, protocol=fit_protocol("sfp", values, epsilon=16), seed=1)
    assert {(each.value, each.real) for each in found.elements} == {
        ("celosia ar", 3000),
        ("azul", 2000),
    }


def test_more_candidates_than_bits_are_selected_from() -> None:
    protocol = fit_protocol("rappor", WORDS, epsilon=8, settings={"bits": 32, "cohorts": 8})
    found = simulate(WORDS[:8000], protocol=protocol, seed=1)
    assert len(found.elements) > 256
    assert all(np.isfinite(each.error) for each in found.elements)
    assert found.metrics.top_precision >= 0.9
    assert Message("collect.note.selected") in found.notes


def test_buckets_get_the_names_of_their_values_again() -> None:
    values = ["red"] * 900 + ["blue"] * 90 + ["green"] * 10
    found = simulate(values, protocol=fit_protocol("dbitflip", values, epsilon=64), seed=1)
    assert [(each.value, round(each.estimated)) for each in found.elements] == [
        ("red", 900),
        ("blue", 90),
        ("green", 10),
    ]
    numbers = np.array([3, 3, 7])
    kept = simulate(numbers, protocol=DBitFlip(epsilon=64, buckets=8, bits=8), seed=1)
    assert [(each.value, round(each.estimated)) for each in kept.elements] == [(3, 2), (7, 1)]


def test_a_mean_is_compared_with_that_of_values_within_the_range() -> None:
    found = simulate([0.0, 1.0, 50.0], protocol=OneBitMean(epsilon=1, lower=0, upper=5), seed=1)
    assert found.is_mean
    assert found.elements[0].real == 2
    assert found.metrics.percent_error is None
    assert found.predicted_rmse == pytest.approx(sqrt(OneBitMean(epsilon=1, upper=5).variance(3)))


def test_nothing_to_simulate_and_values_beyond_the_domain_are_refused() -> None:
    protocol = KaryResponse(epsilon=1, domain=("a", "b"))
    for words, code in (
        ({"values": []}, "CEL-R100"),
        ({"values": ["a"], "runs": 0}, "CEL-R100"),
        ({"values": ["a", "planted-7391"]}, "CEL-R051"),
        ({"values": ["a"], "post": "magic"}, "CEL-R005"),
    ):
        with pytest.raises(InputError) as error:
            simulate(**words, protocol=protocol)
        assert error.value.code == code
        assert "planted" not in str(error.value)
    for name, settings in (("hcms", {"hashse": 3}), ("rappor", {"f": 0.5})):
        with pytest.raises(InputError) as error:
            fit_protocol(name, ["a", "b"], epsilon=1, settings=settings)
        assert error.value.code == "CEL-I062"
    with pytest.raises(InputError) as error:
        fit_protocol("nothing", ["a", "b"], epsilon=1)
    assert error.value.code == "CEL-I061"


def test_what_a_protocol_wants_to_know_is_taken_from_the_data() -> None:
    made = fit_protocol("pem", [3, 200], epsilon=1).parameters()
    assert (made["bits"], made["method"]) == (8, "pem")
    text = fit_protocol("treehist", ["añb", "c"], epsilon=1).parameters()
    assert (text["alphabet"], text["length"], text["method"]) == ("abcñ", 3, "treehist")
    assert fit_protocol("one-bit-mean", np.array([2, 9]), epsilon=1).parameters()["upper"] == 9
    assert fit_protocol("sfp", ["Año"], epsilon=4).parameters()["alphabet"].startswith("Añ")
    rappor = fit_protocol("rappor", ["a"], epsilon=2, settings={"hashes": 1, "lasting": 6})
    assert float(rappor.epsilon) == pytest.approx(2)
    assert rappor.lasting_epsilon == pytest.approx(6)
    sized = fit_protocol("cms", ["a"], epsilon=2, settings={"hashes": 7, "width": 9, "key": "here"})
    assert sized.parameters()["hashes"] == 7


def test_a_simulation_can_be_stopped() -> None:
    seen = []

    def stop(step: Step) -> None:
        seen.append(step)
        if len(seen) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        simulate(EXPONENTIAL, protocol=HadamardCountMean(epsilon=1), runs=3, progress=stop)
    assert seen[0].stage == "Reporting (1 of 3)"


def test_the_report_of_a_simulation_speaks_spanish() -> None:
    found = simulate(["a"] * 900 + ["b"] * 100, protocol=CountMean(epsilon=8), seed=1)
    with speaking("es"):
        page = simulation_report.document(found)
    assert english_words(page) == set()
