"""The figures and the report of what an epsilon means and what several cost."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.english_words import english_words

from celosia.accounting import GaussianLoss, Loss, PureLoss, belief_table, explain
from celosia.accounting.report import belief_figure, document
from celosia.core.errors import InputError
from celosia.core.messages import speaking


def page(releases: list[tuple[str, Loss, int]], delta: float = 1e-6) -> str:
    losses = [loss for _, loss, times in releases for _ in range(times)]
    return document(explain(losses, delta=delta), releases).html()


def test_the_report_names_releases_bounds_and_beliefs() -> None:
    html = page([("a tenth", PureLoss(Fraction(1, 10)), 100)])
    for words in ("a tenth", "sum of epsilons", "4.77457", "tightest", "Where losses are chosen"):
        assert words in html
    assert html.count("<figure>") == 2
    assert "After 100 releases the tightest bound is 4.77457." in html
    assert "<script" not in html


def test_an_infinite_bound_is_told_and_not_drawn() -> None:
    html = page([("noise", GaussianLoss(Fraction(100), 1), 10)])
    assert "infinite" in html
    assert "a release has no epsilon with delta 0" in html


def test_one_release_does_not_grow() -> None:
    assert page([("one", PureLoss(Fraction(1)), 1)]).count("<figure>") == 1


def test_beliefs_are_drawn_along_the_epsilons() -> None:
    drawing = str(belief_figure(belief_table((0.01, 0.5), (0.1, 1))))
    assert "0.01 before" in drawing
    assert "0.5 before" in drawing
    assert "<svg" in str(belief_figure(belief_table((0.5,), (0,))))


def test_more_beliefs_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(InputError) as refusal:
        belief_figure(belief_table([k / 10 for k in range(1, 8)], (1,)))
    assert refusal.value.key == "CEL-B083.too_many_lines"


def test_the_report_of_costs_speaks_spanish() -> None:
    losses: list[tuple[str, Loss, int]] = [("0.1-DP", PureLoss(Fraction(1, 10)), 50)]
    with speaking("es"):
        page = document(explain([PureLoss(Fraction(1, 10))] * 50, delta=1e-6), losses)
    assert english_words(page) == set()
