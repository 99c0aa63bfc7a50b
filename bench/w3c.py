"""The queries of the W3C's SPARQL suites: how many are answered, and equal the published results.

`--suite PATH` is a copy of https://github.com/w3c/rdf-tests, which is no part of this repository.
Evaluation tests of SPARQL 1.0 and 1.1 are asked over their own data. A query that has no aggregate
is wrapped: `SELECT (COUNT(*) AS ?answers) (COUNT(?v) AS ...) (COUNT(DISTINCT ?v) AS ...) { { the
query } }`, for every variable ?v of its result; only COUNT(*) of SELECT DISTINCT, and no different
values of what is computed. ASK is a count above 0. Queries that no aggregate over data can be made
of are left out: CONSTRUCT, results of other formats, entailment, federation, and those without a
triple pattern.

Every test has three policies, tried in this order: an entity is protected with all its facts;
single facts are; predicates below `*` and `+` are public, and all others private. A query is
answered if there is a plan by one of them. It is equal if the exact answer, with all caps, is that
of the W3C: all counts, and of groups every value.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from celosia.core.errors import CelosiaError, PrivacyWarning
from celosia.queries.comparison import true_rows
from celosia.queries.emission import Target
from celosia.queries.planning import make_plan
from celosia.queries.planning.planner import compile_query
from celosia.queries.policy import load_policy
from celosia.queries.rdf.file_loader import load
from celosia.queries.rdf.store import GraphStore
from celosia.queries.request import QueryRequest
from celosia.queries.sessions import make_public_counter, open_engine

SUITES = ("sparql10", "sparql11")
LEFT_OUT = ("construct", "csv-tsv-res", "entailment", "service")
POLICIES = ("entity", "triple", "public paths")
PLAIN, BARS = "BGP, FILTER, path", {"BGP, FILTER, path": 0.85, "all": 0.70}
LARGEST = 1e9
"""Numbers of facts that get declared bounds."""
TEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-"
_PROLOGUE = re.compile(r"(?:\s+|#[^\n]*(?:\n|$)|BASE\s*<[^>]*>|PREFIX\s+[^\s:]*:\s*<[^>]*>)*", re.I)
_DATASET = re.compile(r"\bFROM\s+(?:NAMED\s+)?(?:<[^>]*>|[\w-]*:[\w-]*)", re.I)
_AGGREGATES = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX|SAMPLE|GROUP_CONCAT)\s*\(", re.I)


@dataclass(frozen=True)
class Test:
    """One evaluation test."""

    name: str
    query: Path
    data: tuple[Path, ...]
    named: tuple[Path, ...]
    result: Path

    @cached_property
    def text(self) -> str:
        """The query, with the address that relative ones start from."""
        return f"BASE <{self.query.as_uri()}>\n{self.query.read_text('utf-8')}"

    @cached_property
    def split(self) -> tuple[str, str, str]:
        """The prologue, the dataset, and the rest."""
        found = _PROLOGUE.match(self.text)
        assert found is not None
        rest = self.text[found.end() :]
        dataset = " ".join(_DATASET.findall(rest))
        return found.group(), dataset, _DATASET.sub(" ", rest)

    @cached_property
    def graphs(self) -> tuple[Path, ...]:
        """The files of named graphs, those of FROM among them."""
        folder = self.query.parent
        found = [folder / each for each in re.findall(r"<([^:>]+)>", self.split[1])]
        return tuple(dict.fromkeys((*self.named, *(each for each in found if each.is_file()))))

    @property
    def form(self) -> str:
        """SELECT, ASK, CONSTRUCT or DESCRIBE."""
        return self.split[2][:9].split(None, 1)[0].split("*")[0].split("{")[0].upper()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the query, without texts, comments and addresses."""
        bare = re.sub(
            r"\"[^\"\n]*\"|'[^'\n]*'|<[^<>\s]*>|#[^\n]*|[\w-]*:[\w-]*", " ", self.split[2]
        )
        return frozenset(re.findall(r"[A-Z]+", bare.upper()))

    @cached_property
    def is_aggregate(self) -> bool:
        """Whether the outermost SELECT has aggregates itself."""
        outer = self.split[2].partition("{")[0]
        return bool(_AGGREGATES.search(outer)) or "HAVING" in self.words

    @property
    def group(self) -> str:
        """What is the hardest part of the query."""
        if self.is_aggregate:
            return "aggregates"
        if "GRAPH" in self.words or self.split[1]:
            return "GRAPH and FROM"
        if "SELECT" in re.findall(r"[A-Z]+", self.split[2].partition("{")[2].upper()):
            return "sub-SELECT"
        for name in ("OPTIONAL", "MINUS", "EXISTS", "UNION", "BIND", "VALUES"):
            if name in self.words:
                return name
        if self.words & {"LIMIT", "OFFSET"}:
            return "LIMIT"
        return "computed columns" if " AS " in self.split[2].partition("{")[0].upper() else PLAIN

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The variables that the W3C's result binds somewhere."""
        if re.match(r"SELECT\s+(DISTINCT|REDUCED)", self.split[2], re.I):
            return ()  # which different solutions there are is all that is asked
        return tuple(sorted({name for row in self.wanted.rows for name in row}))

    def computes(self, name: str) -> bool:
        """Whether a variable is computed: different terms may have one value. Or a graph."""
        return re.search(rf"\b(AS|GRAPH)\s+[?$]{name}\b", self.split[2], re.I) is not None

    @cached_property
    def wanted(self) -> Wanted:
        """The result of the W3C."""
        return Wanted.read(self.result)

    @property
    def asked(self) -> str:
        """The query as it is asked."""
        prologue, dataset, rest = self.split
        if self.is_aggregate:
            return self.text
        counts = "".join(
            f" (COUNT(?{name}) AS ?bound_{place})"
            + ("" if self.computes(name) else f" (COUNT(DISTINCT ?{name}) AS ?different_{place})")
            for place, name in enumerate(self.shown)
        )
        counted = f"{prologue} SELECT (COUNT(*) AS ?answers){counts} {dataset} WHERE"
        if self.form == "ASK":
            return f"{counted} {rest[3:].strip().removeprefix('WHERE')}"
        return f"{counted} {{ {{ {rest} }} }}"


