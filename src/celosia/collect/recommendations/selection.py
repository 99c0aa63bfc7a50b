"""Selection of protocols and parameters by the error of a rare value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from celosia.collect.count_mean.base import SketchProtocol
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.protocol import Protocol, check_report_epsilon
from celosia.collect.recommendations import designs
from celosia.collect.recommendations.results import Recommendation, Recommendations
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameters, plain
from celosia.core.numbers import real, whole

MOST_USERS = 2**40
MOST_DOMAIN = 2**40
STEPS = 1000
"""Epsilons are searched in steps of a thousandth."""
ENOUGH = 64
"""Beyond this epsilon no coin changes any more."""
UNLISTED = 2**20
"""Values that an unknown dictionary is taken to have, for how uneven they are."""
ALIKE = 1.05
"""Errors within this factor count as the same: then the shorter report goes first."""


def choose(
    *,
    domain: float | None = None,
    users: float | None = None,
    epsilon: float | Fraction | None = None,
    target_error: float | None = None,
    target_share: float | None = None,
    bytes: int | None = None,
    squares: float | None = None,
    hashes: int | None = None,
    unknown_dictionary: bool = False,
    repeated: bool = False,
) -> Recommendations:
    """Protocols for a collection, ranked by the error of a rare value.

    Give users and epsilon, and see the error; or leave one of them out and give a target
    error, and see the least epsilon, or the fewest users, that each protocol needs for it.
    Errors are those of the exact variances of the protocols; where values can collide, the hashes
    are chosen so that this adds at most a tenth to the variance.

    Args:
        domain: how many different values there can be; not needed for an unknown dictionary.
        users: how many report.
        epsilon: of one report; where collection is repeated, of all reports on one value.
        target_error: the target standard error of a count, in users.
        target_share: the same as a share of all users.
        bytes: the most that a report may have.
        squares: the sum of the squared shares of all values, from 1/domain (all alike) to 1 (only
            one); it decides about collisions. Without it that of Zipf's law with 1.1.
        hashes: the rows of sketches, where they are decided already.
        unknown_dictionary: whether the server must find the values itself.
        repeated: whether devices are asked again and again.

    Raises:
        InputError: CEL-R090 a number is out of range, CEL-R091 two of users, epsilon and a target
            are needed, CEL-R092 no protocol fits.

    >>> found = choose(users=10**6, domain=1000, epsilon=2, bytes=8)
    >>> [each.label for each in found.ranked][:3], round(found.best.error)
    (['pgr', 'olh-pool', 'olh'], 855)
    >>> choose(users=10**6, domain=1000, target_error=2000, bytes=3).best.needed_epsilon
    0.97
    """
    size = _count(
        "domain", domain, 2, MOST_DOMAIN, default=UNLISTED if unknown_dictionary else None
    )
    price = None if epsilon is None else check_report_epsilon("choose", epsilon)
    crowd = None if users is None else _count("users", users, 1, MOST_USERS)
    target = _target_error(crowd, target_error, target_share)
    if (crowd is None) + (price is None) + (target is None) > 1:
        raise InputError("CEL-R091.two_needed")
    if crowd is None and target_share is None:
        raise InputError("CEL-R091.share_needed")
    need = designs.Need(
        users=crowd or MOST_USERS,
        domain=size,
        squares=_squares(squares, size),
        bits=inf if bytes is None else 8 * _count("bytes", bytes, 1, 2**20),
        hashes=None if hashes is None else _count("hashes", hashes, 1, 2**20),
        repeated=repeated,
    )
    search = _Search(need, price, None if target_share is None else float(target_share), target)
    found: list[Recommendation] = []
    left_out: list[tuple[str, str]] = []
    for label in designs.UNKNOWN if unknown_dictionary else designs.KNOWN:
        try:
            found.append(search.recommended(label, has_users=crowd is not None))
        except designs.UnfitProtocol as unfit:
            left_out.append((label, unfit.reason))
    sought = "users" if crowd is None else "epsilon" if price is None else "error"
    if not found:
        reasons = [Message("collect.unfit.named", name=name, why=why) for name, why in left_out]
        raise InputError("CEL-R092", reasons=reasons)
    ranked = _rank(found, _score(sought))
    return Recommendations(
        need=need,
        epsilon=None if price is None else float(price),
        target_error=target,
        ranked=tuple(ranked),
        left_out=tuple(left_out),
        sought=sought,
    )


@dataclass(frozen=True, slots=True)
class _Search:
    need: designs.Need
    epsilon: Fraction | None
    target_share: float | None
    target_error: float | None

    def recommended(self, label: str, *, has_users: bool) -> Recommendation:
        need, epsilon = self.need, self.epsilon
        needed_epsilon: Fraction | None = None
        needed_users: int | None = None
        if self.target_error is not None and has_users:
            try:
                needed_epsilon = epsilon_for(label, need, self.target_error)
            except designs.UnfitProtocol:
                if epsilon is None:
                    raise
        if self.target_share is not None and epsilon is not None:
            try:
                needed_users = users_for(label, need, epsilon, self.target_share)
            except designs.UnfitProtocol:
                if not has_users:
                    raise
        if not has_users:
            assert needed_users is not None
            need = replace(need, users=needed_users)
        price = epsilon if epsilon is not None else needed_epsilon
        assert price is not None
        protocol = designs.design_protocol(label, need, price)
        cost = designs.server_cost(protocol, need.users, need.domain)
        return Recommendation(
            label=label,
            parameters=_parameters(protocol),
            users=need.users,
            error=designs.error_of(protocol, need),
            collision_share=designs.collision_share(protocol, need),
            report_bits=protocol.report_bits,
            report_epsilon=protocol.loss.epsilon(0),
            lasting_epsilon=protocol.lasting_epsilon,
            server_bytes=cost.bytes,
            server_steps=cost.steps,
            needed_epsilon=None if needed_epsilon is None else float(needed_epsilon),
            needed_users=needed_users,
            warnings=tuple(_warnings(label, protocol, need)),
        )


def epsilon_for(label: str, need: designs.Need, target: float) -> Fraction:
    """The least epsilon, in thousandths, with which a rare value has an error of at most `target`.

    Raises:
        UnfitProtocol: there is none, and why.
    """
    if _error(label, need, Fraction(ENOUGH)) > target:
        floor = designs.error_of(designs.design_protocol(label, need, Fraction(ENOUGH)), need)
        if label == "hcms":
            raise designs.UnfitProtocol(Message("collect.unfit.error_of_signs", error=floor))
        raise designs.UnfitProtocol(Message("collect.unfit.error", error=floor))
    steps = _least(
        lambda step: _error(label, need, Fraction(step, STEPS)) <= target, 1, ENOUGH * STEPS
    )
    return Fraction(steps, STEPS)


def users_for(label: str, need: designs.Need, epsilon: Fraction, share: float) -> int:
    """The fewest users with whom the error of a rare value is at most this share of them.

    Raises:
        UnfitProtocol: more than 2^40 are needed.
    """

    def enough(users: int) -> bool:
        return _error(label, replace(need, users=users), epsilon) <= share * users

    designs.design_protocol(label, need, epsilon)  # it may not fit at all
    if not enough(MOST_USERS):
        raise designs.UnfitProtocol(Message("collect.unfit.users"))
    return _least(enough, 1, MOST_USERS)


def _error(label: str, need: designs.Need, epsilon: Fraction) -> float:
    """Infinite where the design does not fit, as a coin may be too fine at a small epsilon."""
    try:
        return designs.error_of(designs.design_protocol(label, need, epsilon), need)
    except designs.UnfitProtocol:
        return inf


def _least(enough: Callable[[int], bool], low: int, high: int) -> int:
    """The least number that is enough, where `high` is, and more is never worse."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def _warnings(label: str, protocol: Protocol, need: designs.Need) -> list[str]:
    found: list[str] = []
    sketch = protocol.words if isinstance(protocol, FragmentPuzzle) else protocol
    if isinstance(sketch, SketchProtocol | LocalHashing):
        wanted = designs.required_hashes(sketch, need)
        has = sketch.hashes if isinstance(sketch, SketchProtocol) else sketch.pool
        if has and has < wanted:
            found.append(
                Message("collect.warning.hashes", has=has, wanted=wanted, share=designs.COLLISIONS)
            )
    if label == "rappor":
        found.append(Message("collect.warning.shared_bits"))
    if label == "sfp":
        found.append(Message("collect.warning.pieces"))
    if label == "pem":
        found.append(Message("collect.warning.prefixes"))
    return found


