"""Advice: which door, model and parameters, from four answers and no data.

The rules follow the decision procedure of the founding module on masking and graphs: the analysis
decides between a release and private answers, the attacker decides how strong the model must be,
and what must stay usable decides the method. Parameters are where to start, not where to end.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from celosia.core.messages import Message, say
from celosia.core.methods import Method, parameter

Data = Literal["table", "stream", "network", "traces", "log", "documents", "database", "devices"]
Reader = Literal["public", "partner", "analysts"]
Keep = Literal["records", "statistics", "counts", "models", "structure"]
Attacker = Literal["register", "acquaintance", "anyone"]
QUESTIONS: dict[str, tuple[str, ...]] = {
    "data": get_args(Data),
    "reader": get_args(Reader),
    "keep": get_args(Keep),
    "attacker": get_args(Attacker),
}
"""The questions and their answers; `assess.advice` of the catalogue says each in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOptions(Method):
    """The answers.

    Args:
        data: what is published.
        reader: for whom: anybody, a partner under contract, or analysts who ask questions.
        keep: what must stay usable: true records, statistics, counts, models that are trained on
            it, or the structure of a network.
        attacker: who attacks: with a register of names, an acquaintance who knows that a person is
            there and some facts, or anyone, whatever they know.
        file: the file with the data; without it, the command makes data to try with.
        column: a numeric column of the file, where one is masked.

    Raises:
        InputError: CEL-I060 an answer that is none of these.
    """

    method_name: ClassVar[str] = "advise"

    data: Data = parameter("table", is_main=True)
    reader: Reader = parameter("public", is_main=True)
    keep: Keep = parameter("records", is_main=True)
    attacker: Attacker = parameter("acquaintance", is_main=True)
    file: str | None = None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What is recommended, and why."""

    door: str
    """The command of the door."""
    model: str
    parameters: Mapping[str, float]
    reasons: tuple[Message, ...]
    commands: tuple[str, ...]
    """To be typed one after the other."""
    warnings: tuple[Message, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "door": self.door,
            "model": self.model,
            "parameters": dict(self.parameters),
            "reasons": [str(each) for each in self.reasons],
            "commands": list(self.commands),
            "warnings": [str(each) for each in self.warnings],
        }

    def __str__(self) -> str:
        listed = ", ".join(f"{name} = {value:g}" for name, value in self.parameters.items())
        return say("assess.advice.summary", door=self.door, model=self.model, parameters=listed)


def advise(
    options: AdviceOptions | None = None,
    *,
    data: Data = "table",
    reader: Reader = "public",
    keep: Keep = "records",
    attacker: Attacker = "acquaintance",
    file: str | None = None,
    column: str | None = None,
) -> Advice:
    """Recommend a door, a model and parameters, with the reasons and commands to type.

    Args:
        options: all answers as one value, in the place of the others.
        data: what is published.
        reader: for whom.
        keep: what must stay usable.
        attacker: who attacks.
        file: the file with the data.
        column: a numeric column of the file, where one is masked.

    >>> found = advise(data="network", attacker="register")
    >>> found.door, found.model, found.parameters
    ('graph', 'k-degree', {'k': 10})
    >>> advise(data="table", keep="statistics").model
    'mdav'
    """
    asked = options or AdviceOptions(
        data=data, reader=reader, keep=keep, attacker=attacker, file=file, column=column
    )
    if asked.data == "table":
        return _table(asked)
    if asked.data == "network":
        return _network(asked)
    return {
        "stream": _stream,
        "traces": _traces,
        "log": _log,
        "documents": _documents,
        "database": _database,
        "devices": _devices,
    }[asked.data](asked)


def _table(asked: AdviceOptions) -> Advice:
    if asked.reader == "analysts" and (asked.attacker == "anyone" or asked.keep == "counts"):
        return _database(asked)
    own = asked.file
    sample = "celosia datasets get census --rows 2000 --seed 1 -o census.csv --schema census.toml"
    table = shlex.quote(own or "census.csv")
    if asked.attacker == "anyone":
        return Advice(
            "release",
            "differential-privacy",
            {"epsilon": 1},
            _why("anyone", "aggregates"),
            (*_first(own, sample), f"celosia release count {table} --epsilon 1"),
            _why("declared_domains"),
        )
    draft = f"celosia assess identifiers {table} -o schema.toml"
    begin = (sample,) if own is None else (draft,)
    schema = "census.toml" if own is None else "schema.toml"
    if asked.keep == "models":
        return Advice(
            "synthesise",
            "bayesian-network",
            {},
            _why("models", "measure"),
            (
                *_first(own, sample),
                f"celosia synthesise {table} --method bayesian-network -o new.csv",
            ),
            _why("no_bound"),
        )
    k = 10 if asked.reader == "public" else 5
    if asked.keep == "statistics":
        masked = (
            f"celosia mask {table} -s {schema} --method mdav:k={k} -c {_column(asked)} -o safe.csv"
        )
        return Advice(
            "mask",
            "mdav",
            {"k": k},
            _why("statistics", f"k_{asked.reader}"),
            (*begin, masked),
            _why("not_true", *(["choose_columns"] if own and not asked.column else [])),
        )
    has_l = asked.attacker == "acquaintance"
    models = f"--k {k}" + (" --l 3" if has_l else "")
    return Advice(
        "publish",
        "k-anonymity and l-diversity" if has_l else "k-anonymity",
        {"k": k} | ({"l": 3} if has_l else {}),
        _why("truth", f"k_{asked.reader}", "acquaintance" if has_l else "register"),
        (*begin, f"celosia publish {table} -s {schema} {models} -o safe.csv"),
        _why("read_schema") if own else (),
    )


def _network(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get network --vertices 300 --edges 900 --seed 1 -o friends.edges"
    graph = shlex.quote(asked.file or "friends.edges")
    first = _first(asked.file, sample)
    if asked.attacker == "anyone":
        return Advice(
            "graph",
            "differential-privacy",
            {"epsilon": 1},
            _why("anyone", "aggregates"),
            (*first, f"celosia graph release histogram {graph} --epsilon 1"),
        )
    if asked.keep in ("counts", "statistics"):
        return Advice(
            "graph",
            "partition-search",
            {"k": 5},
            _why("macro", "links"),
            (*first, f"celosia graph publish {graph} --method partition-search:k=5 -o safe.json"),
            _why("local_lost"),
        )
    if asked.attacker == "acquaintance":
        return Advice(
            "graph",
            "k-neighbourhood",
            {"k": 5},
            _why("neighbourhood", "local"),
            (*first, f"celosia graph publish {graph} --method k-neighbourhood:k=5 -o safe.edges"),
            _why("links_open"),
        )
    return Advice(
        "graph",
        "k-degree",
        {"k": 10},
        _why("degree", "local"),
        (*first, f"celosia graph publish {graph} --k-degree 10 -o safe.edges"),
        _why("links_open", "no_switch"),
    )


RECIPE = """cat > recipe.toml <<'END'
[table]
other_columns = "identifier"
[columns.{column}]
role = "quasi-identifier"
[[steps]]
method = "noise"
amount = 0.2
columns = ["{column}"]
END"""


def _stream(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get census --rows 2000 --seed 1 -o census.csv"
    table = shlex.quote(asked.file or "census.csv")
    return Advice(
        "stream",
        "noise",
        {"amount": 0.2},
        _why("stream"),
        (
            *_first(asked.file, sample),
            RECIPE.format(column=_column(asked)),
            f"celosia stream {table} --recipe recipe.toml --reference {table} --state s.stream "
            "-o masked.csv",
        ),
        _why(
            "no_bound", "outliers", *(["choose_columns"] if asked.file and not asked.column else [])
        ),
    )


def _traces(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get city --rows 6000 --seed 1 -o pings.csv --schema trace.toml"
    points = shlex.quote(asked.file or "pings.csv")
    first = (sample,) if asked.file is None else (f"celosia trace init {points} -o trace.toml",)
    if asked.attacker == "anyone" or asked.keep == "counts":
        return Advice(
            "trace",
            "differential-privacy",
            {"epsilon": 1},
            _why("anyone", "aggregates"),
            (*first, f"celosia trace release grid {points} -d trace.toml -e 1 -o map.csv"),
        )
    return Advice(
        "trace",
        "glove",
        {"k": 5},
        _why("traces"),
        (*first, f"celosia trace publish {points} -d trace.toml --glove 5 -o safe.csv"),
        _why("points_lost"),
    )


def _log(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get searches --rows 5000 -o searches.csv"
    log = shlex.quote(asked.file or "searches.csv")
    first = (*_first(asked.file, sample), f"celosia log init {log} -o log.toml")
    if asked.attacker == "anyone" or asked.keep == "counts":
        return Advice(
            "log",
            "differential-privacy",
            {"epsilon": 1, "delta": 1e-6},
            _why("anyone", "aggregates"),
            (
                *first,
                f"celosia log release keys {log} --declare log.toml -e 1 --delta 1e-6 -o keys.csv",
            ),
        )
    return Advice(
        "log",
        "min-people",
        {"people": 5},
        _why("log"),
        (*first, f"celosia log publish {log} --declare log.toml --min-people 5 -o safe.csv"),
    )


def _documents(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get notes --rows 10 --seed 7 -o notes --people patients.csv"
    folder = shlex.quote(asked.file or "notes")
    return Advice(
        "text",
        "surrogates",
        {},
        _why("documents"),
        (
            *_first(asked.file, sample),
            "celosia text init -o text.toml",
            f"celosia text find {folder} --declare text.toml -o findings.csv",
            f"celosia text publish {folder} --declare text.toml --findings findings.csv -o safe "
            "--key key.bin",
        ),
        _why("read_findings"),
    )


def _database(asked: AdviceOptions) -> Advice:
    sample = "celosia datasets get tpch --scale 0.01 --seed 1992 -o shop"
    commands: tuple[str, ...]
    if asked.file is None:
        commands = (
            sample,
            'celosia query shop/policy.toml "SELECT count(*) FROM orders" --epsilon 0.5 --explain',
        )
    else:
        commands = (f"celosia policy draft {shlex.quote(asked.file)} --name mine -o policy.toml",)
    return Advice(
        "query",
        "differential-privacy",
        {"epsilon": 0.5},
        _why("interactive", "anyone"),
        commands,
        _why("read_policy") if asked.file else (),
    )


def _devices(asked: AdviceOptions) -> Advice:
    return Advice(
        "collect",
        "local-differential-privacy",
        {"epsilon": 2},
        _why("devices"),
        (
            "celosia collect choose --users 1e6 --domain 1000 --epsilon 2",
            "celosia collect simulate --data letters:20000 --protocol hcms --epsilon 2",
        ),
    )


def _column(asked: AdviceOptions) -> str:
    """The column that is masked: of the sample, or of the file."""
    return shlex.quote(asked.column or ("age" if asked.file is None else "COLUMN"))


def _first(file: str | None, sample: str) -> tuple[str, ...]:
    """The command that makes data to try with, where there is no file."""
    return () if file is not None else (sample,)


def _why(*names: str) -> tuple[Message, ...]:
    return tuple(Message(REASONS[name]) for name in names)


def question_text(name: str) -> str:
    """A question with its answers, in words."""
    listed = "; ".join(f"{each}: {answer_text(each)}" for each in QUESTIONS[name])
    return f"{say(QUESTION_TEXTS[name])} {listed}"


def answer_text(answer: str) -> str:
    """An answer in words."""
    return say(ANSWER_TEXTS[answer])


QUESTION_TEXTS = {
    "data": "assess.advice.question.data",
    "reader": "assess.advice.question.reader",
    "keep": "assess.advice.question.keep",
    "attacker": "assess.advice.question.attacker",
}
ANSWER_TEXTS = {
    "table": "assess.advice.answer.table",
    "stream": "assess.advice.answer.stream",
    "network": "assess.advice.answer.network",
    "traces": "assess.advice.answer.traces",
    "log": "assess.advice.answer.log",
    "documents": "assess.advice.answer.documents",
    "database": "assess.advice.answer.database",
    "devices": "assess.advice.answer.devices",
    "public": "assess.advice.answer.public",
    "partner": "assess.advice.answer.partner",
    "analysts": "assess.advice.answer.analysts",
    "records": "assess.advice.answer.records",
    "statistics": "assess.advice.answer.statistics",
    "counts": "assess.advice.answer.counts",
    "models": "assess.advice.answer.models",
    "structure": "assess.advice.answer.structure",
    "register": "assess.advice.answer.register",
    "acquaintance": "assess.advice.answer.acquaintance",
    "anyone": "assess.advice.answer.anyone",
}
REASONS = {
    "acquaintance": "assess.advice.reason.acquaintance",
    "aggregates": "assess.advice.reason.aggregates",
    "anyone": "assess.advice.reason.anyone",
    "choose_columns": "assess.advice.reason.choose_columns",
    "declared_domains": "assess.advice.reason.declared_domains",
    "degree": "assess.advice.reason.degree",
    "devices": "assess.advice.reason.devices",
    "documents": "assess.advice.reason.documents",
    "interactive": "assess.advice.reason.interactive",
    "k_analysts": "assess.advice.reason.k_analysts",
    "k_partner": "assess.advice.reason.k_partner",
    "k_public": "assess.advice.reason.k_public",
    "links": "assess.advice.reason.links",
    "links_open": "assess.advice.reason.links_open",
    "local": "assess.advice.reason.local",
    "local_lost": "assess.advice.reason.local_lost",
    "log": "assess.advice.reason.log",
    "macro": "assess.advice.reason.macro",
    "measure": "assess.advice.reason.measure",
    "models": "assess.advice.reason.models",
    "neighbourhood": "assess.advice.reason.neighbourhood",
    "no_bound": "assess.advice.reason.no_bound",
    "no_switch": "assess.advice.reason.no_switch",
    "not_true": "assess.advice.reason.not_true",
    "outliers": "assess.advice.reason.outliers",
    "points_lost": "assess.advice.reason.points_lost",
    "read_findings": "assess.advice.reason.read_findings",
    "read_policy": "assess.advice.reason.read_policy",
    "read_schema": "assess.advice.reason.read_schema",
    "register": "assess.advice.reason.register",
    "statistics": "assess.advice.reason.statistics",
    "stream": "assess.advice.reason.stream",
    "traces": "assess.advice.reason.traces",
    "truth": "assess.advice.reason.truth",
}
"""Reasons and warnings by name, with their keys of the catalogue."""
