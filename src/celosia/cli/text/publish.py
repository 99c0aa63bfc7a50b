"""`celosia text init`, `find`, `review` and `publish`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs, FolderOutputs, write_text
from celosia.cli.text.options import (
    Declare,
    Documents,
    EngineName,
    FactsFile,
    FindingsFile,
    Seed,
    declared,
    show_found,
)
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.texts.models import TextModel


def init(
    output: Annotated[Path | None, "--output -o", "File for the draft (TOML)."] = None,
    person: Annotated[
        str | None, "Column or key, or a pattern on the file name, that says whose it is."
    ] = None,
    language: Annotated[Literal["auto", "en", "es"], "Language of the documents."] = "auto",
    overwrite: options.Overwrite = False,
) -> None:
    """Write a commented draft of a declaration.

    **Examples**

    `celosia text init -o text.toml`

    `celosia text init -o text.toml --person '^(P[0-9]+)-' --language es`
    """
    from celosia.texts.options import TextDeclaration

    draft = TextDeclaration(person=person, language=language).draft()
    if output is None:
        console.show(draft)
        return
    write_text(output, draft, overwrite)
    console.show(say("texts.cli.draft_written", path=output))


def find(
    outputs: FileOutputs,
    documents: Documents,
    declare: Declare = None,
    facts: FactsFile = None,
    engine: EngineName = None,
    output: Annotated[
        Path | None, "--output -o", "File for the findings: places and kinds (CSV)."
    ] = None,
    with_text: Annotated[
        bool,
        "--with-text",
        "Write the found texts too; the file is then as private as the documents.",
    ] = False,
    yes: Annotated[bool, "--yes", "With --with-text: do not ask."] = False,
) -> None:
    """Find what identifies people; the file has places and kinds, and no text.

    **Examples**

    `celosia text find notes --declare text.toml -o findings.csv`

    `celosia text find notes --declare text.toml --facts patients.csv -o findings.csv`

    `celosia text find notes --engine spacy:es_core_news_sm -o findings.csv`

    `celosia text find notes --with-text --yes -o private.csv`  (without --yes it asks first)
    """
    from celosia import texts
    from celosia.texts.detection.engines import engine_from_text

    outputs.check(inputs=(documents, declare, facts), findings=output)
    if with_text and output is not None and not yes:
        typer.confirm(say("texts.cli.ask_with_text", path=output), abort=True)
    with outputs.working() as progress:
        recogniser = None if engine is None else engine_from_text(engine)
        reading = texts.read(documents, declare, progress=progress)
        found = texts.find(reading, facts=facts, engine=recogniser, progress=progress)
        if output is not None:
            texts.write_findings(found, output, with_text=with_text, overwrite=outputs.overwrite)
    note = say("texts.cli.with_text", path=output) if with_text and output is not None else None
    outputs.show(
        lambda: {
            "documents": len(found.collection),
            "persons": found.collection.persons,
            "findings": found.counts(),
            "to_review": len(found.to_review()),
            "left_out": dict(found.left_out),
        },
        lambda: show_found(found),
        say(
            "texts.cli.summary",
            findings=len(found.findings),
            documents=len(found.collection),
            review=len(found.to_review()),
        ),
        note=note,
        findings=output,
    )


def review(
    outputs: FileOutputs,
    documents: Documents,
    findings: Annotated[Path, "--findings", "The findings to look at (CSV)."],
    declare: Declare = None,
    kind: Annotated[str | None, "Only findings of this kind."] = None,
    around: Annotated[
        int, typer.Option(min=0, max=200, help="Characters of text shown on either side.")
    ] = 30,
    show_text: Annotated[
        bool, "--show-text", "Show the text of the documents on this terminal."
    ] = False,
) -> None:
    """List findings that are not sure; decide them in the column `decision` of the file.

    Write `keep` in the column for what is no identifier, `replace` for what is one. Only
    --show-text shows the text of the documents.

    **Examples**

    `celosia text review notes --findings findings.csv --declare text.toml`

    `celosia text review notes --findings findings.csv --kind person --show-text`
    """
    from celosia import texts

    with outputs.working() as progress:
        reading = texts.read(documents, declare, progress=progress)
        found = texts.read_findings(reading, findings)
    asked = [each for each in found.to_review() if kind in (None, each.kind)]
    rows: list[list[str]] = []
    for each in asked:
        span = each.span
        row = [str(span.document), str(span.start), str(span.length), each.kind, f"{each.score:g}"]
        if show_text:
            text = found.collection.documents[span.document].text
            row.append(text[max(0, span.start - around) : span.end + around])
        rows.append(row)
    header = ["document", "start", "length", "kind", "score", *(["text"] if show_text else [])]
    outputs.show(
        lambda: [dict(zip(header[:5], row[:5], strict=True)) for row in rows],
        lambda: console.show_table(say("texts.cli.to_review"), header, rows),
        say("texts.cli.review_summary", review=len(asked)),
    )


def publish(
    outputs: FolderOutputs,
    documents: Documents,
    declare: Declare = None,
    findings: FindingsFile = None,
    facts: FactsFile = None,
    engine: EngineName = None,
    other_languages: Annotated[
        Literal["refuse", "publish"] | None,
        "Whether documents in neither English nor Spanish are refused, or published although names "
        "and dates in them are missed. Default: as declared, else refuse.",
    ] = None,
    models: Annotated[
        list[str] | None,
        "--model NAME[:KEY=VALUE,...]",
        "Condition on the terms that are left; `celosia text methods` lists them.",
    ] = None,
    key: Annotated[
        Path | None,
        "--key",
        "Key file of pseudonyms, surrogates and shifts; made if it does not exist. Keyed "
        "fingerprints of what was removed go to KEY.removed. Keep both files secret, outside "
        "of the release.",
    ] = None,
    names: Annotated[
        Path | None, "--names", "Write which file became which (CSV). Keep this file secret."
    ] = None,
    keep_names: Annotated[
        bool, "--keep-names", "Publish the names of the files; refused if one tells."
    ] = False,
    epsilon: Annotated[
        float | None, options.EPSILON, "Refused for prose: see `celosia explain CEL-N040`."
    ] = None,
    seed: Seed = None,
) -> None:
    """Publish documents: replace every finding, write new files and verify them.

    Without --findings the documents are searched first, with the recogniser of --engine if one is
    named; findings are taken as they are. Every file is written anew; nothing of the
    original is copied, and hidden content is left out. Afterwards each new file is opened again and
    searched for everything that was removed.

    **Examples**

    `celosia text publish notes --declare text.toml -o safe --key key.bin --report report.html`

    `celosia text publish notes --declare text.toml --findings findings.csv -o safe --key key.bin`

    `celosia text publish notes --declare text.toml --model rare-terms:k=5 -o safe --key key.bin`

    `celosia text publish notes --engine spacy:es_core_news_sm -o safe --key key.bin`
    """
    from celosia import texts
    from celosia.core.errors import InputError
    from celosia.core.pseudonyms.keys import Key, check_outside
    from celosia.core.randomness import source
    from celosia.texts.detection.engines import engine_from_text
    from celosia.texts.private import refuse_prose
    from celosia.texts.registry import model_from_text
    from celosia.texts.removed import RemovedTexts

    if epsilon is not None:
        raise refuse_prose()
    if engine is not None and findings is not None:
        raise InputError("CEL-N013.findings")
    new_key = key is not None and not key.exists()
    outputs.check(inputs=(documents, declare, findings, facts), names=names)
    if outputs.output is not None:
        for secret in (key, names):
            if secret is not None:
                check_outside(secret, [outputs.output])
    chosen: list[TextModel] = [model_from_text(each) for each in models or ()]
    known = None if key is None or new_key else Key.load(key)
    with outputs.working() as progress:
        recogniser = None if engine is None else engine_from_text(engine)
        declaration = declared(declare, other_languages)
        reading = texts.read(documents, declaration, progress=progress)
        found = (
            texts.find(reading, facts=facts, engine=recogniser, progress=progress)
            if findings is None
            else texts.read_findings(reading, findings)
        )
        if key is not None and known is None:
            known = Key.new(source(seed))
        release = texts.publish(
            found,
            models=chosen,
            key=known,
            keep_names=keep_names,
            rng=source(seed),
            progress=progress,
        )
        with ExitStack() as files:  # the key appears with the release, or not at all
            if key is not None and new_key and known is not None:
                files.callback(_remove_unless_done, key, state := {"done": False})
                known.save(key)
            outputs.save(release)
            if key is not None and known is not None:
                RemovedTexts.of(release, known).save(key)
            if names is not None:
                _write_names(release.names, names, overwrite=outputs.overwrite)
            if key is not None and new_key:
                state["done"] = True
    if key is not None:
        console.note(say("texts.cli.key", path=key))
    if key is None and release.key is not None:
        console.note(say("texts.cli.no_key"))
    outputs.finish(release, lambda: show_found(found), names=names)


def _remove_unless_done(key: Path, state: dict[str, bool]) -> None:
    if not state["done"]:
        key.unlink(missing_ok=True)


def _write_names(names: Any, path: Path, *, overwrite: bool) -> None:
    import csv

    from celosia.core.files import replacing

    with replacing(path, overwrite=overwrite) as draft, draft.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("original", "published"))
        writer.writerows(sorted(names.items()))
    path.chmod(0o600)
