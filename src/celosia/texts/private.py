"""Private term counts: how many persons' documents have each term, with differential privacy."""

from __future__ import annotations

from typing import Literal

from celosia.accounting.budget import Budget
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.noisy_answer import NoisyAnswer
from celosia.mechanisms.statistics.key_histogram import KeyHistogram
from celosia.mechanisms.table_release import release_from_table
from celosia.texts.documents import Collection
from celosia.texts.models.model import RemainingTexts
from celosia.texts.readers import ReadResult


def term_counts(
    data: ReadResult | Collection,
    *,
    epsilon: float,
    delta: float,
    per_person: int = 20,
    unit: Literal["person", "document"] = "person",
    budget: Budget | None = None,
    rng: Source | None = None,
) -> NoisyAnswer:
    """The terms of many persons with noisy counts of persons, from the raw documents.

    Of each person at most `per_person` different terms count, chosen at random; a term is released
    if its noisy count exceeds a threshold that hides a term of one person but for a chance of
    delta.

    Args:
        data: the documents themselves: no detection is needed for this promise.
        epsilon: the price for all terms together.
        delta: the chance of telling a term that one person alone has.
        per_person: how many terms of a person count.
        unit: `document` where each document is of another person.
        budget: pays for it.
        rng: where the noise comes from; a seed makes it a simulation.

    Raises:
        PrivacyError: CEL-N041 it is not known whose the documents are.
        InputError: a parameter is out of its range.
    """
    collection = data if isinstance(data, Collection) else data.collection
    if unit == "person" and not collection.has_persons:
        raise PrivacyError("CEL-N041")
    remaining = RemainingTexts(collection, ())
    persons: list[str] = []
    terms: list[str] = []
    for document, found in zip(collection, remaining.terms, strict=True):
        for term in sorted({term for term, _, _ in found}):
            persons.append(document.unit if unit == "person" else f"#{document.number}")
            terms.append(term)
    if not terms:
        raise InputError("CEL-N001", path="-")
    mechanism = KeyHistogram(epsilon=epsilon, delta=delta, keys_per_unit=per_person)
    return release_from_table(
        {unit: persons, "term": terms},
        mechanism,
        column="term",
        unit=unit,
        question=Message("texts.private.question"),
        budget=budget,
        rng=rng,
    )


def refuse_prose() -> PrivacyError:
    """The error for prose under epsilon (CEL-N040): a switch and no dial."""
    return PrivacyError("CEL-N040")
