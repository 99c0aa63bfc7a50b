"""Similarity: different values with nearly the same meaning disclose that meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.classes import (
    TOLERANCE,
    SensitiveView,
    ValueCounts,
    pick,
)
from celosia.assess.attacks.method import CERTAINTY, WIDTH
from celosia.assess.attacks.result import Attack, singles
from celosia.assess.meaning import Meaning
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import checked
from celosia.frames import encode


def similarity(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    categories: Mapping[str, str],
    *,
    certainty: float = 1.0,
) -> Attack:
    """The classes whose sensitive values all fall into one category.

    Args:
        release: the table as published.
        quasi_identifiers: what the attacker knows of people.
        sensitive: the column that the attacker wants to learn.
        categories: the category of every value (see `categories_of` for those of a hierarchy).
        certainty: the share of a class in one category from which it counts as exposed.

    >>> table = pl.DataFrame({"age": ["40"] * 2, "ill": ["gastritis", "gastric ulcer"]})
    >>> kind = {"gastritis": "stomach", "gastric ulcer": "stomach"}
    >>> similarity(table, ["age"], "ill", kind).exposed[0].learnt
    ('stomach',)

    Reference: Li, Li, Venkatasubramanian 2007.
    """
    certainty = checked("similarity", CERTAINTY, certainty)
    view = SensitiveView.of(release, quasi_identifiers, sensitive)
    kinds = _merge(view.spread, categories, sensitive)
    top = kinds.best(kinds.share)
    confidence = pick(kinds.share, top)
    return _attack(
        view,
        confidence=confidence,
        hit=confidence >= certainty - TOLERANCE,
        learnt=singles(kinds.values, pick(kinds.value + 1, top).astype(np.int64) - 1),
        prior=pick(kinds.overall[kinds.value], top),
    )


def near_numbers(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str,
    width: float,
    *,
    certainty: float = 1.0,
) -> Attack:
    """The classes whose sensitive numbers all lie within a range of this width, ends included.

    What is learnt is the least and the greatest of the numbers in the range.

    >>> table = pl.DataFrame({"age": ["40"] * 3, "salary": [3, 4, 5]})
    >>> near_numbers(table, ["age"], "salary", 2).exposed[0].learnt
    ('3', '5')

    Raises:
        InputError: CEL-A056 the column does not hold numbers, CEL-I060 the width is none.
    """
    certainty = checked("similarity", CERTAINTY, certainty)
    reach = checked("similarity", WIDTH, width)
    view = SensitiveView.of(release, quasi_identifiers, sensitive)
    number, spread = _by_number(view.spread, sensitive)
    last = np.searchsorted(number, number + reach, side="right") - 1
    # Entries are sorted by class and, within it, by number: whole keys find the end of a range.
    stride = max(number.size, 1)
    keys = spread.owner * stride + spread.value
    ends = np.searchsorted(keys, spread.owner * stride + last[spread.value], side="right")
    summed = np.concatenate([[0], np.cumsum(spread.count)])
    share = (summed[ends] - summed[:-1]) / spread.sizes[spread.owner]
    top = spread.best(share)
    confidence = pick(share, top)
    low, high = top, np.where(top >= 0, np.append(ends - 1, -1)[top], -1)
    texts = pl.DataFrame(
        {
            "low": spread.values.gather(_places(spread, low)),
            "high": spread.values.gather(_places(spread, high)),
        }
    )
    mass = np.concatenate([[0.0], np.cumsum(spread.overall)])
    before = mass[last + 1] - mass[:-1]
    return _attack(
        view,
        confidence=confidence,
        hit=confidence >= certainty - TOLERANCE,
        learnt=texts.select(pl.concat_list("low", "high").list.drop_nulls()).to_series(),
        prior=pick(before[spread.value], top),
    )


def categories_of(meaning: Meaning, labels: Iterable[str]) -> dict[str, str]:
    """The category of every value under these labels, such as those of one level of a hierarchy.

    >>> from celosia.assess.meaning import ExactMeaning
    >>> categories_of(ExactMeaning(("flu", "cold")), ["*"])
    {'flu': '*', 'cold': '*'}
    """
    return {
        meaning.values[position]: label
        for label in labels
        for position in meaning.stands_for(label).tolist()
    }


def _attack(
    view: SensitiveView,
    confidence: NDArray[np.float64],
    hit: NDArray[np.bool_],
    learnt: pl.Series,
    prior: NDArray[np.float64],
) -> Attack:
    alike = (view.spread.distinct == 1) & (view.spread.empty == 0)
    return view.attack(
        name=Message("assess.attack.similarity"),
        assumption=Message("assess.knows.similarity"),
        mitigation=Message("assess.prevent.similarity"),
        confidence=confidence,
        hit=hit,
        learnt=learnt,
        prior=prior,
        exposed_by_similarity=int((hit & ~alike).sum()),
    )


def _merge(spread: ValueCounts, categories: Mapping[str, str], column: str) -> ValueCounts:
    """The same counts by category."""
    kinds = pl.Series([categories.get(text) for text in spread.values], dtype=pl.String)
    if kinds.null_count():
        raise InputError("CEL-A055", column=column, values=kinds.null_count())
    coded = encode(kinds)
    kind_of = coded.codes.astype(np.int64)
    width = max(len(coded.values), 1)
    keys, inverse = np.unique(spread.owner * width + kind_of[spread.value], return_inverse=True)
    count = np.zeros(keys.size, dtype=np.int64)
    np.add.at(count, inverse.reshape(-1), spread.count)
    overall = np.zeros(len(coded.values))
    np.add.at(overall, kind_of, spread.overall)
    return replace(
        spread,
        owner=keys // width,
        value=keys % width,
        count=count,
        values=coded.values,
        overall=overall,
    )


def _by_number(spread: ValueCounts, column: str) -> tuple[NDArray[np.float64], ValueCounts]:
    """The distinct numbers in order, and the counts with values numbered in that order."""
    cast = spread.values.cast(pl.Float64, strict=False)
    strange = int((~cast.is_finite()).fill_null(value=True).sum())
    if strange:
        raise InputError("CEL-A056", column=column, values=strange)
    number = cast.to_numpy()
    order = np.argsort(number, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    value = rank[spread.value]
    entries = np.lexsort((value, spread.owner))
    ranked = replace(
        spread,
        owner=spread.owner[entries],
        value=value[entries],
        count=spread.count[entries],
        values=spread.values.gather(order),
        overall=spread.overall[order],
    )
    return number[order], ranked


def _places(spread: ValueCounts, entries: NDArray[np.int64]) -> pl.Series:
    return pl.Series(np.append(spread.value, -1)[entries]).replace(-1, None)
