"""Words that make a detector look closer: one pass over the words of a text serves all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Literal

from celosia.assess.recognisers.identifiers import folded
from celosia.texts import word_lists
from celosia.texts.documents import word_set

Group = Literal[
    "month",
    "relative",
    "age",
    "organisation",
    "address",
    "given",
    "term",
    "holiday",
    "currency",
    "postal",
]

TERMS = ("place", "nation", "profession", "health", "belief")
"""Kinds of terms that come as lists."""

_MONTHS = word_set(
    "january february march april may june july august september october november december enero "
    "febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre "
    "jan ene feb mar abr apr jun jul ago aug sep sept oct nov dic dec"
)
_RELATIVE = word_set(
    "yesterday tomorrow today last next ayer anteayer manana hoy hace ago pasado pasada"
)
_ORGANISATIONS = word_set(
    "hospital clinica centro universidad instituto ayuntamiento banco caja colegio juzgado "
    "residencia fundacion farmacia asociacion ministerio consejeria laboratorios university bank "
    "ministry talleres transportes infirmary college school council clinic medical health surgery "
    "pharmacy court trust laboratories ltd limited inc llc plc s garage motors"
)
_ADDRESSES = word_set(
    "calle c avda avenida plaza pza paseo camino carretera ronda travesia urbanizacion"
)


@cache
def triggers() -> dict[str, tuple[Group, ...]]:
    """Each word that makes a detector look closer, and which detectors those are."""
    groups: dict[Group, frozenset[str]] = {
        "month": _MONTHS | {f"{month}'s" for month in _MONTHS},
        "relative": _RELATIVE,
        "age": word_set("age aged edad"),
        "organisation": _ORGANISATIONS,
        "address": _ADDRESSES,
        "given": word_lists.known_given(),
        "term": _first_words(*TERMS),
        "holiday": _first_words("holiday"),
        "currency": word_set("euro euros eur dollar dollars usd pound pounds gbp pesos"),
        "postal": word_set("cp p postal zip code"),
    }
    found: dict[str, list[Group]] = defaultdict(list)
    for group, words in groups.items():
        for word in words:
            found[word].append(group)
    return {word: tuple(groups) for word, groups in found.items()}


def _first_words(*kinds: str) -> frozenset[str]:
    """The first words of the terms of some kinds, as the words of a text are cut."""
    return frozenset(
        folded(WORD.findall(term)[0])
        for kind in kinds
        for language in word_lists.LANGUAGES
        for term in word_lists.terms(kind, language)
    )


WORD = re.compile(r"([^\W_]+(?:['\u2019][^\W_]+)?)")
"""A word of a text."""
