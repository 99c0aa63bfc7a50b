"""`celosia wizard`: publish a table by answering questions, each answer also as a command."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console, options
from celosia.cli.frame import check_outputs, show_warnings, write_text
from celosia.core.errors import Cancelled, CelosiaError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    import polars as pl

    from celosia.tables import Schema, TableRelease
    from celosia.tables.schema_draft import SchemaDraft

BACK = "<"
"""The answer that goes back one question."""
ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")

Key = tuple[str, ...]
"""A question: its kind, and the column that it is about, if any."""


def wizard(
    table: Annotated[str | None, "argument TABLE", "The table."] = None,
) -> None:
    """Publish a table by answering questions, and see the command of each answer.

    Enter takes the suggested answer, < goes back one question, Ctrl-C leaves. Nothing is written
    before the last answer names a file. Answers may come from a pipe, one in a line.

    **Examples**

    `celosia wizard`

    `celosia wizard people.csv`

    `celosia --language es wizard people.csv`
    """
    console.note(say("cli.wizard.welcome", back=BACK))
    session = Session({} if table is None else {("file",): table})
    place = 0 if table is None else session.take(("file",), table)
    while place < len(keys := session.keys()):
        answer = _answer(session, keys[place])
        if answer == BACK:
            place = max(0, place - 1)
            continue
        key, before = keys[place], dict(session.answers)
        try:
            place += session.take(key, answer)
        except CelosiaError as error:
            session.answers = before
            console.note(str(error))
            continue
        console.show(session.command(key))


def _answer(session: Session, key: Key) -> str:
    """One line of the standard input; the suggestion for an empty one."""
    suggested = session.suggestion(key)
    question = str(QUESTIONS[key[0]](key[-1]))
    console.show(f"{question} [{suggested}]" if suggested else question, strong=True)
    try:
        return input("> ").strip() or suggested
    except EOFError:
        raise Cancelled() from None


QUESTIONS: dict[str, Callable[[str], Message]] = {
    "file": lambda _: Message("cli.wizard.file"),
    "role": lambda name: Message("cli.wizard.role", column=name, roles=", ".join(ROLES)),
    "hierarchy": lambda name: Message("cli.wizard.hierarchy", column=name),
    "k": lambda _: Message("cli.wizard.k"),
    "model": lambda _: Message("cli.wizard.model"),
    "suppression": lambda _: Message("cli.wizard.suppression"),
    "compare": lambda _: Message("cli.wizard.compare"),
    "output": lambda _: Message("cli.wizard.output"),
}


@dataclass(slots=True)
class Session:
    """The answers so far, and what was made of them."""

    answers: dict[Key, str]
    frame: pl.DataFrame | None = None
    draft: SchemaDraft | None = None
    release: TableRelease | None = None
    runs: list[list[str]] = field(default_factory=list)

    def keys(self) -> list[Key]:
        """The questions, as far as the answers tell them."""
        if self.frame is None:
            return [("file",)]
        columns = self.frame.columns
        return [
            ("file",),
            *(("role", name) for name in columns),
            *(("hierarchy", name) for name in self._with_role("quasi-identifier")),
            ("k",),
            ("model",),
            ("suppression",),
            ("compare",),
            ("output",),
        ]

    def suggestion(self, key: Key) -> str:
        """The answer that Enter takes: the earlier one, or what the column suggests."""
        if key in self.answers and key != ("compare",):
            return self.answers[key]
        if self.draft is not None and key[0] in {"role", "hierarchy"}:
            found = next(each for each in self.draft.columns if each.finding.column == key[1])
            if key[0] == "role":
                return str(found.column.role)
            return "automatic" if found.column.hierarchy is None else "mask"
        return {"k": "5", "suppression": "5%"}.get(key[0], "")

    def take(self, key: Key, answer: str) -> int:
        """Take an answer, refused if it is wrong; returns how many questions to go on."""
        self.answers[key] = answer
        if key == ("file",):
            self._open(answer)
        elif key[0] == "role":
            from celosia.tables.schema import Role, check_choice

            check_choice(answer, ROLES, key[1], Role)
        elif key[0] == "hierarchy":
            self._hierarchy(key[1])
        elif key[0] in {"k", "model"}:
            self._models()
        elif key[0] == "suppression":
            options.share(answer, option="--suppression")
            self._run()
        elif key == ("compare",) and answer:
            self.answers["k",] = answer
            self._models()
            self._run()
            return 0
        elif key == ("output",) and answer:
            self._save(Path(answer))
        return 1

    def command(self, key: Key) -> str:
        """The command that does what an answer says, as far as the answers go."""
        if key[0] == "hierarchy" and not self.answers[key].endswith(".csv"):
            build = ["celosia", "hierarchy", "build", self.answers["file",], "--column", key[1]]
            return shlex.join([*build, "--method", self.answers[key]])
        words = ["celosia", "publish", self.answers.get(("file",), "TABLE")]
        saved = self.answers.get(("output",))
        if saved:
            words += ["--schema", str(_schema_file(Path(saved)))]
        else:
            marks = {"quasi-identifier": "-q", "sensitive": "--sensitive"}
            marks |= {"identifier": "--identifier"}
            for role, option in marks.items():
                for name in self._with_role(role, answered=True):
                    words += [option, name]
            person = self._person()
            words += [] if person is None else ["--person", person]
            if self._with_role("insensitive", answered=True):
                words += ["--other-columns", "insensitive"]
        for word, option in (("k", "--k"), ("model", "--model"), ("suppression", "--suppression")):
            if self.answers.get((word,)):
                words += [option, self.answers[word,]]
        return shlex.join([*words, *(["-o", saved] if saved else [])])

    def _with_role(self, role: str, *, answered: bool = False) -> list[str]:
        names = [] if self.frame is None else self.frame.columns
        return [
            name
            for name in names
            if ((("role", name) in self.answers) or not answered)
            and self.suggestion(("role", name)) == role
        ]

    def _open(self, path: str) -> None:
        from celosia.tables.schema_draft import draft_schema

        reading = options.Reading()
        self.draft = draft_schema(reading.read(path))
        self.frame = reading.read(path, self.draft.schema.types())  # codes keep their zeros

    def _hierarchy(self, name: str) -> Any:
        """The hierarchy that was named: a rule, or a file of one."""
        from celosia.tables.hierarchies.notation import builder_from_text, read_hierarchy

        text = self.suggestion(("hierarchy", name))
        if text == "automatic":
            return None
        return read_hierarchy(text) if text.endswith(".csv") else builder_from_text(text)

    def _models(self) -> Any:
        from celosia.tables import model_from_text

        more = self.answers.get(("model",), "")
        wanted = [f"k-anonymity:k={self.answers['k',]}", *([more] if more else [])]
        return [model_from_text(each) for each in wanted]

    def _person(self) -> str | None:
        """The identifier that several records of a person share, if it is still one."""
        name = None if self.draft is None else self.draft.person
        return name if name in self._with_role("identifier") else None

    def _schema(self) -> Schema:
        from celosia.tables import Schema
        from celosia.tables.schema import Column, Role

        assert self.frame is not None
        assert self.draft is not None
        drafted = {each.finding.column: each.column for each in self.draft.columns}
        columns = []
        for name in self.frame.columns:
            role = Role(self.suggestion(("role", name)))
            quasi = role is Role.QUASI_IDENTIFIER
            columns.append(
                Column(
                    name,
                    role,
                    type=drafted[name].type,
                    hierarchy=self._hierarchy(name) if quasi else None,
                    missing=drafted[name].missing if quasi else "refuse",
                )
            )
        return Schema(tuple(columns), person=self._person())

    def _run(self) -> None:
        """Publish in memory, and show it beside the runs before."""
        from celosia.cli.publish import show_release
        from celosia.tables.run import publish

        limit = options.share(self.answers["suppression",], option="--suppression")
        with console.progress_bar() as progress, console.noted_warnings():
            self.release = publish(
                self.frame, self._schema(), self._models(), suppression=limit, progress=progress
            )
        show_release(self.release)
        solution, risk = self.release.solution, self.release.risk
        self.runs.append(
            [
                self.answers["k",],
                console.number(solution.loss, ".3%"),
                console.number(solution.suppressed),
                console.number(risk.average, ".3%"),
                console.number(risk.maximum, ".3%"),
            ]
        )
        console.show_table(
            say("cli.wizard.runs"),
            ["k", *(str(each) for each in MEASURES)],
            self.runs,
        )

    def _save(self, output: Path) -> None:
        """Write the release, its certificate and the schema, or nothing."""
        from celosia.core.release import certificate_path

        schema, paper = _schema_file(output), certificate_path(output)
        read = Path(self.answers["file",])
        places: dict[str, Path | None] = {"release": output, "certificate": paper, "schema": schema}
        assert self.release is not None
        check_outputs(places, inputs=(read,), overwrite=False)
        self.release.save(output, overwrite=False)
        write_text(schema, self._schema_text(), overwrite=False)
        show_warnings(self.release)
        console.show_files(places)

    def _schema_text(self) -> str:
        from celosia.studio.toml import inline, key_of

        person = self._person()
        lines = [] if person is None else ["[table]", f"person = {inline(person)}", ""]
        for column in self._schema().columns:
            lines += [f"[columns.{key_of(column.name)}]", f'role = "{column.role}"']
            if column.type is not None:
                lines.append(f'type = "{column.type}"')
            if column.missing != "refuse":
                lines.append(f'missing = "{column.missing}"')
            text = self.suggestion(("hierarchy", column.name))
            if column.hierarchy is not None and text.endswith(".csv"):
                lines.append(f"hierarchy = {inline({'file': str(Path(text).resolve())})}")
            elif column.hierarchy is not None:
                lines.append(f"hierarchy = {inline(self._hierarchy(column.name).as_dict())}")
            lines.append("")
        return "\n".join(lines)


MEASURES = (
    Message("cli.wizard.loss"),
    Message("cli.wizard.suppressed"),
    Message("cli.wizard.average_risk"),
    Message("cli.wizard.highest_risk"),
)


def _schema_file(output: Path) -> Path:
    return output.with_name(output.name.partition(".")[0] + ".schema.toml")
