"""What a stream of randomised records costs: an epsilon for each record, and for each person.

A column that PRAM randomises by a matrix that is fixed before the stream begins is randomised
response: the record is protected where it is made, whoever holds the stream (local differential
privacy). Epsilons of columns add up in a record, those of records in a person. A record has none if
one of its columns is released in another way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.core.release import Guarantee, Provenance, certificate_path, sha256_of

KIND = "masked stream"


@dataclass(frozen=True, slots=True)
class StreamLoss(PlainValues):
    """What is paid in a stream, at most.

    >>> loss = StreamLoss.of({"sex": 1.0, "town": 0.5}, ["sex", "town"], most=3)
    >>> loss.record, loss.person
    (1.5, 4.5)
    >>> StreamLoss.of({"sex": 1.0}, ["sex", "age"], most=3).record is None
    True
    """

    columns: dict[str, float]
    """The epsilon of each column that is randomised response."""
    record: float | None
    """Of a whole record; None where a released column is not randomised response."""
    most: int | None
    """Records of one person that are released in all; None without a limit."""
    person: float | None
    """Of all records of a person together; None where there is no such bound."""

    @classmethod
    def of(
        cls, epsilons: Mapping[str, float], released: Sequence[str], *, most: int | None
    ) -> StreamLoss:
        """Add up what each released column costs."""
        known = {name: epsilons[name] for name in released if epsilons.get(name, inf) < inf}
        record = sum(known.values()) if len(known) == len(released) else None
        person = None if record is None or most is None else most * record
        return cls(known, record, most, person)

    def promise(self, plain: Guarantee) -> Guarantee:
        """The guarantee of a masked stream with what its randomised response adds."""
        if self.record is None:
            told = Message("masking.stream.some_columns", columns=list(self.columns))
            more = (told,) if self.columns else ()
            return replace(plain, leaves_open=(*plain.leaves_open, *more))
        open_ends = list(plain.leaves_open)
        if self.person is None:
            promise = Message("masking.stream.promise", record=self.record)
            open_ends.append(Message("masking.stream.no_limit"))
        else:
            promise = Message.of("masking.stream.promise_person", self)
        return replace(
            plain,
            promise=promise,
            protects=Message("masking.stream.protects"),
            neighbours=Message("masking.stream.neighbours"),
            assumes=(*plain.assumes, Message("masking.stream.assumes")),
            leaves_open=(*open_ends, Message("masking.stream.empty_cells")),
        )


def write_certificate(
    output: Path, guarantee: Guarantee, measures: dict[str, Any], provenance: Provenance
) -> None:
    """Put the certificate of what was written so far beside it."""
    facts = {
        "kind": KIND,
        "guarantee": guarantee.as_dict(),
        "provenance": provenance.as_dict(),
        "measures": measures,
        "warnings": [],
        "data": {"file": output.name, "sha256": sha256_of(output)},
    }
    with replacing(certificate_path(output), overwrite=True) as draft:
        draft.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
