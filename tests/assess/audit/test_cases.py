"""Every mechanism that ships is audited, keeps its promise, and is audited with open eyes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

import celosia.mechanisms
from celosia.assess.audit import SHIPPED, Case, audit, audit_all, document
from celosia.assess.audit.cases import EntrywiseMechanism
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.mechanisms.additive.laplace import Geometric, Laplace
from celosia.mechanisms.mechanism import Mechanism
from celosia.mechanisms.statistics.key_histogram import KeyHistogram

pytestmark = pytest.mark.statistical

AT_ONCE = [case for case in SHIPPED if case.at_once]
ONE_BY_ONE = [case for case in SHIPPED if not case.at_once]


def test_every_mechanism_that_ships_has_a_case() -> None:
    found = set()
    for module in pkgutil.walk_packages(celosia.mechanisms.__path__, "celosia.mechanisms."):
        for _, thing in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            ours = issubclass(thing, Mechanism) and thing.__module__.startswith(
                "celosia.mechanisms."
            )
            if ours and not inspect.isabstract(thing):
                found.add(thing)
    assert found - {type(case.mechanism) for case in SHIPPED} == set()


@pytest.mark.parametrize("case", AT_ONCE, ids=str)
def test_noise_and_responses_keep_their_promise_and_little_more(case: Case) -> None:
    found = case.audit(samples=200_000, confidence=0.9999, rng=Seeded(31))
    assert found.verdict == "consistent", found
    assert found.reach is not None
    assert found.reach >= 0.7, found


@pytest.mark.parametrize("case", ONE_BY_ONE, ids=str)
def test_the_others_keep_their_promise(case: Case) -> None:
    one = replace(case, pairs=case.pairs[:1])
    found = one.audit(samples=300, confidence=0.9999, rng=Seeded(32))
    assert found.verdict == "consistent", found


def test_an_audit_of_all_shares_the_error_out() -> None:
    steps: list[Step] = []
    found = audit_all(2000, rng=Seeded(33), cases=AT_ONCE[:3], progress=steps.append)
    assert [audit.verdict for audit in found] == ["consistent"] * 3
    assert {audit.confidence for audit in found} == {0.999}
    assert [step.done for step in steps] == [0, 1, 2]
    alone = AT_ONCE[0].audit(samples=2000, confidence=1 - 0.001 / 3, rng=Seeded(33))
    assert found[0].lower == alone.lower


@pytest.mark.parametrize(
    "mechanism",
    [Laplace(epsilon=1, sensitivity=1, grid=None), Geometric(epsilon=1)],
    ids=str,
)
def test_outputs_drawn_at_once_have_the_law_of_single_ones(
    mechanism: Mechanism[object, object],
) -> None:
    rng = Seeded(34)
    one_by_one = np.array([mechanism.release(1, rng=rng) for _ in range(2000)], dtype=float)
    at_once = np.asarray(EntrywiseMechanism(mechanism).draw(1, rng, 20_000), dtype=float)
    # The parts hold 1/8 each by the large sample; its own error adds a tenth to the variance.
    edges = np.quantile(at_once, np.arange(1, 8) / 8)
    large = np.bincount(np.searchsorted(edges, at_once, side="left"), minlength=8) / at_once.size
    small = np.bincount(np.searchsorted(edges, one_by_one, side="left"), minlength=8)
    held = large > 0
    assert small[~held].sum() == 0
    assert chisquare(small[held], large[held] * one_by_one.size).statistic / 1.1 < 24.3  # 0.1 %


def test_noise_of_half_the_scale_is_found_under_the_old_claim() -> None:
    half = EntrywiseMechanism(Laplace(epsilon=2, sensitivity=1))
    honest = Laplace(epsilon=1, sensitivity=1).privacy_loss()
    assert audit(half, 0.0, 1.0, claim=honest, rng=Seeded(35)).verdict == "violated"


def test_a_threshold_of_keys_that_is_too_low_is_found() -> None:
    keys = KeyHistogram(epsilon=1, delta=0.05, may_be_empty=True)
    delta = keys.failure(keys.threshold)
    right = audit(keys, [], ["new"], samples=8000, rng=Seeded(36))
    assert right.verdict == "consistent"
    low = audit(keys, [], ["new"], claim=(1, 0.5 * delta), samples=8000, rng=Seeded(36))
    assert low.verdict == "violated"


def test_the_report_shows_claims_beside_bounds() -> None:
    audits = audit_all(1000, rng=Seeded(37), cases=AT_ONCE[:2])
    wrong = audit(
        EntrywiseMechanism(Geometric(epsilon=3)),
        0,
        1,
        claim=0.5,
        samples=5000,
        rng=Seeded(38),
        name="<b>",
    )
    page = document((*audits, wrong)).html()
    assert "Epsilon claimed and epsilon shown" in page
    assert "violated" in page
    assert "&lt;b&gt;" in page
    assert "<b>:" not in page
    assert str(audits[0]).startswith("Laplace(epsilon=1, sensitivity=1): consistent; epsilon is")
