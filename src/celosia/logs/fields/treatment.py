"""The treatment of every field of a record that identifies a person by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.pseudonyms.crypto_pan import KEY_BYTES, CryptoPan
from celosia.core.randomness import Source
from celosia.logs.arrays import people_per_item
from celosia.logs.damage import Damage
from celosia.logs.fields import addresses, agents, urls
from celosia.logs.fields.times import floor_times, parse_times, periods, sessions
from celosia.logs.log import Log
from celosia.logs.method import LogMethod, MethodResult

Person = Literal["drop", "pseudonym"]
Session = Literal["drop", "pseudonym", "length"]
Ip = Literal["truncate", "truncate-more", "prefix-preserving", "table", "drop"]
Url = Literal["domain", "path", "parameters", "drop"]
Agent = Literal["family", "device", "drop"]
Time = Literal["hour", "day", "drop"]
Bytes = Literal["powers-of-two", "drop"]
Period = Literal["day", "week", "month", "whole"]

_PERIODS = {
    "day": "logs.period.day",
    "week": "logs.period.week",
    "month": "logs.period.month",
    "whole": "logs.period.whole",
}
_BITS = {"truncate": (24, 48), "truncate-more": (16, 32)}


class _Context(NamedTuple):
    """What the treatment of a field may look at."""

    log: Log
    moments: pl.Series | None
    people: NDArray[np.int32] | None
    rng: Source
    pan: CryptoPan | None
    damage: Damage


class TreatedFields(NamedTuple):
    """Every declared column as it may be published."""

    columns: dict[str, pl.Series]
    hidden: frozenset[str]
    """Columns that are not published."""
    damage: Damage
    """The values that could not be read, by the role."""


def _names(value: Any) -> tuple[str, ...]:
    found = check_list(value)
    if not all(isinstance(each, str) and each for each in found):
        raise ValueError
    return found


@dataclass(frozen=True, kw_only=True)
class Fields(LogMethod):
    """Every field in a form that does not identify by itself; columns not declared are dropped.

    It makes no promise: several records of one pseudonym together may still single out a person.

    >>> Fields.default().as_dict()
    {'method': 'fields'}
    """

    method_name: ClassVar[str] = "fields"

    person: Person = parameter("drop", is_main=True)
    period: Period = parameter("day")
    session: Session = parameter("drop")
    ip: Ip = parameter("truncate", is_main=True)
    networks: str | None = parameter(None)
    url: Url = parameter("domain", is_main=True)
    depth: int = parameter(1, least=0, most=20)
    values: tuple[str, ...] = parameter(
        (), check=_names, kind="values", allowed="logs.allowed.names", example='["lang"]'
    )
    agent: Agent = parameter("family")
    agent_people: int = parameter(5, least=1)
    time: Time = parameter("hour", is_main=True)
    bytes: Bytes = parameter("powers-of-two")

    @classmethod
    def default(cls) -> Fields:
        """The first treatment of every field."""
        return cls()

    def check(self) -> None:
        """Refuse addresses by a table where no table is named."""
        if self.ip == "table" and not self.networks:
            raise InputError("CEL-U052.none")

    def leaves_open(self) -> tuple[str, ...]:
        """What pseudonyms and prefixes still tell."""
        gaps: list[str] = []
        if self.person == "pseudonym":
            gaps.append(Message("logs.open.pseudonym", period=Message(_PERIODS[self.period])))
        if self.session == "pseudonym":
            gaps.append(Message("logs.open.session"))
        if self.ip == "prefix-preserving":
            gaps.append(Message("logs.open.prefix"))
        return tuple(gaps)

    def apply(self, log: Log, *, rng: Source, progress: Progress = silent) -> MethodResult[Log]:
        """Treat every declared field, and shuffle records of the same time.

        Raises:
            InputError: CEL-U020, CEL-U021 as `parse_times` says; CEL-U022 pseudonyms by period
                without times; CEL-U014 an address or a time cannot be read and is not to be
                dropped; CEL-I070 cryptography is not installed.
        """
        progress(Step(self.method_name, 0))
        people = _people(log)
        made = self.treat(log, people, self.key(rng), rng=rng)
        made.damage.check(log.declaration.damaged)
        frame = log.frame.with_columns(list(made.columns.values()))
        time = made.columns.get(log.declaration.columns.get("time", ""))
        order = order_within(time, frame.height, rng)
        units = people if people is not None else log.units
        treated = replace(
            log,
            frame=frame[order],
            hidden=made.hidden,
            units=None if units is None else units[order],
        )
        return MethodResult(data=treated, facts=made.damage.counts)

    def key(self, rng: Source) -> CryptoPan | None:
        """The key of addresses, for one release alone: nobody holds it, so nobody can decrypt."""
        return CryptoPan(rng.raw(KEY_BYTES)) if self.ip == "prefix-preserving" else None

    def treat(
        self,
        log: Log,
        people: NDArray[np.int32] | None,
        pan: CryptoPan | None,
        *,
        rng: Source,
        damage: Damage | None = None,
    ) -> TreatedFields:
        """The declared columns as they may be published, in the order of the log.

        Args:
            log: the records.
            people: the person of each; None where there are none.
            pan: the key of addresses that stay alike in their beginnings.
            rng: where pseudonyms are drawn from.
            damage: what could not be read in earlier blocks, which is added to.
        """
        columns = log.declaration.columns
        damage = Damage() if damage is None else damage
        moments = None
        if "time" in columns:
            moments = parse_times(log.column("time"), log.declaration)
            damage.add("times_unread", moments.is_null() & _is_given(log.column("time")))
        new: dict[str, pl.Series] = {}
        hidden = set(log.hidden)
        for role, name in columns.items():
            if role == "text" or (role == "person" and name in _others(columns)):
                continue  # an address that is also the person is treated as an address
            made = self._treated(role, _Context(log, moments, people, rng, pan, damage))
            if made is None:
                hidden.add(name)
            else:
                new[name] = made.alias(name)
        damage.before += log.records
        return TreatedFields(new, frozenset(hidden), damage)

    def _treated(self, role: str, context: _Context) -> pl.Series | None:
        """The new column of a role; None where it is not published."""
        log, moments = context.log, context.moments
        how = getattr(self, "url" if role == "referrer" else role)
        if how == "drop":
            return None
        column = log.column(role)
        if role in ("person", "session"):
            return self._linked(role, context)
        if role == "time":
            assert moments is not None, "parsed before"
            return floor_times(moments, how, log.declaration.zone)
        if role == "bytes":
            return powers_of_two(column)
        texts = column.cast(pl.String)
        if role == "ip":
            made = self._addresses(texts, context.pan)
        elif role == "agent":
            made = self._agents(texts, context.people)
        else:
            made = _each(texts, self._url_rule(how))
        context.damage.add(f"{role}_unread", made.is_null() & _is_given(texts))
        return made

    def _addresses(self, texts: pl.Series, pan: CryptoPan | None) -> pl.Series:
        if pan is not None:
            return addresses.encrypt(texts, pan)
        if self.networks is not None and self.ip == "table":
            return addresses.labelled(texts, _networks(self.networks))
        return addresses.truncate(texts, _BITS[self.ip])

    def _url_rule(self, how: str) -> Callable[[str], str | None]:
        depth = 0 if how == "domain" else self.depth
        rule = urls.UrlRule(depth=depth, keys=how == "parameters", values=self.values)
        return partial(urls.published, rule=rule)

    def _agents(self, texts: pl.Series, people: NDArray[np.int32] | None) -> pl.Series:
        made = _each(texts, agents.family if self.agent == "family" else agents.device)
        if people is None or self.agent_people == 1:
            return made
        codes = made.cast(pl.Categorical(pl.Categories.random())).to_physical().fill_null(0)
        numbers = codes.to_numpy().astype(np.int64)
        held = people_per_item(people, numbers, int(numbers.max(initial=0)) + 1)
        is_common = pl.Series(held[numbers] >= self.agent_people)
        other = pl.Series([agents.OTHER]).new_from_index(0, len(made))
        return made.zip_with(is_common | made.is_null(), other)

    def _linked(self, role: str, context: _Context) -> pl.Series:
        """Fresh random numbers in the place of persons or sessions, or the size of a session."""
        log, moments, people = context.log, context.moments, context.people
        if role == "person":
            assert people is not None
            if self.period != "whole" and moments is None:
                raise InputError("CEL-U022", period=self.period)
            when = (
                np.zeros(log.records, dtype=np.int64)
                if moments is None
                else periods(moments, self.period, log.declaration.zone)
            )
            return pl.Series(_numbers(np.stack([people, when], axis=1), context.rng))
        codes = log.column("session").cast(pl.String).fill_null("").rank("dense").to_numpy()
        groups = codes.astype(np.int64)
        if people is not None and moments is not None:
            groups = sessions(groups, moments)
        if self.session == "length":
            return pl.Series(np.bincount(groups)[groups])
        return pl.Series(_numbers(groups[:, None], context.rng))


@lru_cache(maxsize=4)
def _networks(path: str) -> addresses.NetworkTable:
    return addresses.NetworkTable.read(path)


def _people(log: Log) -> NDArray[np.int32] | None:
    has_people = log.declaration.unit == "person" and log.declaration.person is not None
    return log.people if has_people else None


def _is_given(column: pl.Series) -> pl.Series:
    """Where a column has a value: not missing, and not an empty text."""
    is_there = column.is_not_null()
    if column.dtype == pl.String:
        is_there &= (column.str.strip_chars() != "").fill_null(value=False)
    return is_there


def _others(columns: dict[str, str]) -> set[str]:
    return {name for role, name in columns.items() if role != "person"}


def _numbers(groups: NDArray[np.int64], rng: Source) -> NDArray[np.int64]:
    """A random number for each group of equal rows: it tells neither order nor who it is."""
    distinct, place = np.unique(groups, axis=0, return_inverse=True)
    return rng.permutation(len(distinct))[place.reshape(-1)] + 1


def order_within(times: pl.Series | None, count: int, rng: Source) -> NDArray[np.int64]:
    """A random order; where times are published, within each of them."""
    order = rng.permutation(count)
    if times is None:
        return order
    ranks = times.rank("dense").fill_null(0).to_numpy()
    return order[np.argsort(ranks[order], kind="stable")]


def _each(texts: pl.Series, work: Callable[[str], str | None]) -> pl.Series:
    """Do some work once for each distinct text."""
    old = texts.drop_nulls().unique()
    new = pl.Series([work(each) for each in old], dtype=pl.String)
    return texts.replace_strict(old, new, default=None, return_dtype=pl.String)


def powers_of_two(column: pl.Series) -> pl.Series:
    """Each number of bytes rounded down to a power of two.

    >>> powers_of_two(pl.Series([0, 1, 700, None])).to_list()
    [0, 1, 512, None]
    """
    numbers = column.cast(pl.Int64, strict=False)
    sizes = numbers.fill_null(0).clip(lower_bound=0).to_numpy()
    bits = np.frexp(sizes.astype(np.float64))[1] - 1  # exact below 2^53
    rounded = np.where(sizes > 0, np.left_shift(np.int64(1), np.maximum(bits, 0)), 0)
    return pl.Series(rounded).zip_with(numbers.is_not_null(), numbers)
