"""The terms of a ledger: the data set, its policy, the limits of its budget, daily ceilings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from celosia.accounting.amounts import Spending, delta_amount, epsilon_amount, format_amount
from celosia.accounting.currencies import RULES, filter_of, is_within, spending_of
from celosia.accounting.filters import FILTERS, Filter
from celosia.accounting.ledger.chain import format_fraction, parse_amount
from celosia.core.errors import BudgetExceeded, InputError, PrivacyError, QueryRefused
from celosia.core.messages import Message, did_you_mean
from celosia.core.neighbours import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Ceilings of one analyst in one day of universal time; None where there is no ceiling."""

    least_epsilon: Fraction = Fraction(0)
    """The least epsilon of one question."""

    questions_per_day: int | None = None
    """Charged questions; an answer that is stored already is given again without counting."""
    exceeded_per_day: int | None = None
    """Questions that were too much for the rows: not answered by their deadline, or failed. Each of
    them is answered by noise on zero, which may tell a little about the rows."""

    def check_price(self, epsilon: Fraction) -> None:
        """Refuse a question that costs too little.

        Raises:
            QueryRefused: CEL-Q300.
        """
        if epsilon < self.least_epsilon:
            least = format_amount(self.least_epsilon)
            raise QueryRefused("CEL-Q300", least_epsilon=least, least=float(self.least_epsilon))

    def check(self, *, questions: int, exceeded: int) -> None:
        """Refuse one more question of an analyst.

        Args:
            questions: the questions of the analyst that were charged today.
            exceeded: how many of them were not answered by their deadline.

        Raises:
            BudgetExceeded: CEL-Q301 too many questions, CEL-Q301 too many exceeded deadlines.
        """
        if self.questions_per_day is not None and questions >= self.questions_per_day:
            raise BudgetExceeded("CEL-Q301.questions", questions_per_day=self.questions_per_day)
        if self.exceeded_per_day is not None and exceeded >= self.exceeded_per_day:
            raise BudgetExceeded("CEL-Q301.exceeded", exceeded_per_day=self.exceeded_per_day)


