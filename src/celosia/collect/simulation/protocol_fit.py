"""Protocols for a simulation: what a protocol wants to know beforehand is taken from the data.

Only a simulation may do so. In a real collection the domain, the alphabet and the range are public,
and decided before the collection.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from celosia.collect.fragments.fragment_puzzle import ALPHABET
from celosia.collect.protocol import Protocol, check_report_epsilon
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.registry import PROTOCOLS, protocol_class
from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.core.methods import build, parameters
from celosia.core.notation import values_from_text

TREES = ("pem", "treehist")
ELSEWHERE = ("rappor-words", "cardinality")
"""Not by a name alone: the first is made of two others, the second counts no values."""
NAMES = (*(each for each in PROTOCOLS if each not in ELSEWHERE), "treehist")
"""Every protocol that can be simulated by its name."""
RAPPOR_SETTINGS = ("bits", "hashes", "cohorts", "key", "lasting")
"""Its chances follow from epsilon and from what all reports on one value may cost (`lasting`)."""
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
        InputError: CEL-I061 there is no such protocol, CEL-I062 no such setting, CEL-R101 a
            protocol or values that cannot be simulated so; or what the protocol refuses.

    >>> fit_protocol("dbitflip", ["a", "b", "a"], epsilon=1).parameters()["buckets"]
    2
    """
    if name in ELSEWHERE:
        raise InputError("CEL-R101.not_by_name", name=name, names=", ".join(NAMES))
    given = dict(settings or {})
    if name == "rappor":
        return _rappor(epsilon, given)
    words = {"epsilon": epsilon} | _from_data(name, values, candidates, given) | given
    return build(PROTOCOLS, "pem" if name in TREES else name, words, what="protocol")


def settings_from_text(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a protocol and its settings: NAME, or NAME:EPSILON,KEY=VALUE,...

    >>> settings_from_text("hcms:epsilon=4,hashes=64")
    ('hcms', {'epsilon': 4, 'hashes': 64})

    Raises:
        InputError: CEL-I061 there is no such protocol; CEL-I064 the notation cannot be read.
    """
    name = text.partition(":")[0].strip().lower()
    kind = protocol_class("pem" if name in TREES else name)
    return name, values_from_text(parameters(kind), text)


def _rappor(epsilon: float | Fraction, given: dict[str, Any]) -> Protocol:
    for word in given:
        if word not in RAPPOR_SETTINGS:
            hint = did_you_mean(word, RAPPOR_SETTINGS)
            raise InputError(
                "CEL-I062", method="rappor", parameter=word, hint=hint, known=RAPPOR_SETTINGS
            )
    price = check_report_epsilon("rappor", epsilon)
    return Rappor.for_epsilon(one=price, **{"lasting": 2 * price} | given)


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
        return {"variant": name} | ({} if given.keys() & {"bits", "alphabet"} else _tree(values))
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
