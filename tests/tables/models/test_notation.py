"""The notation of models on the command line, and their descriptions in files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celosia.core.errors import InputError
from celosia.tables.models import (
    MODELS,
    AlphaK,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    NoAttack,
    PopulationUniqueness,
    Profitable,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    closeness_from_text,
    diversity_from_text,
    model_from_dict,
    model_from_text,
)

WRITTEN: dict[str, Model] = {
    "k-anonymity:5": KAnonymity(5),
    "k-anonymity:k=5": KAnonymity(5),
    "k-map:5": KMap(5),
    "k-map:5,0.1": KMap(5, 0.1),
    "k-map:5, 0.1, confidence = 0.9": KMap(5, 0.1, 0.9),
    "delta-presence:0,0.5": DeltaPresence(0, 0.5),
    "alpha-k:0.5,5": AlphaK(0.5, 5),
    "p-sensitive:2,5,column=job": PSensitive(2, 5, "job"),
    "beta-likeness:1": BetaLikeness(1),
    "beta-likeness:1,enhanced=true": BetaLikeness(1, True),
    "delta-disclosure:1.5": DeltaDisclosure(1.5),
    "delta-disclosure:1.5,false,job": DeltaDisclosure(1.5, False, "job"),
    "average-risk:5e-2": AverageRisk(0.05),
    "no-attack:300,4,attacker=journalist,sampling_fraction=0.1": NoAttack(
        300, 4, "journalist", 0.1
    ),
    "profitable:10,30,1,0.1": Profitable(10, 30, 1, 0.1),
    "population-uniqueness:0.01,0.1": PopulationUniqueness(0.01, 0.1),
    "distinct-diversity:3": DistinctDiversity(3),
    " Recursive-Diversity:4,3,column='home, work'": RecursiveDiversity(4, 3, "home, work"),
    "t-closeness:0.2": TCloseness(0.2),
}


@pytest.mark.parametrize(("text", "model"), WRITTEN.items(), ids=WRITTEN)
def test_a_model_is_read_from_its_notation(text: str, model: Model) -> None:
    assert model_from_text(text) == model


@pytest.mark.parametrize(
    ("text", "model"),
    {
        "3": DistinctDiversity(3),
        "3,job": DistinctDiversity(3, "job"),
        "distinct:3": DistinctDiversity(3),
        "entropy:2.5": EntropyDiversity(2.5),
        "entropy:3,grassberger,column=job": EntropyDiversity(3, "grassberger", "job"),
        "recursive-diversity:4,3,column=job": RecursiveDiversity(4, 3, "job"),
    }.items(),
)
def test_a_diversity_is_read_from_its_notation(text: str, model: Model) -> None:
    assert diversity_from_text(text) == model


@pytest.mark.parametrize(
    ("text", "model"),
    {
        "0.2": TCloseness(0.2),
        "0.2,ordered": TCloseness(0.2, "ordered"),
        "0.2,distance=hierarchical,column=job": TCloseness(0.2, "hierarchical", "job"),
    }.items(),
)
def test_a_closeness_is_read_from_its_notation(text: str, model: Model) -> None:
    assert closeness_from_text(text) == model


@pytest.mark.parametrize("model", WRITTEN.values(), ids=WRITTEN)
def test_a_description_survives_json(model: Model) -> None:
    assert model_from_dict(json.loads(json.dumps(model.as_dict()))) == model


def test_every_model_can_be_described_and_written() -> None:
    described = {type(model) for model in WRITTEN.values()} | {EntropyDiversity}
    assert described == set(MODELS.values())
    assert all(model.as_dict()["method"] in MODELS for model in WRITTEN.values())


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("recursive-diversiti:4,3", "CEL-I061", "did you mean 'recursive-diversity'"),
        ("", "CEL-I061", "Choose one of k-anonymity"),
        ("5", "CEL-I061", "there is no model '5'"),
        ("k-anonymity", "CEL-I063", "needs the parameter 'k'"),
        ("recursive-diversity:4", "CEL-I063", "needs the parameter 'l'"),
        ("k-map:5,0.1,0.9,1", "CEL-I064", "cannot be read"),
        ("k-map:k=5,0.1", "CEL-I064", "cannot be read"),
        ("k-map:5,k=5", "CEL-I064", "cannot be read"),
        ("beta-likeness:1,enhance=true", "CEL-I062", "did you mean 'enhanced'"),
        ("distinct-diversity:three", "CEL-I060", "a whole number from 2"),
        ("k-anonymity:5,column=job", "CEL-I062", "has no parameter 'column'"),
        ("k-anonymity:5.0", "CEL-I060", "whole number"),
        ("distinct-diversity:1", "CEL-I060", "from 2 to 1,000,000,000"),
        ("entropy-diversity:nan", "CEL-I060", "above 1"),
        ("t-closeness:0.2,orderd", "CEL-I060", "did you mean 'ordered'"),
    ],
)
def test_a_notation_that_cannot_be_read_says_what_is_wrong(
    text: str, code: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        model_from_text(text)
    assert caught.value.code == code
    assert caught.value.fix


def test_only_text_is_read() -> None:
    with pytest.raises(InputError) as caught:
        diversity_from_text(3)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I064"


@pytest.mark.parametrize(
    ("description", "code", "words"),
    [
        ({"k": 5}, "CEL-I061", "key 'method'"),
        ("k-anonymity", "CEL-I061", "key 'method'"),
        ({"method": "k-anonimity", "k": 5}, "CEL-I061", "did you mean 'k-anonymity'"),
        ({"method": ["k-map"]}, "CEL-I061", "key 'method'"),
        ({"method": "k-anonymity"}, "CEL-I063", "needs the parameter 'k'"),
        ({"method": "t-closeness", "t": 0.2, "distence": "equal"}, "CEL-I062", "mean 'distance'"),
        ({"method": "k-anonymity", "k": 1}, "CEL-I060", "from 2 to"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(
    description: Any, code: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        model_from_dict(description)
    assert caught.value.code == code
