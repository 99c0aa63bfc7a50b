"""Models from the short notation of the command line, and from their own descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean
from celosia.tables.models.alpha_k import AlphaK
from celosia.tables.models.average_risk import AverageRisk
from celosia.tables.models.beta_likeness import BetaLikeness
from celosia.tables.models.delta_disclosure import DeltaDisclosure
from celosia.tables.models.delta_presence import DeltaPresence
from celosia.tables.models.distinct_diversity import DistinctDiversity
from celosia.tables.models.entropy_diversity import EntropyDiversity
from celosia.tables.models.k_anonymity import KAnonymity
from celosia.tables.models.k_map import KMap
from celosia.tables.models.model import Model
from celosia.tables.models.p_sensitive import PSensitive
from celosia.tables.models.population_uniqueness import PopulationUniqueness
from celosia.tables.models.recursive_diversity import RecursiveDiversity
from celosia.tables.models.sensitive_model import SensitiveModel
from celosia.tables.models.t_closeness import TCloseness

MODELS: Mapping[str, type[Model]] = {
    "k-anonymity": KAnonymity,
    "distinct-diversity": DistinctDiversity,
    "entropy-diversity": EntropyDiversity,
    "recursive-diversity": RecursiveDiversity,
    "t-closeness": TCloseness,
    "k-map": KMap,
    "delta-presence": DeltaPresence,
    "alpha-k": AlphaK,
    "p-sensitive": PSensitive,
    "beta-likeness": BetaLikeness,
    "delta-disclosure": DeltaDisclosure,
    "average-risk": AverageRisk,
    "population-uniqueness": PopulationUniqueness,
}
"""The models by the names of their descriptions."""


class _Form(NamedTuple):
    """How a model is written: what makes it, what its numbers are called, words that set more."""

    make: Callable[..., Model]
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, Any]] = {}
    fixed: Mapping[str, Any] = {}
    example: str = ""


_DIVERSITY = {
    "distinct": _Form(DistinctDiversity, ("l",), example="distinct:3"),
    "entropy": _Form(EntropyDiversity, ("l",), example="entropy:3"),
    "entropy-corrected": _Form(
        EntropyDiversity, ("l",), fixed={"corrected": True}, example="entropy-corrected:3"
    ),
    "recursive": _Form(RecursiveDiversity, ("c", "l"), example="recursive:4,3"),
}
_CLOSENESS = {
    name: _Form(TCloseness, ("t",), fixed={"distance": name}, example=f"{name}:0.2")
    for name in ("equal", "ordered", "hierarchical")
}
_OTHERS = {
    "k": _Form(KAnonymity, ("k",), example="k:5"),
    "k-map": _Form(KMap, ("k",), ("sampling_fraction", "confidence"), example="k-map:5,0.1"),
    "delta-presence": _Form(DeltaPresence, ("lower", "upper"), example="delta-presence:0,0.5"),
    "alpha-k": _Form(AlphaK, ("alpha", "k"), example="alpha-k:0.5,5"),
    "p-sensitive": _Form(PSensitive, ("p", "k"), example="p-sensitive:2,5"),
    "beta-likeness": _Form(
        BetaLikeness,
        ("beta",),
        words={"enhanced": {"enhanced": True}},
        example="beta-likeness:1,enhanced",
    ),
    "delta-disclosure": _Form(
        DeltaDisclosure,
        ("delta",),
        words={"lenient": {"strict": False}},
        example="delta-disclosure:1",
    ),
    "average-risk": _Form(AverageRisk, ("most",), example="average-risk:0.05"),
    "population-uniqueness": _Form(
        PopulationUniqueness,
        ("most", "sampling_fraction"),
        example="population-uniqueness:0.01,0.1",
    ),
}


def model_from_text(text: str) -> Model:
    """A model of any kind, written as NAME:PARAMETERS, with @COLUMN for one sensitive column.

    >>> model_from_text("alpha-k:0.5,5@disease")
    AlphaK(alpha=0.5, k=5, column='disease')
    >>> model_from_text("k-map:5,0.1").promise()
    'estimated 5-map (sampling fraction 0.1, confidence 0.95)'

    Raises:
        InputError: CEL-P035 an unknown name; CEL-P036 parameters that do not fit; or what the model
            says of a parameter out of range.
    """
    return _parse(text, {**_OTHERS, **_DIVERSITY, **_CLOSENESS}, None)


def diversity_from_text(text: str) -> Model:
    """An l-diversity model: `3`, `distinct:3`, `entropy:3`, `entropy-corrected:3`, `recursive:4,3`.

    >>> diversity_from_text("3"), diversity_from_text("recursive:4,3@occupation").promise()
    (DistinctDiversity(l=3, column=None), 'recursive (4, 3)-diversity of occupation')
    """
    return _parse(text, _DIVERSITY, "distinct")


def closeness_from_text(text: str) -> Model:
    """A t-closeness model: `0.2` or `equal:0.2`, `ordered:0.2`, `hierarchical:0.2`.

    >>> closeness_from_text("ordered:0.2@salary")
    TCloseness(t=0.2, distance='ordered', column='salary')
    """
    return _parse(text, _CLOSENESS, "equal")


def model_from_dict(description: Mapping[str, Any]) -> Model:
    """The model that an `as_dict()` describes.

    >>> model_from_dict({"model": "recursive-diversity", "c": 4, "l": 3})
    RecursiveDiversity(c=4.0, l=3, column=None)

    Raises:
        InputError: CEL-P035 an unknown model; CEL-P038 parameters that it does not have or lacks.
    """
    if not isinstance(description, Mapping) or "model" not in description:
        raise InputError("CEL-P038.model_from_dict")
    name = description["model"]
    if not isinstance(name, str) or name not in MODELS:
        raise _unknown(name, MODELS, '{"model": "k-anonymity", "k": 5}')
    parameters = inspect.signature(MODELS[name]).parameters
    given = {key: value for key, value in description.items() if key != "model"}
    strange = [key for key in given if key not in parameters]
    absent = [
        key
        for key, each in parameters.items()
        if each.default is inspect.Parameter.empty and key not in given
    ]
    if strange or absent:
        faults = [f"lacks '{key}'" for key in absent]
        faults += [f"has no '{key}'{did_you_mean(key, parameters)}" for key in strange]
        raise InputError(
            "CEL-P038.model_from_dict_2",
            faults=", and it ".join(faults),
            parameters=", ".join(parameters),
            model=name,
        )
    return MODELS[name](**given)


def _parse(text: object, forms: Mapping[str, _Form], default: str | None) -> Model:
    example = next(iter(forms.values())).example
    if not isinstance(text, str):
        raise _misfit(f"a model is written as text, got {type(text).__name__}.", example)
    head, at, column = text.strip().partition("@")
    name, colon, listed = head.partition(":")
    if default is not None and not colon and _number(name.strip()) is not None:
        name, colon, listed = default, ":", name
    name = name.strip().lower()
    if name not in forms:
        raise _unknown(name, forms, example)
    form = forms[name]
    arguments = _arguments(name, form, [part.strip() for part in listed.split(",")], bool(colon))
    if at:
        if not column:
            raise _misfit(f"'{text}' names no column after '@'.", f"{form.example}@disease")
        if not (inspect.isclass(form.make) and issubclass(form.make, SensitiveModel)):
            raise _misfit(f"{name} is not about a sensitive column.", form.example)
        arguments["column"] = column
    return form.make(**arguments)


def _arguments(name: str, form: _Form, parts: list[str], are_given: bool) -> dict[str, Any]:
    """The parameters of a model from the parts between commas: numbers first, then words."""
    names = form.needed + form.optional
    numbers: list[int | float] = []
    arguments: dict[str, Any] = dict(form.fixed)
    for part in parts if are_given else []:
        number = _number(part)
        if number is not None:
            numbers.append(number)
        elif part.lower() in form.words:
            arguments |= form.words[part.lower()]
        else:
            hint = did_you_mean(part.lower(), form.words)
            raise _misfit(f"{name} has a parameter '{part}' that is no number{hint}.", form.example)
    if not len(form.needed) <= len(numbers) <= len(names):
        wanted = ", ".join(form.needed) + "".join(f"[, {each}]" for each in form.optional)
        raise _misfit(f"{name} takes {wanted}; got {len(numbers)} of them.", form.example)
    return arguments | dict(zip(names, numbers, strict=False))


def _number(text: str) -> int | float | None:
    if text.isascii() and text.lstrip("+-").isdigit():
        return int(text)
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def _unknown(name: object, known: Mapping[str, Any], example: str) -> InputError:
    return InputError(
        "CEL-P035",
        hint=did_you_mean(name, known),
        known=", ".join(known),
        example=example,
        model=name,
    )


def _misfit(what: str, example: str) -> InputError:
    return InputError(
        "CEL-P036",
        what,
        why="A model is written as its name, a colon and its parameters between commas.",
        fix=f"Write, for example, {example}.",
    )
