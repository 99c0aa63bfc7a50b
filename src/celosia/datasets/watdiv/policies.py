"""Policies for the shop's graph, all from one template and the schema of the generator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from string import Template
from typing import Literal, get_args

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.datasets.watdiv.schema import FUNCTIONAL, KINDS, PREFIXES, VALUES
from celosia.datasets.watdiv.values import EntityValue, IntegerRange, MoneyRange, Property

Unit = Literal["entity", "triple"]
Private = Literal["people", "everything"]

PEOPLE = ("User", "Review", "Purchase")
"""Classes whose facts are private in any case."""
MOST_PURCHASES = 20
"""No user has as many: the most active users make four on average, whatever the size."""
_PROMISES = {
    "entity": "Every entity is protected with all private facts that it is the subject of.",
    "triple": "Single facts are protected, which is far less than protecting people.",
}
_SCOPES = {
    "people": "What users, reviews and purchases say is private, and\n"
    "# what others say with the same predicates, such as their type. The catalogue is public:\n"
    "# also which reviews a product has, and who made it.",
    "everything": "Nothing is public.",
}
_KEYED = {
    "foaf:age": ("AgeGroup",),
    "rdf:type": ("Role", "ProductCategory"),
    "sorg:eligibleRegion": ("Country",),
    "sorg:language": ("Language",),
    "sorg:nationality": ("Country",),
    "wsdbm:gender": ("Gender",),
}
"""Kinds of the objects that groups may be shown for."""


def policy(
    *, unit: Unit = "entity", private: Private = "people", store: str = "watdiv.graph"
) -> str:
    """A policy file for the shop's graph.

    Args:
        unit: what is protected: an entity with all its private facts, or single facts.
        private: "people", users with their reviews and purchases, while the catalogue is public;
            or "everything", which has no public facts at all.
        store: the store of facts, as seen from the folder of the policy.

    Raises:
        InputError: CEL-D025 there is no such choice.

    >>> [line for line in policy(unit="triple").splitlines() if "name =" in line]
    ['name = "watdiv"', 'name = "triple"']
    """
    _check("unit", unit, get_args(Unit))
    _check("private", private, get_args(Private))
    text = files(__package__).joinpath("policy.toml").read_text("utf-8")
    classes = _classes(private)
    owned = {name for members in classes.values() for name in members}
    return Template(text).substitute(
        promise=_PROMISES[unit],
        scope=_SCOPES[private],
        unit=unit,
        store=store,
        prefixes="\n".join(f"{name} = {json.dumps(iri)}" for name, iri in PREFIXES.items()),
        classes="\n\n".join(
            f"[graph.classes.{name}]\npredicates = [\n"
            + "".join(f'    "{each}",\n' for each in members)
            + "]"
            for name, members in classes.items()
        ),
        predicates="\n\n".join(_settings(unit, owned)),
    )


def _classes(private: Private) -> dict[str, list[str]]:
    """Private predicates of each class."""
    all_of: dict[str, list[str]] = {kind.class_name: [] for kind in KINDS}
    names = {kind.name: kind.class_name for kind in KINDS}
    for kind in KINDS:
        for each in kind.properties:
            subject = each.value.kind if isinstance(each.value, EntityValue) else ""
            all_of[names[subject] if each.reverse else kind.class_name].append(each.predicate)
    if private == "everything":
        return all_of
    hidden = {predicate for name in PEOPLE for predicate in all_of[name]}
    kept = {name: [each for each in members if each in hidden] for name, members in all_of.items()}
    return {name: members for name, members in kept.items() if members}


def _settings(unit: Unit, owned: set[str]) -> Iterator[str]:
    """What is declared of each predicate; of one with several kinds, what holds for all."""
    by_predicate: dict[str, list[Property]] = {}
    for kind in KINDS:
        for each in kind.properties:
            by_predicate.setdefault(each.predicate, []).append(each)
    for name, items in by_predicate.items():
        lines = [] if name in owned else ["public = true"]
        if name in FUNCTIONAL:
            lines.append("most_per_subject = 1")
        elif name == "wsdbm:makesPurchase":
            lines.append(f"most_per_subject = {MOST_PURCHASES}")
        elif not items[0].reverse:
            lines.append(f"most_per_subject = {max(each.most for each in items)}")
        # With entities as units, the facts of one must not push out those of another.
        if items[0].reverse and (unit == "triple" or name not in owned):
            lines.append("most_per_object = 1")
        lines += [*_bounds(items[0]), *_keys(name)]
        yield "\n".join([f'[graph.predicates."{name}"]', *lines])


def _bounds(item: Property) -> list[str]:
    value = item.value
    if not item.bounded:
        return []
    assert isinstance(value, IntegerRange | MoneyRange)
    unit, grid = (1, "1") if isinstance(value, IntegerRange) else (100, "0.01")
    most = -(-value.most // unit)
    return [f"lower = {value.least // unit}", f"upper = {most}", f"grid = {grid}"]


def _keys(name: str) -> list[str]:
    written = [f"wsdbm:{kind}{at}" for kind in _KEYED.get(name, ()) for at in range(VALUES[kind])]
    if name == "rev:rating":
        written = [f'"{stars}"^^xsd:integer' for stars in range(1, 11)]
    if not written:
        return []
    return ["keys = [", *(f"    {json.dumps(each)}," for each in written), "]"]


def _check(name: str, given: object, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise InputError(
            "CEL-D025",
            name=name,
            given=given,
            hint=did_you_mean(str(given), allowed),
            allowed=", ".join(map(repr, allowed)),
        )
