"""An invented search log: topics in English and Spanish, habits, and searches for oneself."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.logs.declaration import LogDeclaration
from celosia.logs.log import Log, log_of

PEOPLE, SEED = 5_000, 11
MOST_PEOPLE = 10_000_000
CATALOGUE = 20_000
"""Different queries that people may have in common, with frequencies by Zipf's law."""

DAYS = 14
LANGUAGES = ("english", "spanish")
COLUMNS = ("user", "when", "query", "clicked", "ip", "ua", "sid")
DECLARATION = LogDeclaration(
    person="user", time="when", text="query", url="clicked", ip="ip", agent="ua", session="sid"
)

_FAVOURITE_WEIGHTS, _FAVOURITE_SHARE = 1 / np.arange(1, 5), 0.35
"""Four favourites, each asked in inverse proportion to its rank."""
_PRIVATE, _PRIVATE_SHARE = 3, 0.06
_POWER_USERS, _POWER = 0.01, 10
_START = 1_788_220_800
"""Tuesday, 1 September 2026, in seconds since 1970."""


@cache
def _words() -> dict[str, Any]:
    """The words of the log."""
    text = files("celosia.datasets").joinpath("search_words.toml").read_text("utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True, eq=False)
class Searches:
    """A search log, and what its makers know."""

    frame: pl.DataFrame = field(repr=False)
    declaration: LogDeclaration
    is_private: NDArray[np.bool_] = field(repr=False)
    """For each record whether the person searches for herself: name, street or number."""

    def log(self) -> Log:
        """The log, as `celosia.logs` takes it."""
        return log_of(self.frame, self.declaration)

    def __repr__(self) -> str:
        return f"Searches(records={self.frame.height})"


def searches(people: int = PEOPLE, *, seed: int = SEED) -> Searches:
    """A search log of two weeks; the same seed makes the same one.

    Each person has 4 favourite queries (35 % of the records) and 3 of their own: name and town,
    street, number (6 %); all others follow Zipf's law over a catalogue of 20,000. One person in a
    hundred is ten times as active.

    Raises:
        InputError: CEL-D045 no such number of people.

    >>> searches(50).frame.columns
    ['user', 'when', 'query', 'clicked', 'ip', 'ua', 'sid']
    """
    count = whole(people)
    if count is None or not 2 <= count <= MOST_PEOPLE:
        raise InputError("CEL-D045", what="people", least=2, most=MOST_PEOPLE)
    if whole(seed) is None or seed < 0:
        raise InputError("CEL-I002", seed=seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = _activity(count, rng)
    who = np.repeat(np.arange(count), sizes)
    shares = np.cumsum(1 / np.arange(1, CATALOGUE + 1))
    shares /= shares[-1]

    def zipf(size: int) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(shares, rng.random(size)), CATALOGUE - 1)

    ranks = np.cumsum(_FAVOURITE_WEIGHTS / _FAVOURITE_WEIGHTS.sum())
    favourites = zipf(count * len(ranks)).reshape(count, len(ranks))
    kind = rng.random(len(who))
    codes = zipf(len(who))
    is_private = kind < _PRIVATE_SHARE
    is_favourite = ~is_private & (kind < _PRIVATE_SHARE + _FAVOURITE_SHARE)
    chosen = np.searchsorted(ranks[:-1], rng.random(int(is_favourite.sum())), side="right")
    codes[is_favourite] = favourites[who[is_favourite], chosen]
    own = rng.integers(_PRIVATE, size=int(is_private.sum()))
    codes[is_private] = CATALOGUE + who[is_private] * _PRIVATE + own
    texts = pl.concat([catalogue_texts(), _own_texts(count)])
    seconds, session = _times(who, sizes, rng)
    order = np.lexsort((np.arange(len(who)), seconds))
    frame = pl.DataFrame(
        {
            "user": pl.Series(who[order] + 1).cast(pl.String).str.zfill(7),
            "when": pl.from_epoch(pl.Series(seconds[order]), time_unit="s").dt.to_string(
                "%Y-%m-%dT%H:%M:%SZ"
            ),
            "query": texts.gather(codes[order]),
            "clicked": _clicks(codes, rng).gather(order),
            "ip": _addresses(count).gather(who[order]),
            "ua": pl.Series(_words()["agents"]).gather((who[order] * 7 + 3) % 6),
            "sid": pl.Series(session[order] + 1).cast(pl.String),
        }
    )
    return Searches(frame, DECLARATION, is_private[order])


def _activity(people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The records of each person: one of each part of the law, so that logs differ little."""
    level = rng.permutation((np.arange(people) + rng.random(people)) / people)
    activity = np.minimum(np.exp(2.6 + 1.1 * ndtri(level)) + 1, 2_000)
    activity[rng.random(people) < _POWER_USERS] *= _POWER
    found: NDArray[np.int64] = np.rint(activity).astype(np.int64)
    return found


def search_records(rows: int | None = None, *, seed: int = SEED) -> pl.DataFrame:
    """The records of a search log, so many of them; of 5,000 people where no number is given.

    >>> search_records(100).height
    100
    """
    if rows is None:
        return searches(seed=seed).frame
    wanted = whole(rows)
    if wanted is None or not 1 <= wanted <= MOST_PEOPLE:
        raise InputError("CEL-D045", what="rows", least=1, most=MOST_PEOPLE)
    people = max(50, wanted // 12)  # half the records of as many people are more than enough
    frame = searches(people, seed=seed).frame
    while frame.height < wanted:
        people *= 2
        frame = searches(people, seed=seed).frame
    return frame.head(wanted)


@cache
def catalogue_texts() -> pl.Series:
    """The queries that people have in common, the most frequent first."""
    forms = [(topic, language) for topic in _words()["topics"] for language in LANGUAGES]
    texts: dict[str, None] = {}
    number = 0
    while len(texts) < CATALOGUE:
        topic, language = forms[number % len(forms)]
        texts.setdefault(_query(topic, language, number // len(forms)))
        number += 1
    return pl.Series(list(texts), dtype=pl.String)


def _query(topic: str, language: str, number: int) -> str:
    """A query of a topic: a noun, then with a modifier, then with a town, too."""
    words = _words()
    nouns = words["topics"][topic][language]
    number, noun = divmod(number, len(nouns))
    if topic == "names":
        # A known person of a profession; not anybody's own name, which has two surnames.
        given, surnames = words["given_names"], words["surnames"]
        turn, first = divmod(number, len(given))
        towns = words["towns"]
        place = [towns[turn // len(surnames) % len(towns)]] if turn >= len(surnames) else []
        return " ".join([nouns[noun], given[first], surnames[turn % len(surnames)], *place])
    modifiers = ["", *words[f"modifiers_{language}"]]
    turn, modifier = divmod(number, len(modifiers))
    town = words["towns"][(turn - 1) % len(words["towns"])] if turn else ""
    return " ".join(each for each in (nouns[noun], modifiers[modifier], town) if each)


def _own_texts(people: int) -> pl.Series:
    """What each person has for herself: name and town, street, number."""
    number = np.arange(people)
    words = _words()
    firsts, surnames = words["given_names"], words["surnames"]
    given = pl.Series(firsts).gather(number % len(firsts))
    first = pl.Series(surnames).gather(number // len(firsts) % len(surnames))
    second = pl.Series(surnames).gather(number // (len(firsts) * len(surnames)) % len(surnames))
    house = pl.Series(number).cast(pl.String)
    town = pl.Series(words["towns"]).gather(number % 17)
    names = given + " " + first + " " + second + " " + town
    # More people than names: further ones have the number of their house as well.
    names = names.zip_with(
        pl.Series(number < len(firsts) * len(surnames) ** 2), names + " " + house
    )
    streets = "calle " + second + " " + house + " " + town
    phones = "600 " + pl.Series(number).cast(pl.String).str.zfill(8)
    return (
        pl.DataFrame({"a": names, "b": streets, "c": phones})
        .select(pl.concat_list("a", "b", "c").explode())
        .to_series()
    )


def _times(
    who: NDArray[np.int64], sizes: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The second of each record, and its session: about four records, a minute or two apart."""
    per_person = (sizes + 3) // 4
    first = np.cumsum(per_person) - per_person
    session = first[who] + (rng.random(len(who)) * per_person[who]).astype(np.int64)
    total = int(per_person.sum())
    day = rng.integers(DAYS, size=total)
    hour = np.clip(rng.normal(15, 4.5, total), 0, 23.4)
    begin = _START + day * 86_400 + (hour * 3_600).astype(np.int64)
    offset = rng.integers(1_500, size=len(who))
    return begin[session] + offset, session


def _clicks(codes: NDArray[np.int64], rng: np.random.Generator) -> pl.Series:
    """The address that was clicked on, after six searches in ten; never after one of their own."""
    topics = list(_words()["topics"])
    page = codes % 997
    domains = pl.Series([f"https://www.{topic}.example.com/page/" for topic in topics])
    address = domains.gather((codes // 2) % len(topics)) + pl.Series(page).cast(pl.String)
    is_clicked = pl.Series((rng.random(len(codes)) < 0.6) & (codes < CATALOGUE))
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(codes))
    return address.zip_with(is_clicked, nothing)


def _addresses(people: int) -> pl.Series:
    """Addresses of documentation and private ranges, one for each person."""
    number = np.arange(people)
    high, low = pl.Series(number // 250 % 65_536), pl.Series(number % 250 + 2)
    private = pl.select(pl.format("10.{}.{}.{}", (high // 256) % 256, high % 256, low)).to_series()
    shown = pl.select(
        pl.format(
            "{}.{}", pl.Series(["192.0.2", "198.51.100", "203.0.113"]).gather(number % 3), low
        )
    ).to_series()
    return shown.zip_with(pl.Series(number % 5 == 0), private)
