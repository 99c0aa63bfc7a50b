"""The privacy models as the studio offers them: in which order, and what each promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message, render, sentence, speaking
from celosia.core.methods import Parameter, parameters
from celosia.studio.language import _, current

OFFERED = (
    "k-anonymity",
    "distinct-diversity",
    "entropy-diversity",
    "recursive-diversity",
    "t-closeness",
    "beta-likeness",
    "delta-disclosure",
    "alpha-k",
    "p-sensitive",
    "average-risk",
    "k-map",
    "delta-presence",
    "population-uniqueness",
    "no-attack",
    "profitable",
)
"""The models in the order in which they are offered."""


def declared(name: str) -> tuple[Parameter, ...]:
    """The parameters of a model."""
    from celosia.tables.models.notation import MODELS

    return parameters(MODELS[name])


def at_first(name: str) -> dict[str, Any]:
    """A model as it is added, as `Model.as_dict()` writes it."""
    return {"method": name} | {
        each.name: each.default if each.is_optional else each.advice for each in declared(name)
    }


def title(name: str) -> str:
    """What a model is called."""
    return render(Message(f"methods.{name}.title"), current())


def purpose(name: str) -> str:
    """Why one would add a model, in a sentence."""
    return render(Message(f"methods.{name}.summary"), current())


def promise(model: Mapping[str, Any]) -> str:
    """What a model with its parameters promises, as a sentence for whoever answers for it."""
    from celosia.tables.models.notation import model_from_dict

    try:
        made = model_from_dict(model)
    except CelosiaError as error:
        return error.part("what", current())
    with speaking(current()):
        return f"{sentence(made.promise())} {sentence(made.protects())}"


def caveat(names: set[str]) -> str:
    """What all models together leave open, as a sentence."""
    hiding = {"k-anonymity", "alpha-k", "p-sensitive"}
    if not names & (hiding | {"average-risk", "k-map", "population-uniqueness", "no-attack"}):
        return _(
            "Not covered: re-identification. Without k-anonymity an attacker may still find "
            "the record of a person; add k-anonymity."
        )
    if names & {"t-closeness", "beta-likeness", "delta-disclosure"}:
        return _(
            "Left open: what the whole table tells about everybody, and what two releases of the "
            "same people tell when they are joined."
        )
    if names & {
        "distinct-diversity",
        "entropy-diversity",
        "recursive-diversity",
        "alpha-k",
        "p-sensitive",
    }:
        return _(
            "Left open: a sensitive value may be far more common in a group than in the table "
            "(skewness), and different values may mean much the same (similarity)."
        )
    return _(
        "Left open: if all records of a group share a sensitive value, it is told without naming "
        "anybody (homogeneity); l-diversity or t-closeness repairs that."
    )
