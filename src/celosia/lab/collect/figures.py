"""The figures of the study: those of the thesis, with theory or runs of ours beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.core import figures
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.datasets.telemetry import ANGLICISMS_50K, EXPONENTIAL_50K, NORMAL_200K
from celosia.lab.collect import count_mean, hadamard, publication, rappor
from celosia.lab.collect.law import ErrorLaw
from celosia.lab.figures import listed_lines
from celosia.lab.findings import Findings, Row

HASHES, WIDTH = 1024, 256
"""Of the sketches of these figures."""
LOW = 2.0
"""The largest epsilon of the first of two figures."""
SHOWN = 12
"""Values that are drawn, the most common or the rarest."""

Law = Callable[[float, publication.Counts], ErrorLaw]


def sketches(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 5.4 and 5.5 for the Count Mean Sketch."""

    def law(epsilon: float, counts: publication.Counts) -> ErrorLaw:
        made = CountMean(epsilon=epsilon, hashes=HASHES, width=WIDTH)
        return count_mean.law(made, counts)

    return _errors("PCMS", "count_mean_epsilon", "cms", law, progress)


def hadamard_sketches(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The same for the Hadamard sketch, whose published errors are those of a fault."""

    def law(epsilon: float, counts: publication.Counts) -> ErrorLaw:
        made = HadamardCountMean(epsilon=epsilon, hashes=HASHES, width=WIDTH)
        return hadamard.law(made, counts)

    return _errors("PHCMS", "hadamard_epsilon", "hcms", law, progress)


def _errors(name: str, table: str, column: str, law: Law, progress: Progress) -> list[Block]:
    progress(Step(Message("lab.collect.drawing"), 0))
    histograms = [
        _histogram(EXPONENTIAL_50K, Message("lab.collect.histogram_exponential")),
        _histogram(NORMAL_200K, Message("lab.collect.histogram_normal")),
    ]
    lines = publication.table(table)
    epsilons = [float(line["epsilon"]) for line in lines]
    theory = [law(each, publication.NORMAL_200).mean_error for each in epsilons]
    errors = _lines(
        epsilons,
        ([float(line["mean_error"]) for line in lines], theory),
        Message("lab.collect.figure_5_4", name=name),
        Message("lab.axis.epsilon"),
        Message("lab.collect.mean_error"),
    )
    users = publication.table("sketch_users")
    sizes = [int(line["users"]) for line in users]
    shares = [100 / size * law(4, publication.normal_counts(size)).mean_error for size in sizes]
    percents = _lines(
        sizes,
        ([float(line[column]) for line in users], shares),
        Message("lab.collect.figure_5_5", name=name),
        Message("lab.collect.users"),
        Message("lab.collect.percent_error"),
    )
    heading = Heading(say("lab.collect.published_figures", name=name))
    return [heading, *histograms, errors, percents]


def puzzles(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 5.6 to 5.8: times of dictionaries, wrong texts, and how many texts they hold."""
    progress(Step(Message("lab.collect.drawing"), 0))
    lines = publication.table("puzzle")
    sizes = sorted({int(line["fragment_hashes"]) for line in lines})
    times = [
        [float(each["dictionary_s"]) for each in lines if int(each["fragment_hashes"]) == size]
        for size in sizes
    ]
    drawn = [
        _lines(
            sizes,
            ([sorted(each)[len(each) // 2] for each in times], None),
            Message("lab.collect.figure_5_6"),
            Message("lab.collect.fragment_hashes"),
            Message("lab.collect.dictionary_s"),
        )
    ]
    tops = publication.table("puzzle_top")
    runs = findings.by_run()
    ours = [
        _texts_of(runs.get(Message("lab.collect.sfp_t", top=int(line["top"])), ())) for line in tops
    ]
    drawn.append(
        _lines(
            [int(line["top"]) for line in tops],
            ([float(line["candidates"]) for line in tops], ours if all(ours) else None),
            Message("lab.collect.figure_5_8"),
            Message("lab.collect.pieces_kept"),
            Message("lab.collect.texts"),
            second=Message("lab.collect.a_run_of_ours"),
        )
    )
    words = Message("lab.collect.histogram_words", typos=publication.TYPOS)
    heading = Heading(say("lab.collect.published_figures", name="SFP"))
    return [heading, _histogram(ANGLICISMS_50K, words), drawn[0], _wrong_texts(), drawn[1]]


def _histogram(counts: Mapping[Any, int], words: Message) -> Figure:
    """A data set of the thesis."""
    drawing = figures.bars(
        [str(value) for value in counts],
        {say("lab.collect.real_counts"): [float(each) for each in counts.values()]},
        title=words,
        x_label=say("lab.collect.value"),
        y_label=say("lab.collect.users"),
    )
    listed = ", ".join(f"{value} {count:,}" for value, count in counts.items())
    return Figure(drawing, str(words), say("lab.collect.values_listed", words=words, listed=listed))


def _wrong_texts() -> Figure:
    """Figure 5.7: what a large T puts together, right and wrong texts with their estimates."""
    from celosia.lab.collect import puzzle

    found = puzzle.dictionary_of_figure()
    ranked = sorted(zip(found.candidates, found.counts, strict=True), key=lambda each: -each[1])
    texts = [str(text) for text, _ in ranked]
    estimates = [max(float(count), 0.0) for _, count in ranked]
    is_word = [text in ANGLICISMS_50K for text in texts]
    words = say("lab.collect.figure_5_7")
    drawing = figures.bars(
        texts,
        {
            say("lab.collect.texts_of_people"): [
                each if right else 0.0 for each, right in zip(estimates, is_word, strict=True)
            ],
            say("lab.collect.texts_of_nobody"): [
                0.0 if right else each for each, right in zip(estimates, is_word, strict=True)
            ],
        },
        title=words,
        x_label=say("lab.collect.estimate"),
        horizontal=True,
    )
    listed = ", ".join(f"{text} {each:,.0f}" for text, each in zip(texts, estimates, strict=True))
    return Figure(drawing, words, say("lab.collect.values_listed", words=words, listed=listed))


def values(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 5.9 and 5.10: what one run of RAPPOR estimates of common and of rare values.

    The original shows a run on a million values of the same law, whose counts it does not print.
    """
    progress(Step(Message("lab.collect.drawing"), 0))
    counts = publication.drawn_exponential_counts(publication.FIGURE_USERS)
    found = rappor.one_fit(counts)
    most, last = range(SHOWN), range(len(counts) - SHOWN, len(counts))
    return [
        Heading(say("lab.collect.published_figures", name="RAPPOR")),
        _values(most, counts, found, Message("lab.collect.figure_5_9", users=int(counts.sum()))),
        _values(last, counts, found, Message("lab.collect.figure_5_10", users=int(counts.sum()))),
    ]


def _values(
    shown: range, counts: publication.Counts, found: NDArray[np.float64], words: Message
) -> Figure:
    """Real and estimated counts of some values."""
    estimates = [float(found[value]) for value in shown]
    drawing = figures.bars(
        [str(value) for value in shown],
        {
            say("lab.collect.real_counts"): [float(counts[value]) for value in shown],
            say("lab.collect.a_run_of_ours"): estimates,
        },
        title=words,
        y_label=say("lab.collect.users"),
    )
    listed = ", ".join(f"{each:,.0f}" for each in estimates)
    return Figure(drawing, words, say("lab.collect.values_listed", words=words, listed=listed))


def users(findings: Findings, progress: Progress) -> Sequence[Block]:
    """The percentages of dBitFlip, by the number of users."""
    from celosia.collect.numbers.dbitflip import DBitFlip
    from celosia.lab.collect import dbitflip

    progress(Step(Message("lab.collect.drawing"), 0))
    lines = publication.table("dbitflip_users")
    sizes = [int(line["users"]) for line in lines]
    tables = [publication.normal_counts(size) for size in sizes]
    laws = [dbitflip.law(DBitFlip(epsilon=1, buckets=each.size, bits=4), each) for each in tables]
    shares = [100 / size * law.mean_error for size, law in zip(sizes, laws, strict=True)]
    return [
        Heading(say("lab.collect.published_figures", name="dBitFlip")),
        *_errors_by_bits(),
        _lines(
            sizes,
            ([float(line["percent"]) for line in lines], shares),
            Message("lab.collect.errors_by_users", name="dBitFlip"),
            Message("lab.collect.users"),
            Message("lab.collect.percent_error"),
        ),
    ]


def _errors_by_bits() -> Iterator[Figure]:
    """Figures 5.11 and 5.12: one curve for each epsilon, the low ones and the high ones."""
    lines = publication.table("dbitflip")
    bits = sorted({int(line["bits"]) for line in lines})
    printed = {(int(line["bits"]), line["epsilon"]): float(line["nrmse"]) for line in lines}
    epsilons = sorted({line["epsilon"] for line in lines}, key=float)
    for words, chosen in (
        (say("lab.collect.figure_5_11"), [each for each in epsilons if float(each) <= LOW]),
        (say("lab.collect.figure_5_12"), [each for each in epsilons if float(each) > LOW]),
    ):
        series = {
            say("lab.collect.series_epsilon", epsilon=each): [printed[one, each] for one in bits]
            for each in chosen
        }
        x, y = say("lab.collect.bits_sent"), say("lab.collect.printed_nrmse")
        yield listed_lines(words, bits, series, x_label=x, y_label=y)


def _lines(
    places: Sequence[float],
    heights: tuple[Sequence[float], Sequence[float] | None],
    words: Message,
    x: Message,
    y: Message,
    *,
    second: Message | None = None,
) -> Figure:
    """Published numbers along an axis, and ours beside them, on logarithmic scales."""
    published, ours = heights
    name = str(second or Message("lab.kind.theory"))
    series = {say("lab.report.published"): published}
    if ours is not None:
        series[name] = ours
    drawing = figures.lines(
        places, series, title=str(words), x_label=str(x), y_label=str(y), log=True, log_x=True
    )
    listed = ", ".join(f"{height:g}" for height in published)
    return Figure(
        drawing, str(words), say("lab.collect.values_listed", words=str(words), listed=listed)
    )


def _texts_of(rows: Sequence[Row]) -> float:
    """How many texts a run of ours put together."""
    cell = Message(
        "lab.collect.texts_by_chance_256_t_256", who=Message("lab.collect.a_run_of_ours")
    )
    beside = Message("lab.collect.texts_of_the_published_run_beside")
    return next((row.number for row in rows if row.cell in {cell, beside}), 0.0)