def tests_of(suite: Path) -> Iterator[Test]:
    """All evaluation tests that an aggregate over data can be made of."""
    for manifest in sorted(suite.glob("sparql/*/*/manifest.ttl")):
        if manifest.parent.parent.name in SUITES and manifest.parent.name not in LEFT_OUT:
            yield from (each for each in _entries(manifest) if _is_about_data(each))


def _entries(manifest: Path) -> Iterator[Test]:
    import pyoxigraph as ox

    store = ox.Store()
    store.load(path=manifest, format=ox.RdfFormat.TURTLE, base_iri=manifest.as_uri())

    def values(subject: Any, word: str) -> list[Any]:
        found = store.quads_for_pattern(subject, ox.NamedNode(TEST + word), None)
        return [each.object for each in found]

    def paths(subject: Any, word: str) -> tuple[Path, ...]:
        named = [each for each in values(subject, word) if isinstance(each, ox.NamedNode)]
        named += [
            inner
            for each in values(subject, word)
            if isinstance(each, ox.BlankNode)
            for inner in values(each, "query#graph")
        ]
        return tuple(sorted(Path(each.value.removeprefix("file://")) for each in named))

    kind = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    wanted = ox.NamedNode(TEST + "manifest#QueryEvaluationTest")
    for quad in sorted(store.quads_for_pattern(None, kind, wanted), key=str):
        (action,) = values(quad.subject, "manifest#action")
        (result,) = paths(quad.subject, "manifest#result")
        query = paths(action, "query#query")
        if query and result.is_file():
            name = f"{manifest.parent.parent.name}/{manifest.parent.name}/{query[0].stem}"
            data, named = paths(action, "query#data"), paths(action, "query#graphData")
            yield Test(name, query[0], data, named, result)


def _is_about_data(test: Test) -> bool:
    from rdflib.plugins.sparql.parser import parseQuery

    from celosia.queries.sparql.trees import name_of, walk_tree

    if test.form not in ("SELECT", "ASK"):
        return False
    try:
        tree = parseQuery(test.text)
    except Exception:  # whatever the parser falls over is told as refused
        return True
    return any(name_of(each) == "TriplesBlock" for each in walk_tree(tree))