Limit = Spending | tuple[object, object]
"""A `Spending`, or a pair of an epsilon and a delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms in force; each change of them is an entry of the ledger."""

    dataset: str
    policy: str
    rule: str
    total: Spending
    analysts: Mapping[str, Spending]
    neighbours: Neighbours | None = None
    """Whom the budget protects; None where the policy says it."""

    @classmethod
    def of(
        cls,
        *,
        dataset: str,
        policy: str,
        rule: str,
        total: Limit,
        analysts: Mapping[str, Limit],
        neighbours: Neighbours | None = None,
    ) -> Terms:
        """The terms that a policy declares.

        Raises:
            InputError: CEL-Q100 a name is missing or a rule does not exist; CEL-I060 an
                amount is out of range; CEL-B061 a rule that does not fit.
        """
        for name, text in (
            ("queries.ledger_part.dataset", dataset),
            ("queries.ledger_part.policy", policy),
            *_analyst_names(analysts),
        ):
            if not isinstance(text, str) or not text.strip():
                raise InputError("CEL-Q100.no_text", name=Message(name))
        if rule not in FILTERS:
            hint = did_you_mean(str(rule), FILTERS)
            raise InputError("CEL-Q100.unknown_rule", rules=list(FILTERS), rule=rule, hint=hint)
        limits = {name: _spending(limit) for name, limit in sorted(analysts.items())}
        terms = cls(
            dataset=dataset,
            policy=policy,
            rule=rule,
            total=_spending(total),
            analysts=limits,
            neighbours=neighbours,
        )
        wanted = RULES.get(terms.total.currency)
        if wanted not in {None, rule}:
            raise InputError("CEL-B061.unknown", fits=wanted, name=rule, hint="")
        for limit in (terms.total, *limits.values()):
            terms.filter_of(limit)
        return terms

    def filter_of(self, limit: Spending) -> Filter:
        """The rule that keeps a limit; sums where delta is 0, for then no other rule does.

        A limit of an analyst may be in another currency than the total. Each charge is priced for
        each account by itself, so both rules hold, each for the releases that it counts.
        """
        rule = self.rule if limit.currency == self.total.currency else "basic"
        return filter_of(limit, rule=rule)

    @property
    def account(self) -> tuple[str, str]:
        """What decides how charges are added up."""
        return self.rule, self.total.currency

    def check_follows(self, old: Terms, *, enlarge: bool, convert: bool = False) -> None:
        """Refuse to go on with a ledger that was kept for something else, or for less.

        Args:
            old: the terms that the ledger stands under.
            enlarge: whether limits may be larger.
            convert: whether the budget may be one in another currency: a new promise.
        """
        for name, mine, its in (
            ("queries.ledger_part.dataset", self.dataset, old.dataset),
            ("queries.ledger_part.unit", _unit(self), _unit(old)),
        ):
            if mine != its:
                raise PrivacyError("CEL-Q102.other_account", name=Message(name), its=its, mine=mine)
        if self.account != old.account:
            if convert:
                return
            mine, its = self.account[1], old.account[1]
            if mine != its:
                raise PrivacyError("CEL-Q102.other_currency", its=its, mine=mine)
            rule = Message("queries.ledger_part.rule")
            raise PrivacyError("CEL-Q102.other_account", name=rule, its=old.rule, mine=self.rule)
        larger = self._larger_than(old)
        # Sums stay true whatever the limit becomes. The filters of advanced composition are proven
        # for limits that were fixed before the first question (Rogers et al. 2016).
        if larger and not (enlarge and self.rule == "basic"):
            raise PrivacyError("CEL-Q103", larger=larger)

    def _larger_than(self, old: Terms) -> list[Message]:
        within = is_within(self.total, old.total)
        found = [] if within else [Message("queries.larger.total")]
        # Without a list anybody may ask, each up to the total: that is more for all.
        if old.analysts and not self.analysts:
            found.append(Message("queries.larger.anyone"))
        for name, limit in self.analysts.items():
            before = old.analysts.get(name)
            if before is not None and not is_within(limit, before):
                found.append(Message("queries.larger.analyst", name=name))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, amounts as fractions."""
        whom = {} if self.neighbours is None else {"neighbours": asdict(self.neighbours)}
        return whom | {
            "dataset": self.dataset,
            "policy": self.policy,
            "rule": self.rule,
            "total": _format_spending(self.total),
            "analysts": {name: _format_spending(limit) for name, limit in self.analysts.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Terms:
        """Read what `as_dict` wrote."""
        whom = values.get("neighbours")
        return cls(
            neighbours=None if whom is None else Neighbours(whom["relation"], whom["unit"]),
            dataset=values["dataset"],
            policy=values["policy"],
            rule=values["rule"],
            total=_parse_spending(values["total"]),
            analysts={name: _parse_spending(limit) for name, limit in values["analysts"].items()},
        )


def _unit(terms: Terms) -> str:
    return "policy" if terms.neighbours is None else str(terms.neighbours)


def _analyst_names(analysts: object) -> list[tuple[str, object]]:
    if not isinstance(analysts, Mapping):
        raise InputError("CEL-Q100.no_limits")
    return [("queries.ledger_part.analyst", name) for name in analysts]


def _spending(limit: object) -> Spending:
    if isinstance(limit, tuple) and len(limit) == 2:
        epsilon, delta = limit
    elif isinstance(limit, Spending):
        if limit.currency != "epsilon":
            return spending_of(rho=limit.rho, curve=limit.curve, delta=limit.delta)
        epsilon, delta = limit.epsilon, limit.delta
    else:
        raise InputError("CEL-Q100.not_a_limit")
    return Spending(epsilon=epsilon_amount(epsilon), delta=delta_amount(delta, zero=True))


def _format_spending(limit: Spending) -> dict[str, Any]:
    delta = {"delta": format_fraction(limit.delta)}
    if limit.rho is not None:
        return {"rho": format_fraction(limit.rho)} | delta
    if limit.curve:
        return {"curve": [[*map(format_fraction, pair)] for pair in limit.curve]} | delta
    return {"epsilon": format_fraction(limit.epsilon)} | delta


def _parse_spending(values: Mapping[str, Any]) -> Spending:
    delta = parse_amount(values["delta"])
    if "rho" in values:
        return spending_of(rho=parse_amount(values["rho"]), delta=delta)
    if "curve" in values:
        pairs = [(parse_amount(order), parse_amount(bound)) for order, bound in values["curve"]]
        return spending_of(curve=pairs, delta=delta)
    return Spending(epsilon=parse_amount(values["epsilon"]), delta=delta)
