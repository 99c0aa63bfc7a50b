"""All that an analyst sees of a question, with the released numbers masked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from celosia.core.errors import CelosiaError
from celosia.queries import QueryAnswer, Vault

TIMES = ("answered", "created", "head")
"""They change with the clock and with what was released."""


def seen(vault: Vault, query: str, *, delta: float = 0, method: str | None = None) -> Any:
    """The plan, the answer without its numbers or the error, and what was charged."""
    try:
        plan = vault.explain(query, epsilon=1, delta=delta, method=method)
        answer = vault.sql(query, epsilon=1, delta=delta, method=method)
    except CelosiaError as error:
        return {**error.as_dict(), "kind": type(error).__name__, "charges": charges(vault)}
    known = {each.name for each in plan.question.keys}
    told: dict[str, Any] = answer.as_dict()
    found = any(each.startswith("keys") for each in (part.name for part in plan.parts)) or delta > 0
    told["rows"] = None if found else [_keys(row, known) for row in answer.rows]
    told["intervals"] = None if found else _masked(told["intervals"], known)
    if "noise" in told:  # worked out from released numbers and public bounds, as intervals are
        told["noise"] = None if found else [sorted(each) for each in told["noise"]]
    told["caps"] = sorted(told["caps"])
    told["warnings"] = _fixed(told["warnings"])
    told["provenance"] = {k: v for k, v in told["provenance"].items() if k not in TIMES}
    told = {name: each for name, each in told.items() if name not in TIMES}
    return {
        "plan": plan.as_dict(),
        "answer": told,
        "text": _texts(answer),
        "charges": charges(vault),
    }


def charges(vault: Vault) -> list[tuple[Any, ...]]:
    """Each charge of the ledger in exact fractions, but for its time and the answer."""
    return [
        (each.sequence, each.analyst, each.question, each.epsilon, each.delta, each.status)
        for each in vault.ledger.history()
    ]


def _keys(row: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """A row without its numbers; a mean is None where the noisy count is below 1."""
    return {name: each if name in known else "number" for name, each in row.items()}


def _masked(value: Any, known: set[str]) -> Any:
    """The same structure with every number as the word "number"; known keys stay."""
    if isinstance(value, dict):
        return {
            name: each if name in known else _masked(each, known) for name, each in value.items()
        }
    if isinstance(value, list):
        return [_masked(each, known) for each in value]
    return value if value is None or isinstance(value, str) else "number"


def _texts(answer: QueryAnswer) -> list[str]:
    return [answer.guarantee.promise, *_fixed(answer.warnings)]


def _fixed(warnings: Iterable[str]) -> list[str]:
    """All but what is said of a number that the noise took below 0: it follows from that number."""
    return [each for each in warnings if "below 0" not in each]
