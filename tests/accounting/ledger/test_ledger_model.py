"""The ledger against a plain model: fractions in a dictionary, and nothing else."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.accounting.ledger.ledgers import asking, opened

from celosia.accounting.ledger import Head, Ledger, Reservation, StoredAnswer
from celosia.core.errors import BudgetExceeded

TOTAL, DELTA = Fraction(1), Fraction(1, 10**6)
LIMITS = {"ada": Fraction(7, 10), "bob": Fraction(2, 5)}
epsilons = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 7), Fraction(1, 1000)])
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**7), Fraction(3, 10**7)])
Key = tuple[str, Fraction, Fraction]


@dataclass
class Plain:
    """What a ledger should know."""

    charges: list[tuple[str, Fraction, Fraction]] = field(default_factory=list)
    answers: dict[Key, int] = field(default_factory=dict)

    def allows(self, analyst: str, epsilon: Fraction, delta: Fraction) -> bool:
        own = [each for each in self.charges if each[0] == analyst]
        return (
            sum((e for _, e, _ in self.charges), epsilon) <= TOTAL
            and sum((d for _, _, d in self.charges), delta) <= DELTA
            and sum((e for _, e, _ in own), epsilon) <= LIMITS[analyst]
            and sum((d for _, _, d in own), delta) <= DELTA
        )


class Ledgers(RuleBasedStateMachine):
    """Two processes' worth of ledgers on one file, opened, lost and opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ledger-"))
        self.plain = Plain()
        self.ledgers: list[Ledger] = []
        self.waiting: list[tuple[Reservation, Key]] = []
        self.heads: list[Head] = []
        self.number = 0

    def open(self) -> Ledger:
        limits = {name: (limit, DELTA) for name, limit in LIMITS.items()}
        anchor = self.heads[-1] if self.heads else None
        place = self.folder / "l.db"
        return opened(place, total=(TOTAL, DELTA), analysts=limits, anchor=anchor)

    @initialize()
    def begin(self) -> None:
        self.ledgers = [self.open(), self.open()]

    @rule(
        which=st.integers(0, 1),
        analyst=st.sampled_from(sorted(LIMITS)),
        question=st.sampled_from("abc"),
        epsilon=epsilons,
        delta=deltas,
    )
    def ask(
        self, which: int, analyst: str, question: str, epsilon: Fraction, delta: Fraction
    ) -> None:
        key = (question, epsilon, delta)
        request = asking(question, epsilon, delta=delta, analyst=analyst)
        ledger = self.ledgers[which]
        if key in self.plain.answers:
            found = ledger.reserve(request)
            assert isinstance(found, StoredAnswer)
            assert found.answer == self.plain.answers[key]
        elif self.plain.allows(analyst, epsilon, delta):
            found = ledger.reserve(request)
            assert isinstance(found, Reservation)
            self.plain.charges.append((analyst, epsilon, delta))
            self.waiting.append((found, key))
        else:
            with pytest.raises(BudgetExceeded):
                ledger.reserve(request)

    @precondition(lambda self: self.waiting)
    @rule(which=st.integers(0, 1), data=st.data())
    def seal(self, which: int, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(self.waiting) - 1))
        reservation, key = self.waiting.pop(place)
        self.number += 1
        stored = self.ledgers[which].seal(reservation, self.number)
        self.plain.answers.setdefault(key, self.number)
        self.heads.append(stored.head)

    @precondition(lambda self: self.waiting)
    @rule(which=st.integers(0, 1))
    def fail(self, which: int) -> None:
        self.ledgers[which].fail(self.waiting.pop()[0], "CEL-X001")

    @rule(which=st.integers(0, 1))
    def open_again(self, which: int) -> None:
        self.ledgers[which].close()
        self.ledgers[which] = self.open()

    @rule()
    def lose_what_waits(self) -> None:
        self.waiting.clear()

    @invariant()
    def the_sums_are_those_of_the_model(self) -> None:
        for ledger in self.ledgers:
            spent = ledger.spent
            assert spent["epsilon"] == sum(e for _, e, _ in self.plain.charges)
            assert spent["delta"] == sum(d for _, _, d in self.plain.charges)
            for name, limit in LIMITS.items():
                own = sum(e for who, e, _ in self.plain.charges if who == name)
                assert ledger.remaining_of(name)["epsilon"] == limit - own

    def teardown(self) -> None:
        if self.ledgers:
            told = [(each.analyst, each.epsilon, each.delta) for each in self.ledgers[0].history()]
            assert told == self.plain.charges
            for head in self.heads:
                self.ledgers[1].verify(anchor=head)
        for ledger in self.ledgers:
            ledger.close()
        shutil.rmtree(self.folder)


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
