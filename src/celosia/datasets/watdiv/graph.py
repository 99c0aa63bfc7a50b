"""The graph of a shop of any size to ask private questions of, with its policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from celosia.core.errors import InputError
from celosia.core.files import check_writable, replacing
from celosia.core.messages import Message, say_of
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.datasets.watdiv.facts import Facts, make_facts
from celosia.datasets.watdiv.policies import policy
from celosia.datasets.watdiv.sizes import sizes_of, users_for

LEAST, MOST = 10_000, 10_000_000
FACTS, STORE, POLICY = "watdiv.nt", "watdiv.graph", "policy.toml"
"""The names of the files of a saved graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopGraph:
    """A graph that is drawn again, with the same facts, on each iteration."""

    triples: int
    """How many facts were wanted; there are as many within five percent."""
    users: int
    seed: int

    def __str__(self) -> str:
        return say_of("datasets.line.watdiv", self)

    def as_dict(self) -> dict[str, Any]:
        """What it is as plain values, with the number of entities of each kind."""
        wanted = {"triples": self.triples, "users": self.users, "seed": self.seed}
        return wanted | {"entities": self.entities}

    @property
    def entities(self) -> dict[str, int]:
        """How many entities of each kind there are."""
        return sizes_of(self.users)

    def facts(self, *, progress: Progress = silent) -> Iterator[Facts]:
        """All facts in batches of one predicate; only one batch is in memory."""
        done = 0
        for batch in make_facts(self.entities, seed=self.seed):
            progress(
                Step(
                    Message("datasets.stage.facts", kind=batch.kind),
                    min(done, self.triples),
                    self.triples,
                )
            )
            yield batch
            done += batch.count

    def lines(self, *, progress: Progress = silent) -> Iterator[bytes]:
        """All facts as N-Triples, in batches of whole lines."""
        for batch in self.facts(progress=progress):
            yield batch.lines()

    def write(
        self, path: str | Path, *, overwrite: bool = False, progress: Progress = silent
    ) -> Path:
        """Write a file of N-Triples, without ever having it in memory.

        Raises:
            InputError: CEL-I003 to CEL-I005, the file is there already or cannot be written.
        """
        place = Path(path)
        with replacing(place, overwrite=overwrite) as draft, draft.open("wb") as file:
            for lines in self.lines(progress=progress):
                file.write(lines)
        return place

    def load(
        self, store: str | Path, *, overwrite: bool = False, progress: Progress = silent
    ) -> Path:
        """Put all facts straight into a store to be asked, without a file in between.

        Raises:
            InputError: CEL-I003 to CEL-I005, the store is there already or cannot be written.
            EngineError: CEL-Q224 it could not be written.
        """
        place = Path(store)
        self._fill(place, None, overwrite=overwrite, progress=progress)
        return place

    def save(
        self, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent
    ) -> Path:
        """Write the facts as N-Triples and as a store, and `policy.toml`, whose path is given back.

        Raises:
            InputError: CEL-I003 to CEL-I005, a file is there already or cannot be written.
            EngineError: CEL-Q224 the store could not be written.
        """
        place = Path(folder)
        place.mkdir(exist_ok=True)
        paper = place / POLICY
        for path in (place / FACTS, place / STORE, paper):
            check_writable(path, overwrite=overwrite)
        with replacing(place / FACTS, overwrite=overwrite) as draft, draft.open("wb") as file:
            self._fill(place / STORE, file, overwrite=overwrite, progress=progress)
        # Last, so that a policy never stands beside half of its facts.
        with replacing(paper, overwrite=overwrite) as draft:
            draft.write_text(policy(store=STORE), "utf-8")
        return paper

    def _fill(
        self, store: Path, copy: IO[bytes] | None, *, overwrite: bool, progress: Progress
    ) -> None:
        from celosia.queries.rdf.builder import StoreBuilder  # heavy, here and below
        from celosia.queries.rdf.ntriples import BatchWriter
        from celosia.queries.rdf.store_loader import make_store

        def fill(made: StoreBuilder) -> list[str]:
            made.files += 1
            # What is drawn is canonical already, and needs no parser.
            batches = BatchWriter(made.take)
            for lines in self.lines(progress=progress):
                batches.write(lines)
                if copy is not None:
                    copy.write(lines)
            batches.hand_on()
            made.wait()
            return [str(self)]

        make_store(store, fill, add=False, overwrite=overwrite, progress=progress)


def watdiv(triples: int = 100_000, *, seed: int = 2014) -> ShopGraph:
    """A graph of users, products, offers, reviews and purchases, in the spirit of WatDiv.

    Use it for SPARQL: kinds, predicates and query templates are those of the Waterloo test suite;
    friends and followers make up two thirds of all facts, and few products, websites and genres are
    popular. Its queries are in `celosia.datasets.watdiv.queries`, policies in
    `celosia.datasets.watdiv.policy`. Nothing is drawn before the facts are asked for.

    Args:
        triples: how many facts, from ten thousand to ten million; met within five percent. There
            is about one user for each hundred.
        seed: the same seed and number of facts give the same graph on every machine.

    Raises:
        InputError: CEL-D023 for `triples`, CEL-D024 for `seed`.

    >>> graph = watdiv(10_000)
    >>> print(graph)
    WatDiv-like graph: about 10,000 facts, 178 users, made with seed 2014
    >>> next(graph.lines()).split()[0]
    b'<http://db.uwaterloo.ca/~galuc/wsdbm/City0>'

    Reference: G. Aluç, O. Hartig, M. T. Özsu and K. Daudjee, 2014, Diversified stress testing of
    RDF data management systems, ISWC.
    """
    wanted = whole(triples)
    if wanted is None or not LEAST <= wanted <= MOST:
        raise InputError("CEL-D023", least=LEAST, most=MOST)
    number = whole(seed)
    if number is None or number < 0:
        raise InputError("CEL-D024")
    return ShopGraph(triples=wanted, users=users_for(wanted), seed=number)
