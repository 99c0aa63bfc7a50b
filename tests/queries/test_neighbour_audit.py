"""The neighbour audit: every kind of question is planned, and a broken one is caught."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.effort import some

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.queries import neighbour_audit
from celosia.queries.neighbour_audit import SHAPES, audit_queries, plan_shape
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.plan import Plan


def test_every_kind_of_question_has_a_plan() -> None:
    assert all(plan_shape(query).epsilon == 1 for query in SHAPES.values())
    assert len(SHAPES) >= 35


@pytest.mark.parametrize("name", some(SHAPES, 2))
def test_an_answer_shows_no_more_of_a_patient_than_was_charged(name: str) -> None:
    """A sound one is called violated with a chance of 1 in 1,000."""
    (found,) = audit_queries([name], runs=200, rng=Seeded(5))
    assert found.verdict == "consistent"


def test_noise_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tenth of the noise 400 answers are enough to tell the databases apart."""

    def weakened(query: str) -> Plan:
        plan = plan_shape(query)
        (step,) = plan.steps
        assert isinstance(step, LaplaceStep)
        return replace(plan, steps=(replace(step, epsilon=10 * step.epsilon),))

    monkeypatch.setattr(neighbour_audit, "plan_shape", weakened)
    (found,) = audit_queries(["mean per person"], runs=400, rng=Seeded(5))
    assert found.verdict == "violated"


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'left join'"):
        audit_queries(["left joins"])
