"""Attacks on a published log by their names, with declared parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from fractions import Fraction
from hashlib import md5, sha1, sha256
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Method, parameter
from celosia.core.notation import method_from_text
from celosia.core.randomness import Source
from celosia.logs.account import linked_units, release_postings
from celosia.logs.arrays import people_per_item
from celosia.logs.attacks.inference import association, known_items_of
from celosia.logs.attacks.publication import ChunkedSets, GeneralisedSets, publication_of
from celosia.logs.attacks.result import LogAttack
from celosia.logs.attacks.unicity import known_items
from celosia.logs.fields.times import parse_times
from celosia.logs.log import Log
from celosia.logs.method import SetContext
from celosia.logs.readers import transactions_of
from celosia.logs.records.identifiers import holds_identifier
from celosia.logs.sets.disassociation import DisassociatedSets
from celosia.logs.sets.transactions import Transactions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackedLog:
    """A log and its release; without one, the log under pseudonyms and nothing else."""

    original: Log
    release: Log | None = None

    @property
    def published(self) -> Log:
        """What the attacker sees."""
        return self.original if self.release is None else self.release


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackedSets:
    """Transactions and their release; without one, the transactions themselves."""

    original: Transactions
    release: Transactions | DisassociatedSets | None = None
    context: SetContext
    """The hierarchy and the sensitive items."""

    @property
    def published(self) -> GeneralisedSets | ChunkedSets:
        """What the attacker sees."""
        made = self.original if self.release is None else self.release
        return publication_of(made, self.context.tree)


class LogAttackMethod(Method, ABC):
    """An attack; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def run(self, attacked: AttackedLog, *, rng: Source) -> LogAttack:
        """Attack a release with what may be known of the original."""


