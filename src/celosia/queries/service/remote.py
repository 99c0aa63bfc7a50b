"""Plans, answers and ledgers of a service, as the values that a vault would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.accounting.filters import Price
from celosia.accounting.ledger import Head, Record
from celosia.core.files import replacing
from celosia.core.messages import Message, say, say_of
from celosia.core.release import Guarantee, Provenance

if TYPE_CHECKING:
    from celosia.queries.answer import QueryAnswer
    from celosia.queries.planning.plan import Part

Get = Callable[..., Any]
"""Asks the service for an address and gives the data of its envelope."""


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """The `Plan` of a vault behind a service."""

    facts: Mapping[str, Any] = field(repr=False)

    @property
    def question_text(self) -> str:
        """The question in words."""
        return str(self.facts["question"])

    @property
    def tree(self) -> tuple[str, ...]:
        """The tree of the question, each line with the rule that is used there."""
        return tuple(self.facts["tree"])

    @property
    def parts(self) -> tuple[Part, ...]:
        """The numbers that are measured, and what each costs."""
        from celosia.queries.planning.plan import Part  # loads the mechanisms

        return tuple(map(Part.from_dict, self.facts["parts"]))

    @property
    def epsilon(self) -> Fraction:
        """Of the whole request."""
        return _amount(self.facts["epsilon"])

    @property
    def delta(self) -> Fraction:
        """Likewise."""
        return _amount(self.facts["delta"])

    @property
    def neighbours(self) -> str:
        """The neighbour relation of the promise, in words."""
        return str(self.facts["neighbours"])

    @property
    def method(self) -> str:
        """The method that bounds the answer."""
        return str(self.facts["method"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what the answer leaves out."""
        return tuple(self.facts.get("notes", ()))

    @property
    def deadline(self) -> float:
        """Seconds after which it is answered, whatever the rows."""
        return float(self.facts.get("deadline", 0))

    @property
    def price(self) -> str | None:
        """In money, where the policy has a market."""
        return self.facts.get("price")

    def as_dict(self) -> dict[str, Any]:
        return dict(self.facts)

    def __str__(self) -> str:
        cost = Message("queries.plan.epsilon", epsilon=float(self.epsilon))
        lines = [say_of("queries.plan.summary_of_service", self, cost=cost)]
        if self.deadline:
            lines.append(say("queries.plan.deadline", seconds=self.deadline))
        notes = [say("queries.plan.note", note=each) for each in self.notes]
        return "\n".join([*lines, *map(str, self.parts), *self.tree, *notes])


def parse_answer(facts: Mapping[str, Any]) -> QueryAnswer:
    """The answer that `QueryAnswer.as_dict` describes."""
    from celosia.queries.answer import QueryAnswer  # only where one is told

    about = {"guarantee", "provenance", "warnings"}
    measures = {name: value for name, value in facts.items() if name not in about}
    return QueryAnswer.from_parts(
        Path(),
        {"measures": measures},
        guarantee=Guarantee.from_dict(facts["guarantee"]),
        provenance=Provenance(**facts["provenance"]),
        warnings=tuple(facts["warnings"]),
    )


class RemoteLedger:
    """The ledger behind a service: all of it for a curator, for an analyst the own part."""

    def __init__(self, get: Get) -> None:
        self._get = get

    @property
    def head(self) -> Head:
        """The last entry."""
        return Head.parse(self._get("/v1/ledger", most=1)["head"])

    @property
    def spent(self) -> Price:
        """The sum of all charges that one may see."""
        return _price(self._get("/v1/ledger", most=1)["spent"])

    @property
    def remaining(self) -> Price:
        """The remaining budget."""
        return _price(self._get("/v1/ledger", most=1)["remaining"])

    def history(self, analyst: str | None = None) -> tuple[Record, ...]:
        """The last charges, with what became of them: of one analyst, or of all one may see."""
        found = map(Record.from_dict, self._get("/v1/ledger", most=10_000)["charges"])
        return tuple(each for each in found if analyst in {None, each.analyst})

    def verify(self, *, anchor: Head | str | None = None) -> Head:
        """Let the service check each link; for curators."""
        wanted = {} if anchor is None else {"anchor": str(anchor)}
        return Head.parse(self._get("/v1/ledger/verify", **wanted)["head"])

    def export(self, path: str | Path, *, overwrite: bool = False) -> Head:
        """Write all entries as JSON lines that `verify_export` can check; for curators."""
        found = self._get("/v1/ledger/export")
        with replacing(Path(path), overwrite=overwrite) as draft:
            draft.write_text("".join(f"{line}\n" for line in found["lines"]), "ascii")
        return Head.parse(found["head"])


def _amount(written: float | str) -> Fraction:
    return Fraction(str(written))


def _price(written: Mapping[str, str | None]) -> Price:
    told = written.get("as_epsilon"), written.get("at_delta")
    amounts = {
        name: None if text is None else Fraction(text)
        for name, text in written.items()
        if name not in {"as_epsilon", "at_delta"}
    }
    epsilon, delta = (None if text is None else float(text) for text in told)
    return Price(amounts, None if epsilon is None or delta is None else (epsilon, delta))
