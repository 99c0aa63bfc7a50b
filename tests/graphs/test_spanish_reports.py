"""With Spanish as the language, what is said of a published graph keeps no English."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.spanish import english_in

from celosia.core.messages import Message, speaking
from celosia.core.randomness import Seeded
from celosia.graphs import (
    KAutomorphism,
    KDegree,
    KNeighbourhood,
    KObfuscation,
    PrivateGraph,
    RandomPerturbation,
    RandomSwitch,
    SaNGreeA,
    SpectralSwitch,
    VertexAddition,
    private,
    publish,
)
from celosia.graphs.examples import karate

METHODS = [
    KDegree(k=3),
    VertexAddition(k=3),
    KAutomorphism(k=2),
    KNeighbourhood(k=2),
    KObfuscation(k=3, tolerance=0.3),
    RandomPerturbation(amount=0.2),
    RandomSwitch(amount=0.2),
    SpectralSwitch(amount=0.1),
    SaNGreeA(k=4),
    PrivateGraph(epsilon=1),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method_name)
def test_a_report_of_a_graph_in_spanish_has_no_english(method: Any) -> None:
    with speaking("es"):
        release = publish(karate(), [method], rng=Seeded(1))
        page = release.document().html()
    assert english_in(page, "graphs") <= {"edge", "vertex"}  # the unit, which core shows


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method_name)
def test_what_a_release_keeps_does_not_depend_on_the_language(method: Any) -> None:
    english = publish(karate(), [method], rng=Seeded(1))
    with speaking("es"):
        spanish = publish(karate(), [method], rng=Seeded(1))
    for part in ("guarantee", "methods"):
        one, other = (json.dumps(_plain(getattr(made, part))) for made in (english, spanish))
        assert one == other


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.as_dict()


def test_the_guarantee_of_a_private_statistic_speaks_spanish() -> None:
    told = private.edge_count(karate(), epsilon=1, rng=Seeded(1)).guarantee
    for text in (told.protects, told.unit, *told.leaves_open):
        assert isinstance(text, Message)
        assert text.render("es") != text
