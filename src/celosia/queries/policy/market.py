"""Prices of answers in money, declared in a policy: optional, public, and without arbitrage.

[market]
currency = "EUR"
fee = 0.5                            # of each answer, whatever its epsilon
per_epsilon = 30                     # or steps: prices = [[0.1, 5], [1, 30]], joined by lines
repeated = "charged"                 # a stored answer given to another analyst; or "free"
compensation = 0.7                   # the share of each price that goes to the people in the data
factors = { ana = 0.8 }              # what an analyst pays of the list price

Buying in parts is never cheaper. Let f(e) be the list price at epsilon e; a policy is refused
unless f never falls and f(e) / e never rises. Then

- *splitting*: f(a + b) <= f(a) + f(b), because f(a) >= a * f(a + b) / (a + b), and so for b. Two
  aggregates in one question share its epsilon, so to ask for them one by one saves nothing.
- *averaging*: n independent answers at epsilons e1, ..., en have together, at best, the sum of
  their precisions P(ei) = 1 / variance. Where P(e) / e never falls, f(e) / P(e) never rises, so
  whenever P(e1) + ... + P(en) >= P(e) with each ei <= e,
  f(e1) + ... + f(en) >= (P(e1) + ... + P(en)) * f(e) / P(e) >= f(e). Laplace noise has
  P(e) = e^2 / (2 * bound^2); its integer form grows faster still; the Gaussian mechanism at a fixed
  delta has P(e) / e rising wherever e is above a few times delta, and a question costs at least
  `least_epsilon`. Of several mechanisms the best one, the largest P, keeps the property.

Li, Li, Miklau & Suciu 2013 have the general theory. A fee keeps both conditions, and so does
rounding each price up: the sum of rounded prices is at least the rounded sum. No price list can
stop analysts from sharing answers with each other; factors that differ make that worth money.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Literal, cast, get_args

from celosia.queries.policy.settings import Problems, Settings, parse_amount

Repeated = Literal["charged", "free"]
"""What another analyst pays for an answer that is stored: the price, or nothing."""
CENTS = 100
"""Prices are rounded up to a hundredth of the currency."""
MOST_PRICE = Fraction(10**12)
_KEYS = ("currency", "fee", "per_epsilon", "prices", "repeated", "compensation", "factors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """The price list of a policy.

    >>> market = Market(prices=((Fraction(1, 10), Fraction(5)), (Fraction(1), Fraction(30))))
    >>> [str(market.price(Fraction(each, 20))) for each in (1, 2, 11, 20, 40)]
    ['5/2', '5', '35/2', '30', '60']
    """

    prices: tuple[tuple[Fraction, Fraction], ...]
    """Epsilons with their prices, in order of epsilon; joined by lines. Below the first and above
    the last, the price of one epsilon stays as it is there."""
    currency: str = "EUR"
    fee: Fraction = Fraction(0)
    """Added to the price of each answer."""
    repeated: Repeated = "charged"
    compensation: Fraction = Fraction(0)
    """The share of each price that is paid out to the people whose data was used."""
    factors: tuple[tuple[str, Fraction], ...] = ()
    """What an analyst pays of the list price; 1 for all others."""

    def price(self, epsilon: Fraction, analyst: str | None = None) -> Fraction:
        """The price of an answer, rounded up to a hundredth."""
        factor = dict(self.factors).get(analyst or "", Fraction(1))
        exact = factor * (self.fee + self._by_epsilon(epsilon))
        return Fraction(ceil(exact * CENTS), CENTS)

    def _by_epsilon(self, epsilon: Fraction) -> Fraction:
        first, last = self.prices[0], self.prices[-1]
        if epsilon <= first[0]:
            return first[1] * epsilon / first[0]
        for (low, least), (high, most) in pairwise(self.prices):
            if epsilon <= high:
                return least + (most - least) * (epsilon - low) / (high - low)
        return last[1] * epsilon / last[0]


def read_market(top: Settings) -> Market | None:
    """The `[market]` of a policy; None where it has none, or none that can be read."""
    if not top.has("market"):
        return None
    section = top.section("market", "[market]", _KEYS)
    before = top.problems.unread
    factors = section.section("factors", "[market.factors]")
    market = Market(
        prices=_prices(section),
        currency=section.text("currency") or "EUR",
        fee=section.number("fee") or Fraction(0),
        repeated=cast(Repeated, section.word("repeated", get_args(Repeated), "charged")),
        compensation=section.number("compensation") or Fraction(0),
        factors=tuple((name, factors.number(name) or Fraction(1)) for name in factors.table),
    )
    return market if top.problems.unread == before else None


def _prices(section: Settings) -> tuple[tuple[Fraction, Fraction], ...]:
    if section.has("per_epsilon") == section.has("prices"):
        section.problems.add("CEL-Q330.no_prices")
        return ()
    if section.has("per_epsilon"):
        return ((Fraction(1), section.number("per_epsilon") or Fraction(0)),)
    written = section.table["prices"]
    steps = [_step(each) for each in written] if isinstance(written, list) else []
    if not steps or None in steps:
        section.problems.add("CEL-Q330.no_steps")
        return ()
    return tuple(sorted(each for each in steps if each is not None))


def _step(written: object) -> tuple[Fraction, Fraction] | None:
    if not isinstance(written, list) or len(written) != 2:
        return None
    epsilon, price = map(parse_amount, written)
    return None if epsilon is None or price is None else (epsilon, price)


def check_market(market: Market, analysts: Iterable[str], problems: Problems) -> None:
    """Note prices that are out of range, or that make it cheaper to buy an answer in parts."""
    amounts = [market.fee, *(price for _, price in market.prices)]
    in_range = all(0 <= amount <= MOST_PRICE for amount in amounts)
    if not in_range or any(epsilon <= 0 for epsilon, _ in market.prices):
        problems.add("CEL-Q330.out_of_range", most=int(MOST_PRICE))
        return
    if not 0 <= market.compensation <= 1:
        problems.add("CEL-Q330.compensation")
    if not (market.currency.isalpha() and market.currency.isupper() and len(market.currency) == 3):
        problems.add("CEL-Q330.currency")
    known = set(analysts)
    for name, factor in market.factors:
        if not 0 <= factor <= 1000:
            problems.add("CEL-Q330.factor", name=name)
        if known and name not in known:
            problems.add("CEL-Q330.unknown_analyst", name=name)
    for (low, least), (high, most) in pairwise(market.prices):
        if low == high or most < least or most * low > least * high:
            problems.add(
                "CEL-Q330.arbitrage",
                low=float(low),
                high=float(high),
                least=float(least),
                most=float(most),
                currency=market.currency,
            )


def market_facts(market: Market) -> Mapping[str, object]:
    """The price list as plain values, as anybody may see it."""
    return {
        "currency": market.currency,
        "fee": float(market.fee),
        "prices": [[float(epsilon), float(price)] for epsilon, price in market.prices],
        "repeated": market.repeated,
        "compensation": float(market.compensation),
        "factors": {name: float(factor) for name, factor in market.factors},
    }
