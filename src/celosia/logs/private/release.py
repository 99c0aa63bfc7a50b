"""Release the frequent keys of a log, paid from a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from celosia.accounting.budget import Budget
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Parameter, checked
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.logs.log import Log
from celosia.logs.private.data import Of, key_data
from celosia.logs.private.itemsets import PrivateItemsets
from celosia.logs.private.mechanisms import (
    FEW,
    GaussianKeys,
    KeyMechanism,
    LaplaceKeys,
    OptimalKeys,
    SipsKeys,
)
from celosia.logs.sets.transactions import Transactions
from celosia.mechanisms.guarantees import guarantee_of
from celosia.mechanisms.noisy_answer import NoisyAnswer, ReleaseOptions, release_with_guarantee

MethodName = Literal["auto", "laplace", "optimal", "gaussian", "sips"]

METHODS: dict[str, type[KeyMechanism]] = {
    "laplace": LaplaceKeys,
    "optimal": OptimalKeys,
    "gaussian": GaussianKeys,
    "sips": SipsKeys,
}

_QUESTIONS: dict[Of, str] = {
    "queries": "logs.private.queries",
    "clicks": "logs.private.clicks",
    "query-clicks": "logs.private.query_clicks",
    "pairs": "logs.private.pairs",
}

_TOP = Parameter(name="top", kind="whole", least=1)


def mechanism_for(
    epsilon: float, delta: float, per_person: int, method: MethodName = "auto"
) -> KeyMechanism:
    """The mechanism of a name; `auto` takes the one that names most, by what is public.

    Raises:
        InputError: CEL-I061 no such mechanism; CEL-I060 a parameter is wrong.
    """
    if method == "auto":
        method = "gaussian" if per_person >= FEW else "laplace"
    if method not in METHODS:
        from celosia.core.methods import unknown_method

        raise unknown_method(METHODS, method)
    return METHODS[method](epsilon=epsilon, delta=delta, per_person=per_person)


def keys(
    log: Log | Transactions,
    *,
    epsilon: float,
    delta: float,
    per_person: int = 1,
    of: Of = "queries",
    method: MethodName = "auto",
    top: int | None = None,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
) -> NoisyAnswer:
    """The frequent queries, clicks or pairs of items, with differential privacy for persons.

    Args:
        log: with persons and what is named; or transactions, one of each person.
        epsilon: the price.
        delta: the chance that the promise fails; far below one in the number of persons.
        per_person: how many distinct keys of a person count; declared, not taken from the data.
        of: queries, clicks, queries with the address that was clicked, or pairs of items.
        method: laplace (with counts), optimal (names only), gaussian (for many keys a person), sips
            (for many keys a person, in rounds, names only).
        top: release so many keys at most, those with the largest noisy numbers; costs nothing.
        confidence: of the interval of counts.
        budget: pays for the answer; made for one person, `ONE_PERSON`.
        rng: where randomness comes from; a seed makes the answer a simulation.

    Raises:
        InputError: CEL-U010 a field is not declared; CEL-U060 the unit is the record;
            CEL-I060 a parameter is wrong.
        BudgetExceeded: the budget does not allow it.
    """
    mechanism = mechanism_for(epsilon, delta, per_person, method)
    if top is not None:
        checked("keys", _TOP, top)
        if not mechanism.has_counts:
            raise InputError("CEL-U061")
    options = ReleaseOptions(
        question=Message(_QUESTIONS[of], per_person=per_person),
        confidence=confidence,
        budget=budget,
        rng=System() if rng is None else rng,
    )
    options.check_affordable(mechanism)
    data = key_data(log, of)
    answer = release_with_guarantee(
        mechanism,
        data,
        options,
        guarantee=_guarantee(mechanism, simulation=options.rng.simulation),
        provenance=Provenance.now(
            "celosia.logs.private.keys",
            {"method": str(mechanism), "of": of, "top": top},
            seed=options.rng.seed,
        ),
    )
    return answer if top is None else _first(answer, top)


def itemsets(
    log: Log | Transactions,
    *,
    epsilon: float,
    delta: float,
    per_person: int = 1,
    items: int = 12,
    top: int = 50,
    budget: Budget | None = None,
    rng: Source | None = None,
) -> NoisyAnswer:
    """Sets of items with noisy numbers of the persons who have all of them.

    Args:
        log: with persons and items or queries; or transactions, one of each person.
        epsilon: the price.
        delta: the chance that the promise fails; far below one in the number of persons.
        per_person: how many distinct items of a person count when items are named; declared.
        items: how many items sets are made of, at most.
        top: how many sets are released, those with the largest noisy numbers.
        budget: pays for the answer; made for one person, `ONE_PERSON`.
        rng: where randomness comes from; a seed makes the answer a simulation.

    Raises:
        InputError: CEL-U010, CEL-U060 as `keys` says; CEL-I060 a parameter is wrong.
        BudgetExceeded: the budget does not allow it.
    """
    mechanism = PrivateItemsets(
        epsilon=epsilon, delta=delta, per_person=per_person, items=items, top=top
    )
    options = ReleaseOptions(
        question=mechanism.question, budget=budget, rng=System() if rng is None else rng
    )
    options.check_affordable(mechanism)
    return release_with_guarantee(
        mechanism,
        key_data(log),
        options,
        guarantee=_guarantee(mechanism, simulation=options.rng.simulation),
        provenance=Provenance.now(
            "celosia.logs.private.itemsets",
            {"method": str(mechanism), "items": items, "top": top},
            seed=options.rng.seed,
        ),
    )


def _guarantee(mechanism: KeyMechanism | PrivateItemsets, *, simulation: bool) -> Guarantee:
    made = guarantee_of(
        mechanism,
        simulation=simulation,
        assumes=(Message("logs.assumption.one_person"),),
    )
    gaps = (
        Message("logs.open.bounded", per_person=mechanism.per_person),
        Message("logs.open.names_in_keys"),
        *made.leaves_open,
    )
    return replace(made, unit=Message("logs.unit.person"), leaves_open=gaps)


def _first(answer: NoisyAnswer, top: int) -> NoisyAnswer:
    """The keys with the largest released numbers: post-processing of what was paid for."""
    ranked = sorted(answer.value, key=lambda key: (-answer.value[key], key))[:top]

    def part(values: dict[str, Any]) -> dict[str, Any]:
        return {key: values[key] for key in ranked}

    bounds = answer.interval
    shown = None if bounds is None else (part(bounds[0]), part(bounds[1]))
    return replace(answer, value=part(answer.value), interval=shown)
