"""Databases to ask in the studio: samples, confined policies, plans as trees; knows no toolkit."""

from __future__ import annotations

import re
import shlex
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

from celosia import datasets
from celosia.accounting.filters import Price
from celosia.accounting.ledger import Ledger, LedgerView, Record
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.queries import QueryRequest, Vault, load_policy
from celosia.queries.accuracy import ErrorGoal, least_epsilon, worst_error
from celosia.queries.execution import ANYBODY
from celosia.queries.paths import ledger_path
from celosia.queries.policy import Database, Policy, Spending, draft_policy
from celosia.queries.policy.checks import warn_of_weak_budgets
from celosia.queries.policy.database import NO_KEYS, DatabaseKeys
from celosia.queries.sales import (
    Invoice,
    format_money,
    make_compensation,
    make_invoice,
    sold_answers,
    total_price,
)
from celosia.studio.language import Words
from celosia.studio.release_facts import write_report
from celosia.studio.visitors import Work

SCALE = 0.005
FACTS = 20_000
POLICY = "policy.toml"
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
"""At which the error of a question is foretold."""
MOST_QUERY = 10_000
"""Letters of a query."""
RUNS = 100
"""Private answers that the owner's comparison draws."""
MOST_ROWS = 500
"""Rows of an answer that are shown: a policy may allow a million groups."""
WORDS = "words"
"""The name under which a work keeps its questions as they were written."""
INVOICE = "invoice"
"""The name of the files of an invoice."""
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,40}\.parquet")

SQL_EXAMPLES = (
    ("How many orders are there?", "SELECT count(*) AS orders FROM orders"),
    (
        "Orders of each market segment",
        "SELECT mktsegment, count(*) AS orders\nFROM customer JOIN orders USING (custkey)\n"
        "GROUP BY mktsegment",
    ),
    (
        "The mean price of an order since 1995",
        "SELECT avg(totalprice) AS price\nFROM orders\nWHERE orderdate >= DATE '1995-01-01'",
    ),
    (
        "The two largest market segments",
        "SELECT mktsegment, count(DISTINCT custkey) AS customers\nFROM customer\n"
        "GROUP BY mktsegment ORDER BY customers DESC LIMIT 2",
    ),
    ("The orders of one customer (refused)", "SELECT orderkey FROM orders WHERE custkey = 7"),
)
SPARQL_EXAMPLES = (
    (
        "How many people follow somebody?",
        "PREFIX wsdbm: <http://db.uwaterloo.ca/~galuc/wsdbm/>\n"
        "SELECT (COUNT(DISTINCT ?who) AS ?people)\nWHERE { ?who wsdbm:follows ?other }",
    ),
    (
        "How many likes are there?",
        "PREFIX wsdbm: <http://db.uwaterloo.ca/~galuc/wsdbm/>\n"
        "SELECT (COUNT(*) AS ?likes)\nWHERE { ?who wsdbm:likes ?product }",
    ),
    (
        "Whom does one person follow? (refused)",
        "PREFIX wsdbm: <http://db.uwaterloo.ca/~galuc/wsdbm/>\n"
        "SELECT ?other\nWHERE { wsdbm:User1 wsdbm:follows ?other }",
    ),
)


