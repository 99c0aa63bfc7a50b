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
    PopulationUniqueness,
    PSensitive,
    RecursiveDiversity,
    TCloseness,
    closeness_from_text,
    diversity_from_text,
    model_from_dict,
    model_from_text,
)
from celosia.tables.models import notation as module

WRITTEN: dict[str, Model] = {
    "k:5": KAnonymity(5),
    "k-map:5": KMap(5),
    "k-map:5,0.1": KMap(5, 0.1),
    "k-map:5, 0.1, 0.9": KMap(5, 0.1, 0.9),
    "delta-presence:0,0.5": DeltaPresence(0, 0.5),
    "alpha-k:0.5,5": AlphaK(0.5, 5),
    "p-sensitive:2,5@job": PSensitive(2, 5, "job"),
    "beta-likeness:1": BetaLikeness(1),
    "beta-likeness:1,enhanced": BetaLikeness(1, True),
    "delta-disclosure:1.5": DeltaDisclosure(1.5),
    "delta-disclosure:1.5,lenient@job": DeltaDisclosure(1.5, False, "job"),
    "average-risk:5e-2": AverageRisk(0.05),
    "population-uniqueness:0.01,0.1": PopulationUniqueness(0.01, 0.1),
    "distinct:3": DistinctDiversity(3),
    " Recursive:4,3@home @ work": RecursiveDiversity(4, 3, "home @ work"),
    "equal:0.2": TCloseness(0.2),
}


@pytest.mark.parametrize(("text", "model"), WRITTEN.items(), ids=WRITTEN)
def test_a_model_is_read_from_its_notation(text: str, model: Model) -> None:
    assert model_from_text(text) == model


@pytest.mark.parametrize(
    ("text", "model"),
    {
        "3": DistinctDiversity(3),
        "3@job": DistinctDiversity(3, "job"),
        "distinct:3": DistinctDiversity(3),
        "entropy:2.5": EntropyDiversity(2.5),
        "entropy-corrected:3@job": EntropyDiversity(3, True, "job"),
        "recursive:4,3@job": RecursiveDiversity(4, 3, "job"),
    }.items(),
)
def test_a_diversity_is_read_from_its_notation(text: str, model: Model) -> None:
    assert diversity_from_text(text) == model


@pytest.mark.parametrize(
    ("text", "model"),
    {
        "0.2": TCloseness(0.2),
        "ordered:0.2": TCloseness(0.2, "ordered"),
        "hierarchical:0.2@job": TCloseness(0.2, "hierarchical", "job"),
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
    assert all(model.as_dict()["model"] in MODELS for model in WRITTEN.values())


@pytest.mark.parametrize(
    "form", [*module._OTHERS.values(), *module._DIVERSITY.values(), *module._CLOSENESS.values()]
)
def test_every_example_in_a_message_can_be_read(form: Any) -> None:
    assert isinstance(model_from_text(form.example), form.make)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("recursiv:4,3", "CEL-P035", "did you mean 'recursive'"),
        ("", "CEL-P035", "for example, k:5"),
        ("5", "CEL-P035", "there is no model '5'"),
        ("k", "CEL-P036", "k takes k; got 0"),
        ("k:", "CEL-P036", "no number"),
        ("recursive:4", "CEL-P036", "takes c, l; got 1"),
        ("k-map:5,0.1,0.9,1", "CEL-P036", r"takes k\[, sampling_fraction\]\[, confidence\]; got 4"),
        ("beta-likeness:1,enhance", "CEL-P036", "did you mean 'enhanced'"),
        ("distinct:three", "CEL-P036", "that is no number"),
        ("distinct:1_0", "CEL-P036", "that is no number"),
        ("distinct:3@", "CEL-P036", "names no column"),
        ("k:5@job", "CEL-P036", "not about a sensitive column"),
        ("k:5.0", "CEL-P010", "whole number"),
        ("distinct:1", "CEL-P020", "at least 2"),
        ("entropy:nan", "CEL-P020", "above 1"),
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
    assert caught.value.code == "CEL-P036"


def test_each_option_takes_its_own_models() -> None:
    with pytest.raises(InputError, match="distinct, entropy, entropy-corrected, recursive"):
        diversity_from_text("equal:0.2")
    with pytest.raises(InputError, match="equal, ordered, hierarchical"):
        closeness_from_text("distinct:3")


@pytest.mark.parametrize(
    ("description", "code", "words"),
    [
        ({"k": 5}, "CEL-P038", "key 'model'"),
        ("k-anonymity", "CEL-P038", "key 'model'"),
        ({"model": "k-anonimity", "k": 5}, "CEL-P035", "did you mean 'k-anonymity'"),
        ({"model": ["k-map"]}, "CEL-P035", "there is no model"),
        ({"model": "k-anonymity"}, "CEL-P038", "lacks 'k'"),
        ({"model": "t-closeness", "t": 0.2, "distence": "equal"}, "CEL-P038", "mean 'distance'"),
        ({"model": "k-anonymity", "k": 1}, "CEL-P010", "at least 2"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(
    description: Any, code: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        model_from_dict(description)
    assert caught.value.code == code
