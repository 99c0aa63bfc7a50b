"""The columns of an answer and the kinds of their values, known from the plan alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.target import Target
from celosia.queries.planning.plan import Plan
from celosia.queries.post_processing import Kind, computed_kinds
from celosia.queries.results import COUNTS

_KINDS: Mapping[str | None, Kind] = {"integer": "integer", "number": "number", "boolean": "boolean"}
"""Of a type; dates and time stamps are released as texts."""


def answer_kinds(plan: Plan, target: Target) -> dict[str, Kind]:
    """The kind of each column of the answer, in order: of the policy and the question, never rows.

    Counts are whole numbers; all other numbers may have decimals.
    """
    if plan.branches:
        listed = [list(answer_kinds(each, target).values()) for each in plan.branches]
        names = plan.question.branches[0].post_processing.columns
        merged = [_common(kinds) for kinds in zip(*listed, strict=True)]
        return dict(zip(names, merged, strict=True))
    question, steps = plan.question, plan.question.post_processing
    known: dict[str, Kind] = {}
    for place, key in enumerate(question.keys):
        if key.name in plan.labels:
            known[key.name] = "text"
        elif plan.group_keys is not None:
            known[key.name] = kind_of(plan.group_keys[place])
        else:
            known[key.name] = _KINDS.get(
                infer_type(key.expression, question.source, target=target), "text"
            )
    for each in question.aggregates:
        known[each.name] = "integer" if each.kind in COUNTS else "number"
    known |= computed_kinds(known, steps)
    return {name: known[name] for name in plan.columns}


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind of some released values.

    >>> kind_of([1, None]), kind_of([1, 2.5]), kind_of(["a", None]), kind_of([])
    ('integer', 'number', 'text', 'text')
    """
    kinds: dict[type, Kind] = {bool: "boolean", int: "integer", float: "number"}
    found = {kinds.get(type(value), "text") for value in values if value is not None}
    return _common(tuple(found)) if found else "text"


def _common(kinds: Sequence[Kind]) -> Kind:
    found = set(kinds)
    if len(found) == 1:
        return found.pop()
    return "number" if found <= {"integer", "number"} else "text"