@dataclass
class Wanted:
    """A result of the W3C: rows of terms by the names of variables, or a truth."""

    rows: list[dict[str, str]] = field(default_factory=list)
    truth: bool | None = None

    @classmethod
    def read(cls, path: Path) -> Wanted:
        """Read a result file: XML, JSON, or RDF in the vocabulary of result sets."""
        import pyoxigraph as ox

        formats = {
            ".srx": ox.QueryResultsFormat.XML,
            ".srj": ox.QueryResultsFormat.JSON,
            ".tsv": ox.QueryResultsFormat.TSV,
        }
        if path.suffix in formats:
            found = ox.parse_query_results(path=path, format=formats[path.suffix])
            if isinstance(found, ox.QueryBoolean):
                return cls(truth=bool(found))
            names = [each.value for each in found.variables]
            return cls([{n: str(row[n]) for n in names if row[n] is not None} for row in found])
        return cls._from_rdf(path)

    @classmethod
    def _from_rdf(cls, path: Path) -> Wanted:
        import pyoxigraph as ox

        start = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
        kind = ox.RdfFormat.TURTLE if path.suffix == ".ttl" else ox.RdfFormat.RDF_XML
        facts = list(ox.parse(path=path, format=kind, base_iri=path.as_uri()))  # as written

        def objects(subject: Any, word: str) -> list[Any]:
            found = [each for each in facts if each.predicate.value == start + word]
            return [each.object for each in found if subject in (None, each.subject)]

        (truth,) = objects(None, "boolean") or (None,)
        if truth is not None:
            return cls(truth=truth.value == "true")
        return cls(
            [
                {
                    objects(pair, "variable")[0].value: str(objects(pair, "value")[0])
                    for pair in objects(solution, "binding")
                }
                for solution in objects(None, "solution")
            ]
        )

    def equals(self, test: Test, rows: Sequence[dict[str, Any]]) -> bool:
        """Whether exact answers are these."""
        if not test.is_aggregate:
            ((answers, *counts),) = [tuple(row.values()) for row in rows]
            if self.truth is not None:
                return bool(answers > 0) == self.truth
            wanted = [len(self.rows)]
            for name in test.shown:
                cells = [row[name] for row in self.rows if name in row]
                wanted += [len(cells)] if test.computes(name) else [len(cells), len(set(cells))]
            return [answers, *counts] == wanted
        return _alike(self.rows) == _alike(rows)


def _alike(rows: Sequence[dict[str, Any]]) -> Counter[Any]:
    """Rows that can be compared: numbers by their value, other terms by their text."""
    return Counter(
        tuple(sorted((name, _plain(cell)) for name, cell in row.items() if cell is not None))
        for row in rows
    )


def _plain(cell: Any) -> str:
    text = str(cell)
    found = re.fullmatch(r"\"([^\"]*)\"(?:\^\^<.*>)?", text)
    text = found[1] if found else text
    try:
        return f"{float(text):.9g}"
    except ValueError:
        return text


@dataclass
class Data:
    """The facts of some files, with a policy for each way to protect them."""

    folder: Path
    store: Path

    @classmethod
    def load(cls, folder: Path, test: Test) -> Data:
        """A store of the files of a test."""
        folder.mkdir()
        store = folder / "facts.graph"
        if not test.data:
            (folder / "empty.ttl").write_text("", "utf-8")
            load(folder / "empty.ttl", store)
        for each in test.data:
            load(each, store, base=each.as_uri(), add=True)
        for each in test.graphs:
            load(each, store, base=each.as_uri(), add=True, graph=each.as_uri())
        return cls(folder, store)

    def policy(self, test: Test, kind: str) -> Path:
        """A policy for one test."""
        addresses = re.findall(r"<([^<>\s]+)>", _expanded(test.text))
        with GraphStore.open(self.store) as store:
            counted = {each.predicate: each for each in store.predicates()}
            is_open = re.search(r"[?$]\w+\s+[?$]\w+\s", test.split[2]) is not None
            others = () if is_open and counted else (a for a in addresses if ":" in a)
            listed = sorted({*counted, *others})
            lines = [
                'name = "w3c"',
                "budget = { epsilon = 1000000, delta = 1e-6 }",
                f'unit = {{ name = "{"triple" if kind == "triple" else "entity"}" }}',
                f'[graph]\nstore = "{self.store.name}"',
            ]
            if test.graphs:
                names = ", ".join(f'"<{each.as_uri()}>"' for each in test.graphs)
                lines.append(f"graphs = [{names}]")
            closed = _closed(test) if kind == "public paths" else frozenset()
            private = [each for each in listed if each not in closed]
            if kind != "triple" and private:
                words = ", ".join(f'"<{each}>"' for each in private)
                lines.append(f"[graph.classes.Thing]\npredicates = [{words}]")
            for each in listed:
                lines.append(f'[graph.predicates."<{each}>"]')
                if each in closed:
                    lines.append("public = true")
                    continue
                facts = counted.get(each)
                if facts is not None:
                    lines += _declared(store, facts, kind)
        path = self.folder / f"{len(list(self.folder.iterdir()))}.toml"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path