class SetAttackMethod(Method, ABC):
    """An attack on sets; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def run_on_sets(self, attacked: AttackedSets, *, rng: Source) -> LogAttack:
        """Attack published sets with what may be known of the original."""


@dataclass(frozen=True, kw_only=True)
class KnownItems(LogAttackMethod, SetAttackMethod):
    """A few queries of a person are known; the attacker looks for records that hold all of them."""

    method_name: ClassVar[str] = "known-items"

    items: int = parameter(2, least=1, most=20, is_main=True)
    choice: Literal["random", "rare"] = parameter("random")

    def run(self, attacked: AttackedLog, *, rng: Source) -> LogAttack:
        sets = transactions_of(attacked.original)
        where = None
        if attacked.release is not None:
            where = release_postings(attacked.original, attacked.release)
        return known_items(sets, where, items=self.items, choice=self.choice, rng=rng)

    def run_on_sets(self, attacked: AttackedSets, *, rng: Source) -> LogAttack:
        return known_items_of(
            attacked.original, attacked.published, items=self.items, choice=self.choice, rng=rng
        )


@dataclass(frozen=True, kw_only=True)
class Association(SetAttackMethod):
    """A few items of a person are known; the attacker infers a sensitive one.

    Exposed is a person whose sensitive item has a chance above `above` by the publication.
    """

    method_name: ClassVar[str] = "association"

    items: int = parameter(2, least=1, most=20, is_main=True)
    above: Fraction = parameter(Fraction(1, 2), least=0, most=1)
    targets: int = parameter(500, least=1)

    def run_on_sets(self, attacked: AttackedSets, *, rng: Source) -> LogAttack:
        """Attack published sets.

        Raises:
            InputError: CEL-U035 no item is sensitive.
        """
        if not attacked.context.sensitive.intersection(attacked.original.labels):
            raise InputError("CEL-U035")
        return association(
            attacked.original,
            attacked.published,
            sensitive=attacked.context.sensitive,
            items=self.items,
            above=float(self.above),
            targets=self.targets,
            rng=rng,
        )


@dataclass(frozen=True, kw_only=True)
class RareQueries(LogAttackMethod):
    """Queries that one person alone asked, and searches for oneself, as in the AOL log of 2006.

    Exposed is a person with a published query that nobody else asked.
    """

    method_name: ClassVar[str] = "rare-queries"

    def run(self, attacked: AttackedLog, *, rng: Source) -> LogAttack:
        original = attacked.original
        codes, texts = original.queries
        held = people_per_item(original.people, codes, len(texts))
        shown, names = attacked.published.queries
        is_shown = np.isin(texts.to_numpy(), names.gather(np.unique(shown)).to_numpy())
        is_rare = (held == 1) & is_shown
        named = np.zeros(len(texts), dtype=bool)
        places = np.flatnonzero(is_shown)
        named[places] = holds_identifier(texts.gather(places), names=True)
        exposed = np.unique(original.people[is_rare[codes]]).size
        own = np.unique(original.people[(is_rare & named)[codes]]).size
        return LogAttack(
            name=Message("logs.attack.rare"),
            assumption=Message("logs.attack.knows_rare_queries"),
            mitigation=Message("logs.attack.prevent_rare"),
            targets=original.persons,
            exposed=int(exposed),
            facts={"persons_with_own_name_or_number": int(own)},
        )


@dataclass(frozen=True, kw_only=True)
class SessionLinking(LogAttackMethod):
    """Link the first half of a person's records to the second half by their queries.

    The attacker sees two sets of records under different pseudonyms and takes, for each set of the
    first half, the set of the second that has most in common with it, rare queries counting more.
    """

    method_name: ClassVar[str] = "session-linking"

    persons: int = parameter(2000, least=2)

    def run(self, attacked: AttackedLog, *, rng: Source) -> LogAttack:
        from scipy.sparse import csr_array

        published = attacked.published
        moments = parse_times(attacked.original.column("time"), attacked.original.declaration)
        people = attacked.original.people
        codes, texts = attacked.original.queries
        shown, names = published.queries
        is_shown = np.isin(texts.to_numpy(), names.gather(np.unique(shown)).to_numpy())
        seconds = moments.dt.epoch("s").fill_null(0).to_numpy()
        is_late = seconds > np.median(seconds)
        kept = is_shown[codes]
        targets = np.intersect1d(people[kept & ~is_late], people[kept & is_late])
        targets = targets[rng.permutation(len(targets))[: self.persons]]
        place = np.full(int(people.max()) + 1, -1)
        place[targets] = np.arange(len(targets))
        held = people_per_item(people, codes, len(texts))
        weight = np.log(attacked.original.persons / np.maximum(held, 1)) + 1e-9

        def half(which: Any) -> Any:
            rows = kept & which & (place[people] >= 0)
            values = weight[codes[rows]]
            shape = (len(targets), len(texts))
            found = csr_array((values, (place[people[rows]], codes[rows])), shape=shape)
            norms = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).reshape(-1))
            return found / np.maximum(norms, 1e-12)[:, None]

        right = 0
        # Where no pseudonym and no session is published, no two records belong together.
        is_linked = attacked.release is None or bool(
            (np.bincount(linked_units(attacked.release)) > 1).any()
        )
        if len(targets) and is_linked:
            likeness = csr_array(half(~is_late)) @ csr_array(half(is_late)).T
            best = np.asarray(likeness.toarray()).argmax(axis=1)
            right = int((best == np.arange(len(targets))).sum())
        return LogAttack(
            name=Message("logs.attack.linking"),
            assumption=Message("logs.attack.knows_sessions"),
            mitigation=Message("logs.attack.prevent_linking"),
            targets=len(targets),
            exposed=right,
            left_out=attacked.original.persons - len(targets),
            chance=1 / max(1, len(targets)),
        )


@dataclass(frozen=True, kw_only=True)
class HashColumns(LogAttackMethod):
    """Undo plain hashes of identifiers by listing the domain they come from.

    Exposed is a published value that is the MD5, SHA-1 or SHA-256 of a small number, of an address,
    or of an identifier that the attacker has a list of.
    """

    method_name: ClassVar[str] = "hash-columns"

    numbers: int = parameter(100_000, least=0, most=10**9)

    def run(self, attacked: AttackedLog, *, rng: Source) -> LogAttack:
        frame = attacked.published.published if attacked.release else attacked.original.frame
        wanted: set[str] = set()
        for column in frame.iter_columns():
            if column.dtype == pl.String:
                found = column.drop_nulls().unique()
                shown = found.filter(found.str.contains(_HEXADECIMAL)).str.to_lowercase()
                wanted |= set(shown) | set(map(_hexadecimal, found.filter(found.str.contains(_64))))
        hits = 0
        if wanted:
            hits = len(wanted & self._digests(attacked.original))
        return LogAttack(
            name=Message("logs.attack.hashes"),
            assumption=Message("logs.attack.knows_domain"),
            mitigation=Message("logs.attack.prevent_hashes"),
            targets=len(wanted),
            exposed=hits,
        )

    def _digests(self, original: Log) -> set[str]:
        known = [str(number) for number in range(self.numbers)]
        known += [f"192.0.2.{n}" for n in range(256)] + [f"10.0.0.{n}" for n in range(256)]
        for role in ("person", "ip", "session"):
            if role in original.declaration.columns:
                known += original.column(role).cast(pl.String).drop_nulls().unique().to_list()
        return {
            hashed(text.encode(), usedforsecurity=False).hexdigest()
            for text in known
            for hashed in (md5, sha1, sha256)
        }


_HEXADECIMAL = r"^(?:[0-9a-fA-F]{2}){16,32}$"
_64 = r"^(?:[A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{27}=|[A-Za-z0-9+/_-]{43}=)$"
"""The bytes of MD5, SHA-1 and SHA-256 in base64."""


def _hexadecimal(text: str) -> str:
    return urlsafe_b64decode(text.replace("+", "-").replace("/", "_")).hex()


ATTACKS: dict[str, type[LogAttackMethod]] = {
    each.method_name: each for each in (HashColumns, KnownItems, RareQueries, SessionLinking)
}

DEFAULT: tuple[LogAttackMethod, ...] = (
    KnownItems(items=1),
    KnownItems(items=2),
    KnownItems(items=4),
    RareQueries(),
)


SET_ATTACKS: dict[str, type[SetAttackMethod]] = {
    each.method_name: each for each in (Association, KnownItems)
}

SET_DEFAULT: tuple[SetAttackMethod, ...] = (
    KnownItems(items=1),
    KnownItems(items=2),
    KnownItems(items=4),
)


def attack_from_text(text: str) -> LogAttackMethod:
    """An attack in the notation of the command line.

    >>> attack_from_text("known-items:3")
    KnownItems(items=3, choice='random')
    """
    return method_from_text(ATTACKS, text)


def set_attack_from_text(text: str) -> SetAttackMethod:
    """An attack on sets in the notation of the command line.

    >>> set_attack_from_text("association:1,above=0.8")
    Association(items=1, above=Fraction(4, 5), targets=500)
    """
    return method_from_text(SET_ATTACKS, text)
