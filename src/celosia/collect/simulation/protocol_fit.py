"""Protocols for a simulation: what a protocol wants to know beforehand is taken from the data.

Only a simulation may do so. In a real collection the domain, the alphabet and the range are public,
and decided before the collection.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from celosia.collect.fragments.fragment_puzzle import ALPHABET
from celosia.collect.protocol import Protocol, check_report_epsilon
from celosia.collect.registry import PROTOCOLS, protocol_class
from celosia.core.errors import InputError
from celosia.core.numbers import exact
from celosia.core.wording import did_you_mean

TREES = ("pem", "treehist")
ELSEWHERE = ("rappor-words", "cardinality")
"""Not by a name alone: the first is made of two others, the second counts no values."""
NAMES = (*(each for each in PROTOCOLS if each not in ELSEWHERE), "treehist")
"""Every protocol that can be simulated by its name."""
OVER_A_DOMAIN = ("grr", "oue", "sue", "hr", "ss", "pgr")
USUAL_BITS = 4
"""Bits of a dBitFlip report, where there are as many buckets."""


def fit_protocol(
    name: str,
    values: Any,
    *,
    epsilon: float | Fraction,
    candidates: Sequence[Hashable] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Protocol:
    """A protocol by its name, for the values of a simulation.

    Args:
        name: one of `NAMES`.
        values: those of all users.
        epsilon: of one report; for RAPPOR all reports on one value then cost twice as much, unless
            the setting `lasting` says otherwise.
        candidates: the public domain; without it that of the values.
        settings: other parameters of the protocol, such as `hashes` and `width`.

    Raises:
        InputError: CEL-R070 there is no such protocol, CEL-R101 no such setting; or what the
            protocol refuses.

    >>> fit_protocol("dbitflip", ["a", "b", "a"], epsilon=1).parameters()["buckets"]
    2
    """
    if name in ELSEWHERE:
        raise InputError("CEL-R101.not_by_name", name=name, names=", ".join(NAMES))
    kind: Any = protocol_class("pem" if name in TREES else name)
    given = dict(settings or {})
    known = {each.name for each in fields(kind) if each.init} - {"epsilon", "domain"}
    if name == "rappor":
        known = {"bits", "hashes", "cohorts", "key", "lasting"}
    for word in given:
        if word not in known:
            raise InputError(
                "CEL-R101.unknown_setting",
                name=name,
                setting=word,
                hint=did_you_mean(word, known),
                known=", ".join(sorted(known)),
            )
    if name == "rappor":
        return _rappor(kind, epsilon, given)
    words = {"epsilon": epsilon} | _from_data(name, values, candidates, given) | given
    made: Protocol = kind(**words)
    return made


def _rappor(kind: Any, epsilon: float | Fraction, given: dict[str, Any]) -> Protocol:
    price = check_report_epsilon(epsilon)
    lasting = exact(given.pop("lasting", 2 * price))
    made: Protocol = kind.for_epsilon(one=price, lasting=lasting or 0, **given)
    return made


def _from_data(
    name: str, values: Any, candidates: Sequence[Hashable] | None, given: dict[str, Any]
) -> dict[str, Any]:
    """What the values themselves say, where nothing else was given."""
    if name in OVER_A_DOMAIN:
        return {"domain": tuple(_different(values) if candidates is None else candidates)}
    if name == "dbitflip":
        size = len(_different(values) if candidates is None else candidates)
        return {"buckets": size, "bits": min(USUAL_BITS, size)}
    if name == "one-bit-mean":
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "iuf" or not numbers.size:
            raise InputError("CEL-R101.not_numbers")
        ends = {"lower": numbers.min().item(), "upper": numbers.max().item()}
        # A column of one value has a mean, but no range: any range around it will do.
        return ends if ends["lower"] < ends["upper"] else {**ends, "upper": ends["lower"] + 1}
    if name in TREES:
        return {"method": name} | ({} if given.keys() & {"bits", "alphabet"} else _tree(values))
    if name == "sfp" and "alphabet" not in given:
        letters = set().union(*map(str, _different(values))) - set(ALPHABET)
        return {"alphabet": "".join(sorted(letters)) + ALPHABET}
    return {}


def _tree(values: Any) -> dict[str, Any]:
    different = _different(values)
    if different and all(isinstance(each, int) for each in different):
        return {"bits": max(1, max(different).bit_length())}
    letters = set().union(*map(str, different)) | {"a", "b"}  # two letters at least
    return {
        "alphabet": "".join(sorted(letters)),
        "length": max(1, *(len(str(each)) for each in different)),
    }


def _different(values: Any) -> list[Any]:
    """The different values, in order."""
    found = values.tolist() if isinstance(values, np.ndarray) else values
    return sorted(set(found), key=lambda each: (isinstance(each, str), each))