def examples(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Questions to begin with: of our samples, or of the first table that a visitor brought."""
    if schema["language"] != "SQL":
        return SPARQL_EXAMPLES
    if "mktsegment" in schema["tables"].get("customer", {}).get("columns", {}):
        return SQL_EXAMPLES
    name, table = next(iter(schema["tables"].items()))
    found = [("How many rows are there?", f"SELECT count(*) AS number FROM {name}")]  # noqa: S608
    bounded = [each for each, facts in table["columns"].items() if "upper" in facts]
    if bounded and bounded[0].isidentifier():
        mean = f"SELECT avg({bounded[0]}) AS mean FROM {name}"  # noqa: S608 - shown, not run
        found.append(("The mean of a column", mean))
    return tuple(found)


@dataclass(slots=True)
class PlanBranch:
    """A step of a plan, with what it is made of."""

    text: object
    """A message."""
    reason: object
    """The rule that is used there; empty where none is."""
    parts: list[PlanBranch] = field(default_factory=list)


def tree(lines: Iterable[Message]) -> list[PlanBranch]:
    """The lines of a plan as the tree that their indentation tells.

    >>> def line(indent, text):
    ...     return Message("queries.tree.plain_line", indent=indent, text=text)
    >>> [root] = tree([line("", "answer n"), line("  ", "scan a"), line("  ", "scan b")])
    >>> root.text, [each.text for each in root.parts]
    ('answer n', ['scan a', 'scan b'])
    """
    roots: list[PlanBranch] = []
    above: list[tuple[int, PlanBranch]] = []
    for line in lines:
        depth = len(str(line.fields["indent"]))
        branch = PlanBranch(line.fields["text"], line.fields.get("rule", ""))
        while above and above[-1][0] >= depth:
            above.pop()
        (above[-1][1].parts if above else roots).append(branch)
        above.append((depth, branch))
    return roots


_METHODS = Words(
    {
        "capped": "a cap of the policy",
        "chosen-cap": "a cap chosen privately",
        "r2t": "race to the top",
        "r2t-cap": "race to the top, then a cap",
        "global": "the bounds of the policy",
        "gaussian": "the bounds of the policy, with Gaussian noise",
        "elastic": "elastic sensitivity",
        "rank": "rank of the rows",
        "top-k": "private choice of the largest groups",
        "public": "no private data is used",
    }
)


def method_label(name: str) -> str:
    """How a method bounds what one unit adds; its own name where it has no other."""
    return _METHODS.get(name, name)


def make_sample(folder: Path, sample: str, progress: Progress = silent) -> None:
    """Write a shop, or the graph of one, and its policy."""
    if sample == "shop":
        shop = datasets.tpch(SCALE, seed=1992, maker="celosia", progress=progress)
        shop.save(folder, progress=progress)
    elif sample == "graph":
        datasets.watdiv(FACTS).save(folder, progress=progress)
    else:
        raise InputError("CEL-W090")


def draft(folder: Path, tables: Sequence[str], keys: DatabaseKeys = NO_KEYS) -> str:
    """A policy for tables that a visitor brought, to be filled in.

    It is made of names and types, and of the keys that the visitor's database declares.
    """
    from celosia.queries.catalogue import read_columns  # heavy, only here
    from celosia.queries.sessions import open_engine

    files = tuple((Path(each).stem, each) for each in tables)
    database = Database(files=files, folder=str(folder))
    spending = Spending(epsilon=1)  # type: ignore[arg-type]
    engine = open_engine(Policy(name="draft", tables=(), budget=spending, database=database))
    try:
        text = draft_policy(read_columns(engine, timeout=60), name="my-data", keys=keys)
    finally:
        engine.close()
    listed = "\n".join(f'{name} = "{file}"' for name, file in files)
    before, heading, after = text.partition("\n[database]\n")
    return f'{before}{heading}kind = "duckdb"\n{after}'.rstrip() + (
        f"\n\n[database.files]\n{listed}\n"
    )


def keep_policy(folder: Path, text: str) -> None:
    """Keep what a visitor wrote as the policy of a folder, if it names nothing beyond the folder.

    Raises:
        InputError: CEL-W091 it does, CEL-W092 it is no TOML or far too long.
    """
    _check_confined(folder, text)
    with replacing(folder / POLICY) as draft_file:
        draft_file.write_text(text, "utf-8")


def _check_confined(folder: Path, text: str) -> None:
    """A policy of the studio is about tables of its own folder: no servers, no other places."""
    if len(text) > 200_000:
        raise _unreadable()
    try:
        read = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise _unreadable() from None
    database = read.get("database", {})
    graph = read.get("graph", {})
    if not isinstance(database, dict) or not isinstance(graph, dict):
        raise _unreadable()
    files = database.get("files", {})
    beyond = (
        database.get("kind", "duckdb") != "duckdb"
        or "url" in database
        or "path" in database
        or not isinstance(files, dict)
        or not all(_is_ours(folder, each) for each in files.values())
        or (graph != {} and graph.get("store") != "watdiv.graph")
        or any(name in graph for name in ("url", "endpoint", "files", "file", "path"))
    )
    if beyond:
        raise InputError("CEL-W091")


def _is_ours(folder: Path, name: object) -> bool:
    if not isinstance(name, str) or _TABLE.fullmatch(name) is None:
        return False
    path = folder / name
    return path.is_file() and not path.is_symlink()


def open_vault(folder: Path) -> Vault:
    """The vault of a folder; its policy is looked at again before anything is opened.

    Raises:
        InputError: CEL-W091, CEL-W092; or what the vault refuses.
    """
    path = folder / POLICY
    _check_confined(folder, path.read_text("utf-8"))
    with _quiet_policy():
        return Vault.open(path)


@contextmanager
def _quiet_policy() -> Iterator[None]:
    """While a policy is read: `weak_budgets` tells what is to be said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        yield


def weak_budgets(policy: Policy) -> list[str]:
    """What is to be said of budgets that are allowed but protect little, a large delta too."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_weak_budgets(policy, stacklevel=2)
    return [str(each.message) for each in found]


def explained(vault: Vault, request: QueryRequest) -> dict[str, Any]:
    """The plan of a query, and the error of its first number at several epsilons; costs nothing."""
    _check_query(request)
    plan = vault.plan(request).as_dict()
    curve = []
    for each in EPSILONS:
        if plan["method"] != "public" and each < vault.policy.least_epsilon:
            continue
        parts = vault.plan(replace(request, epsilon=each)).parts
        if parts and parts[0].error is not None:
            curve.append((each, float(parts[0].error)))
    return plan | {"curve": curve, "language": language(vault)}


def epsilon_within(vault: Vault, request: QueryRequest, *, within: float) -> float:
    """The least epsilon for an answer within so much of the exact one, 19 times in 20.

    The noise is Laplace's of scale b, which exceeds t with chance exp(-t/b): b = within / ln 20.

    Raises:
        QueryRefused: CEL-Q332 the budget does not allow it, or the error is not public.
    """
    _check_query(request)
    return least_epsilon(
        lambda epsilon: vault.plan(replace(request, epsilon=epsilon)),
        goal=ErrorGoal.read(within / log(20)),
        least=vault.policy.least_epsilon,
        most=vault.policy.budget.epsilon,
        error_of=worst_error,
    )


def keep_words(work: Work, entry: int | None, query: str) -> None:
    """Remember how the question of an entry of the ledger was written; a free one has none."""
    if entry is not None:
        work.save(WORDS, work.load(WORDS, {}) | {str(entry): query})


def asked(vault: Vault, request: QueryRequest) -> dict[str, Any]:
    """The answer of a query, paid from the ledger."""
    _check_query(request)
    answer = vault.ask(request)
    facts = answer.as_dict()
    left = vault.ledger.remaining if answer.entry is not None else None
    return facts | {
        "rows": facts["rows"][:MOST_ROWS],
        "intervals": facts["intervals"][:MOST_ROWS],
        "noise_only": answer.noise_only[:MOST_ROWS],
        "more": max(0, len(facts["rows"]) - MOST_ROWS),
        "left": None if left is None else _epsilon(left),
        "left_delta": None if left is None else _delta(left),
        "left_as": None if left is None or left.promise is None else left.as_dict(),
    }


def compared(vault: Vault, request: QueryRequest, *, progress: Progress = silent) -> dict[str, Any]:
    """The true answer beside private ones, for the owner of the data; nothing is charged."""
    _check_query(request)
    facts = vault.compare(request, runs=RUNS, progress=progress).as_dict()
    return facts | {"numbers": facts["numbers"][:MOST_ROWS]}


def account(work: Work) -> dict[str, Any]:
    """What was spent, by which questions, what is left, and whether the chain holds."""
    place = ledger_path(work.folder / POLICY)
    words = work.load(WORDS, {})
    view = Ledger.open_view(place) if place.exists() else None
    if view is None:
        return {"begun": False, "records": [], "remaining": None, "total": None, "head": None}
    with view:
        records = [
            {
                "number": each.sequence,
                "question": words.get(str(each.sequence), each.question),
                "understood": each.question,
                "epsilon": float(each.epsilon),
                "delta": float(each.delta),
                "at": each.at,
                "analyst": None if each.analyst == ANYBODY else each.analyst,
                "status": each.status,
                "price": None if each.price is None else format_money(each.price),
            }
            for each in view.history()
        ]
        left = view.remaining
        unit, left_after = _left_after(view, [each["number"] for each in records])
        return {
            "begun": True,
            "records": records,
            "remaining": _epsilon(left),
            "remaining_delta": _delta(left),
            "total": left_after[0],
            "unit": unit,
            "left_after": left_after,
            "left_as": left.as_dict() if left.promise is not None else None,
            "head": str(view.verify().hash),
            "owed": format_money(total_price(sold_answers(view.history()))),
        }


def market(work: Work) -> dict[str, Any] | None:
    """Prices, income, debts and the compensation of people; None where there is no market."""
    policy, records = _sales(work)
    if policy.market is None:
        return None
    sold = sold_answers(records)
    shared = make_compensation(policy, records).as_dict() if policy.people else None
    return {
        "currency": policy.market.currency,
        "prices": [
            (each, format_money(policy.market.price(Fraction(str(each)), None)))
            for each in EPSILONS
            if Fraction(str(each)) >= policy.least_epsilon
        ],
        "owed": format_money(total_price(sold)),
        "compensation": shared,
        "analysts": sorted({each.analyst for each in sold}),
        "months": sorted({each.at[:7] for each in sold}, reverse=True),
    }


def write_invoice(work: Work, analyst: str, month: str | None) -> dict[str, Any]:
    """Write what an analyst owes as a page, as PDF and as JSON.

    Raises:
        InputError: CEL-Q331 the policy has no market, or the month is not one.
    """
    policy, records = _sales(work)
    made: Invoice = make_invoice(policy, records, analyst=analyst, month=month)
    write_report(made.document(), work.path(f"{INVOICE}.html"))
    work.save(INVOICE, made.as_dict())
    return made.as_dict()


def invoice_command(analyst: str, month: str | None) -> str:
    """The command that makes the same invoice."""
    words = ["celosia", "market", "invoice", POLICY, "--analyst", analyst]
    return shlex.join([*words, *(["--month", month] if month else []), "--report", "invoice.html"])


def _sales(work: Work) -> tuple[Policy, tuple[Record, ...]]:
    """The policy, and what its ledger has."""
    with _quiet_policy():
        policy = load_policy(work.folder / POLICY)
    place = ledger_path(work.folder / POLICY)
    view = Ledger.open_view(place) if place.exists() else None
    if view is None:
        return policy, ()
    with view:
        return policy, view.history()


def who_asks(policy: Policy) -> dict[str, Any] | None:
    """The analysts of a policy, and whether others may ask; None where names change nothing."""
    if not policy.analysts and policy.market is None:
        return None
    factors = () if policy.market is None else policy.market.factors
    return {
        "names": [name for name, _limit in policy.analysts or factors],
        "are_all": bool(policy.analysts),
    }


def _epsilon(price: Price) -> float:
    """Its epsilon; of another currency, the one that it is told as."""
    return price.promise[0] if price.promise is not None else float(price["epsilon"] or 0)


def _delta(price: Price) -> float:
    return price.promise[1] if price.promise is not None else float(price["delta"] or 0)


def _left_after(view: LedgerView, entries: list[int]) -> tuple[str, list[float]]:
    """What is left of the budget at first and after each charge: epsilon, or % of other ones."""
    price = view.remaining
    limits = {name: amount for name, amount in (price + view.spent).amounts.items() if amount}
    limits.pop("delta", None)
    unit = "epsilon" if price.promise is None else "%"
    spent = dict.fromkeys(limits, Fraction(0))
    found = []
    for charge in (None, *map(view.price_of, entries)):
        if charge is not None:
            spent = {name: spent[name] + (charge[name] or 0) for name in spent}
        if unit == "epsilon":
            found.append(round(float(limits["epsilon"] - spent["epsilon"]), 6))
        else:
            most = max(spent[name] / limits[name] for name in limits)
            found.append(round(100 * float(1 - most), 4))
    return unit, found


def language(vault: Vault) -> str:
    """`SQL` or `SPARQL`."""
    return "SQL" if vault.policy.graph is None else "SPARQL"


def command_text(request: QueryRequest) -> str:
    """The command that asks the same.

    >>> command_text(QueryRequest("SELECT 1", epsilon=0.5, method="top-k"))
    "celosia query policy.toml 'SELECT 1' --epsilon 0.5 --method top-k"
    """
    quoted = request.query.replace("'", "'\\''")
    words = ["celosia", "query", "policy.toml", f"'{quoted}'", "--epsilon", f"{request.epsilon:g}"]
    words += ["--delta", f"{request.delta:g}"] if request.delta else []
    words += ["--method", request.method] if request.method else []
    words += ["--analyst", shlex.quote(request.analyst)] if request.analyst else []
    words += ["--rank-intervals"] if request.rank_intervals else []
    return " ".join(words)


def python_text(request: QueryRequest) -> str:
    """The Python that asks the same."""
    plain = QueryRequest("", epsilon=0)
    given = "".join(
        f", {each.name}={value!r}"
        for each in fields(request)[1:]
        if (value := getattr(request, each.name)) != getattr(plain, each.name)
    )
    return (
        "from celosia.queries import QueryRequest, Vault\n\n"
        'with Vault.open("policy.toml") as vault:\n'
        f"    print(vault.ask(QueryRequest({request.query!r}{given})))\n"
    )


def _check_query(request: QueryRequest) -> None:
    if len(request.query) > MOST_QUERY:
        raise InputError("CEL-W093", most=MOST_QUERY)


def _unreadable() -> InputError:
    return InputError("CEL-W092")
