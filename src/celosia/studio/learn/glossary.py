"""The words of privacy as this house uses them, in the present language."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.core.messages import speaking
from celosia.studio.language import _, current


@dataclass(frozen=True, slots=True)
class Word:
    """A word and what it means, as keys of the catalogues."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what it is called in the other language, and what it means."""

    word: str
    elsewhere: str
    meaning: str


def terms() -> list[Term]:
    """All of them, by the alphabet of the present language.

    >>> terms()[0].word
    'analyst'
    """
    with speaking("en" if current() == "es" else "es"):
        others = [_(word.name) for word in WORDS]
    found = [
        Term(_(word.name), other, _(word.meaning))
        for word, other in zip(WORDS, others, strict=True)
    ]
    return sorted(found, key=lambda term: term.word.casefold())


WORDS = (
    Word(
        "identifier",
        "A column that names a person by itself, as a name or a number of identity does.",
    ),
    Word(
        "quasi-identifier",
        "A column that others may know or have elsewhere, and that points at people together "
        "with further ones: age, sex, postal code.",
    ),
    Word(
        "sensitive column",
        "A column with what must not be learnt of a person: a disease, a salary.",
    ),
    Word(
        "insensitive column",
        "A column that harms nobody and points at nobody; it is left as it is.",
    ),
    Word(
        "hierarchy", "For each value of a column the wider values that can stand for it, up to *."
    ),
    Word("level", "How far a value went up its hierarchy; level 0 is the value itself."),
    Word(
        "equivalence class", "Records that share all values of the quasi-identifiers in a release."
    ),
    Word("model", "A condition on equivalence classes, such as k-anonymity."),
    Word("node", "One level for each quasi-identifier: a point in the lattice of all choices."),
    Word("suppression", "A record is shown as * in every quasi-identifier."),
    Word("loss", "The information that was lost, from 0 (nothing) to 1 (everything)."),
    Word("risk", "The chance of re-identification, from 0 to 1."),
    Word(
        "mechanism",
        "A way to answer with noise, for one value or many, by a curator who has the data.",
    ),
    Word(
        "protocol", "How devices add noise to what they send, and how a server estimates from it."
    ),
    Word(
        "privacy unit",
        "What is protected as one: a row, a person, a triple, an entity, an edge, a node.",
    ),
    Word("neighbouring data", "Two data sets that differ by one privacy unit."),
    Word(
        "epsilon (ε)",
        "The bound of differential privacy: no result is more than e^ε times as likely from "
        "one of two neighbouring data sets as from the other.",
    ),
    Word(
        "delta (δ)",
        "A small chance by which the bound of epsilon may fail; far below one over the "
        "number of people.",
    ),
    Word(
        "rho (ρ)",  # noqa: RUF001 - the letter itself
        "Another measure of the same, zero-concentrated, in which Gaussian noise adds up.",
    ),
    Word("budget", "The total of epsilon, delta or rho that all releases together may cost."),
    Word("ledger", "The durable record of a budget; each entry is a charge."),
    Word("charge", "What one release or answer cost, as an entry of a ledger."),
    Word("release", "Protected data with its guarantee and how it was made."),
    Word("curator", "Who has the raw data and answers for them."),
    Word("analyst", "Who may see releases only."),
    Word("attack", "A way to learn of a person what a release should hide, with what others know."),
    Word("noise", "Randomness in an answer that hides any one person and averages out over many."),
    Word("sensitivity", "How much one privacy unit can change an answer; noise is measured by it."),
    Word("generalisation", "A value is replaced by a wider one of its hierarchy: 29 by 20-29."),
    Word("masking", "Cells are changed instead of generalised: noise, averages, swaps, rounding."),
    Word("sketch", "A small summary of many values that can be merged with others of its kind."),
)