def _parameters(protocol: Protocol) -> dict[str, Any]:
    """As in a protocol file, without the key and the domain, which the collection decides."""
    given = {each.name: getattr(protocol, each.name) for each in parameters(type(protocol))}
    return {"method": protocol.method_name} | {
        name: plain(each) for name, each in given.items() if name not in ("key", "domain")
    }


def _score(sought: str) -> Callable[[Recommendation], float]:
    if sought == "epsilon":
        return lambda each: each.needed_epsilon or inf
    if sought == "users":
        return lambda each: float(each.needed_users or inf)
    return lambda each: each.error


def _rank(
    found: list[Recommendation], score: Callable[[Recommendation], float]
) -> list[Recommendation]:
    """The best first; among those that are nearly as good, the shortest report first."""
    rest, ranked = sorted(found, key=score), []
    while rest:
        level = ALIKE * score(rest[0])
        group = [each for each in rest if score(each) <= level]
        ranked += sorted(group, key=lambda each: (each.report_bits, each.server_steps))
        rest = rest[len(group) :]
    return ranked


def _target_error(users: int | None, error: object, share: object) -> float | None:
    for name, value, most in (("target_error", error, inf), ("target_share", share, 1.0)):
        number = real(value)
        if value is not None and (number is None or not 0 < number < most):
            key = "CEL-R090.error" if most == inf else "CEL-R090.share"
            raise InputError(key, name=name)
    if error is not None and share is not None:
        raise InputError("CEL-R090.two_targets")
    if share is not None:
        return float(real(share) or 0) * users if users is not None else inf
    return real(error)


def _squares(squares: float | None, domain: int) -> float:
    if squares is not None:
        number = real(squares)
        if number is None or not 0 < number <= 1:
            raise InputError("CEL-R090.squares")
        return number
    ranks = np.arange(1, min(domain, 2**20) + 1, dtype=np.float64) ** -designs.ZIPF
    # What is beyond a million values adds to the sum of shares, but hardly to that of squares.
    tail = (ranks.size**-0.1 - domain**-0.1) / (designs.ZIPF - 1) if domain > ranks.size else 0.0
    return float((ranks**2).sum() / (ranks.sum() + tail) ** 2)


def _count(name: str, value: object, least: int, most: int, *, default: int | None = None) -> int:
    if value is None and default is not None:
        return default
    number = real(value)
    found = whole(value)
    if found is None and number is not None and isfinite(number) and number == ceil(number):
        found = int(number)  # 1e6 is as good as 1000000
    if found is None or not least <= found <= most:
        raise InputError("CEL-R090.not_whole", name=name, least=least, most=most)
    return found