def _declared(store: GraphStore, facts: Any, kind: str) -> Iterator[str]:
    yield f"most_per_subject = {facts.most_of_subject}"
    if kind == "triple":
        yield f"most_per_object = {facts.most_of_object}"
    ((low, high),) = store.rows(
        "SELECT min(number), max(number) FROM triples WHERE p = ?", [facts.number]
    )
    if low is not None and abs(low) < LARGEST and abs(high) < LARGEST:
        yield f"lower = {min(low, high - 1)}\nupper = {high}\ngrid = 0.001"
    for word, column in (("keys", "o"), ("subject_keys", "s")):
        found = store.rows(
            "SELECT DISTINCT text FROM terms "
            f"WHERE id IN (SELECT {column} FROM triples WHERE p = ?)",
            [facts.number],
        )
        terms = [text for (text,) in found if not text.startswith("_:")]
        if terms and len(terms) == len(found):
            quoted = ", ".join(f"'''{each}'''" for each in sorted(terms))
            yield f"{word} = [{quoted}]"


def _expanded(text: str) -> str:
    """A query in which compact names are addresses."""
    prefixes = dict(re.findall(r"PREFIX\s+([^\s:]*):\s*<([^>]*)>", text, re.I))

    def full(found: re.Match[str]) -> str:
        start = prefixes.get(found[1] or "")
        return found[0] if start is None else f"<{start}{found[2] or ''}>"

    whole = re.sub(r"(?<![\w<?])([A-Za-z][\w-]*)?:([\w.-]*\w)?", full, text)
    return whole + " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def _closed(test: Test) -> frozenset[str]:
    """The predicates below * and +."""
    body = _expanded(test.split[0] + test.split[2])
    found = re.findall(r"<([^<>\s]+)>\)*\s*[*+]", body)
    for part in re.findall(r"\(([^()]*)\)\s*[*+?]", body):
        found += re.findall(r"<([^<>\s]+)>", part)
    return frozenset(found)


@dataclass(frozen=True)
class Outcome:
    """What became of a test."""

    test: Test
    policy: str | None
    equal: bool
    why: str = ""


def outcome(test: Test, data: Data) -> Outcome:
    """Ask the query of a test by one policy after the other."""
    why = ""
    for kind in POLICIES:
        if kind == "public paths" and not _closed(test):
            continue
        try:
            found = exact_rows(data.policy(test, kind), test.asked)
        except CelosiaError as error:
            why = why or getattr(error, "key", error.code)
            continue
        return Outcome(test, kind, test.wanted.equals(test, found))
    return Outcome(test, None, False, why)


def exact_rows(path: Path, query: str) -> list[dict[str, Any]]:
    """The answer of a query before noise, if there is a plan for it."""
    policy = load_policy(path)
    engine = open_engine(policy)
    try:

        def execute(tree: Any) -> Any:
            return engine.run(tree, timeout=60.0)

        request = QueryRequest(query, epsilon=1, delta=1e-9)
        plan = make_plan(request, policy, count=make_public_counter(policy, execute))
        question = compile_query(query, policy, execute)
        target = Target(policy=policy, dialect=policy.database.kind)
        return [dict(row) for row in true_rows(question, plan, target, execute)]
    finally:
        engine.close()


def outcomes(suite: Path, *, only: str = "") -> list[Outcome]:
    """What becomes of every test, or of those of one group."""
    found: list[Outcome] = []
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # budgets are large on purpose
        loaded: dict[Any, Data] = {}
        for test in tests_of(suite.resolve()):
            if only not in test.group:
                continue
            key = (test.data, test.graphs)
            if key not in loaded:
                loaded[key] = Data.load(Path(folder) / str(len(loaded)), test)
            found.append(outcome(test, loaded[key]))
    return found


def run(*, suite: str | None = None) -> dict[str, dict[str, Any]]:
    """Numbers of tests by group: asked, answered, equal; and why others are refused."""
    if suite is None:
        return {"no suite": {"give a copy of github.com/w3c/rdf-tests: --suite PATH": ""}}
    found = outcomes(Path(suite))
    groups = [PLAIN, *sorted({each.test.group for each in found} - {PLAIN}), "all"]
    counted: dict[str, Any] = {}
    shares: dict[str, Any] = {}
    for group in groups:
        own = [each for each in found if group in ("all", each.test.group)]
        equal = sum(each.equal for each in own)
        answered = sum(each.policy is not None for each in own)
        counted[group] = f"{len(own)}, {answered}, {equal}, {len(own) - answered}"
        if group in BARS and own:
            shares[group] = f"{equal / len(own):.1%} (bar {BARS[group]:.0%})"
    policies = Counter(each.policy for each in found if each.policy is not None)
    refused = Counter(each.why for each in found if each.policy is None)
    others = [each.test.name for each in found if each.policy is not None and not each.equal]
    return {
        "tests, answered, equal, refused": counted,
        "share that is equal": shares,
        "answered by policy": dict(policies),
        "refused for": dict(refused.most_common()),
        "answered, not equal": dict.fromkeys(others, ""),
    }
