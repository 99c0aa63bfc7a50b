"""Word-by-word noise: a word stays, or is any other word; there is little between."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing

compare_equal, compare_printed = comparing("theory")

WORDS = 50_000
APART = 1.2
"""An idealised embedding: all words lie equally far apart."""

STAYS = {10: "0.008", 15: "0.139", 18: "0.495", 20: "0.765", 25: "0.985"}
"""The chance that a word stays, by the epsilon of each single word."""


def stays(epsilon: float, *, words: int = WORDS, apart: float = APART) -> float:
    """The chance that a word stays under noise that chooses w' with weight exp(-epsilon d / 2).

    >>> round(stays(18), 3)
    0.495
    """
    return 1 / (1 + (words - 1) * exp(-epsilon * apart / 2))


def rows(progress: Progress = silent) -> Iterator[Row]:
    """The switch, and what a text costs."""
    for epsilon, text in STAYS.items():
        run = Message("lab.texts.epsilon_of_a_word", epsilon=epsilon)
        yield compare_printed(run, "lab.texts.chance_that_it_stays", text, stays(epsilon))
    # A note of 200 words costs 200 times the epsilon of a word: a person is not protected.
    yield compare_equal("lab.texts.a_note_of_200_words", "lab.texts.epsilon_of_all", 3600, 200 * 18)
