"""`celosia text index`, `release`, `methods` and `forget-key`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from celosia.cli import console, options
from celosia.cli.frame import AnswerOutputs, FileOutputs, JsonOutputs
from celosia.cli.payment import Payment
from celosia.cli.text.options import Declare, Documents, Seed
from celosia.core.messages import Message, say


def index(
    outputs: FileOutputs,
    release: Annotated[Path, "argument", "The published folder."],
    output: Annotated[Path, "--output -o", "File for the index: .parquet or .csv."],
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Persons of each term, at least.")] = 5,
    seed: Seed = None,
) -> None:
    """Build a search index that may be published, from a release only.

    It has no positions, only terms of at least K persons (documents, where the release does not
    say whose they are), and document numbers in random order.

    **Examples**

    `celosia text index safe --k 5 -o index.parquet`
    """
    from celosia import texts
    from celosia.core.randomness import source
    from celosia.frames import format_of

    outputs.check(inputs=(release,), index=output)
    format_of(output)
    with outputs.working():
        loaded = texts.TextRelease.load(release)
        made = texts.index.safe_index(loaded, k=k, rng=source(seed))
        made.save(output, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"terms": len(made.terms), "postings": made.postings.height, "k": k},
        None,
        say("texts.cli.index", terms=len(made.terms), k=k),
        index=output,
    )


def release(
    outputs: AnswerOutputs,
    payment: Payment,
    what: Annotated[Literal["terms"], "argument", "What to release: terms."],
    documents: Documents,
    epsilon: options.Epsilon,
    delta: Annotated[float, "Chance of a term that one person alone has."],
    per_person: Annotated[
        int, typer.Option("--per-person", min=1, help="Terms of each person that count.")
    ] = 20,
    unit: Annotated[
        Literal["person", "document"],
        "Whom the promise is for; document where each is of another person.",
    ] = "person",
    declare: Declare = None,
    seed: Seed = None,
) -> None:
    """Release how many persons use each term, with differential privacy.

    The documents themselves are read: no detection is needed for this promise.

    **Examples**

    `celosia text release terms notes --declare text.toml --epsilon 1 --delta 1e-5 -o terms.csv`
    """
    from celosia import texts
    from celosia.core.randomness import source
    from celosia.texts.private import term_counts

    del what
    outputs.check(inputs=(documents, declare))
    with outputs.working() as progress, payment.budget(epsilon) as budget:
        reading = texts.read(documents, declare, progress=progress)
        answer = term_counts(
            reading,
            epsilon=epsilon,
            delta=delta,
            per_person=per_person,
            unit=unit,
            budget=budget,
            rng=source(seed),
        )
        outputs.save(answer)
    outputs.finish(answer, lambda: None)


def methods(outputs: JsonOutputs) -> None:
    """List actions and models with their parameters.

    **Examples**

    `celosia text methods`
    """
    from celosia.core.methods import parameters
    from celosia.texts.actions import ACTIONS
    from celosia.texts.models import MODELS

    known = {**ACTIONS, **MODELS}

    def lines() -> None:
        rows = [
            [
                name,
                str(Message(f"methods.{name}.summary")),
                ", ".join(each.name for each in parameters(method)),
            ]
            for name, method in known.items()
        ]
        header = [say("texts.cli.name"), say("texts.cli.summary_of"), say("texts.cli.parameters")]
        console.show_table(say("texts.cli.methods"), header, rows, numbers=False)

    outputs.show(
        lambda: [
            {
                "name": name,
                "summary": str(Message(f"methods.{name}.summary")),
                "parameters": [each.name for each in parameters(method)],
            }
            for name, method in known.items()
        ],
        lines,
        say("texts.cli.methods_count", actions=len(ACTIONS), models=len(MODELS)),
    )


def forget_key(
    key: Annotated[Path, "argument", "The key file."],
    yes: Annotated[bool, "--yes", "Do not ask."] = False,
) -> None:
    """Destroy a key file: nothing that it could undo can be undone any more.

    Copies in backups and snapshots are not reached.

    **Examples**

    `celosia text forget-key key.bin --yes`
    """
    from celosia.core.pseudonyms.keys import Key, forget
    from celosia.texts.removed import beside

    Key.load(key)
    if not yes:
        typer.confirm(say("texts.cli.forget", path=key), abort=True)
    forget(key)
    beside(key).unlink(missing_ok=True)
    console.show(say("texts.cli.forgotten", path=key), strong=True)
