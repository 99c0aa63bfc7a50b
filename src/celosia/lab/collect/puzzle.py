"""The Sequence Fragment Puzzle: Tables 5.9, 5.10 and 5.11.

Errors are over the texts that were found. Those of the ten words come from the sketch of whole
texts alone, so the sizes of the sketches of pieces, which take most of the time, are tried in full
only where they are small.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import exp, pi, sqrt

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.estimates import Estimates
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle, FragmentPuzzleServer
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.datasets.telemetry import ANGLICISMS_50K
from celosia.lab.collect import aggregates, count_mean
from celosia.lab.collect.identities import identities
from celosia.lab.collect.law import ErrorLaw, one_run, rmse
from celosia.lab.collect.publication import TYPOS, WORD_RANGE, WORDS, generator, table
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import SIGMAS
from celosia.lab.tolerance import Tolerance, at_least

RUNS = 10
"""Of drawn aggregates of the sketch of texts."""
USERS = int(WORDS.sum()) + TYPOS
FULL = {(32, 32, 16, 16): 5, (64, 64, 32, 32): 7, (256, 256, 64, 64): 10}
"""Sizes that are run in full, and how many of the ten words must be found: 6, 8 and 10 were, by
simulations independent of this one; one less where chance decides."""
OF_TOP = (256, 256, 64, 64)
"""The sizes of Table 5.11 and of Figures 5.7 and 5.8."""
TOP_OF_FIGURE = 80
BY_CHANCE = 300
"""Pieces kept at a position from which on most texts are put together by chance."""
FACTOR = 3.0
"""How far their number may be from the expected one: which pieces are kept is common to many."""
LOG_DEVIATION = 0.33
"""Of the logarithm of the number of texts, over ten collections of ours with other tags."""
SLOW_LINE, RANGES = 1916.9922, 40
"""Seconds of one dictionary (C-19), and how many ranges of all others it must be away from them."""
FOUND_BEFORE = Message("lab.tolerance.one_word_less")
CHOSEN = Message("lab.tolerance.factor", factor=FACTOR)


def rows(progress: Progress) -> list[Row]:
    """Every line of the tables."""
    lines = table("puzzle")
    found: list[Row] = []
    seen: dict[str, int] = {}
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.puzzles_of_50_000_texts"), done, len(lines)))
        sizes = tuple(
            int(line[name]) for name in ("hashes", "fragment_hashes", "width", "fragment_width")
        )
        name = "SFP k={}, k'={}, m={}, m'={}".format(*sizes)
        seen[name] = seen.get(name, 0) + 1
        run = name if seen[name] == 1 else Message("lab.collect.again", name=name, seen=seen[name])
        found += identities(run, line, users=USERS, spread=WORD_RANGE)
        found += _errors(run, line, sizes[0], sizes[2], seed=1000 + done)
        if seen[name] == 1 and sizes in FULL:
            found += _in_full(run, sizes, FULL[sizes])
    found += _slow()
    lines = table("puzzle_top")
    server = _collected(OF_TOP)
    for done, line in enumerate(lines):
        progress(Step(Message("lab.collect.dictionaries"), done, len(lines)))
        found += _top(line, server)
    return found


def dictionary_of_figure() -> Estimates:
    """The texts of a run of ours that are put together where 80 pieces are kept (Figure 5.7)."""
    return _dictionary(_collected(OF_TOP), TOP_OF_FIGURE)


@cache
def law(hashes: int, width: int) -> ErrorLaw:
    """Of the errors of the ten words."""
    return count_mean.law(CountMean(epsilon=2, hashes=hashes, width=width), WORDS, single=TYPOS)


def absent(hashes: int, width: int) -> float:
    """The standard deviation of the estimate of a text that nobody has."""
    squares = float(WORDS @ WORDS) + TYPOS
    made = CountMean(epsilon=2, hashes=hashes, width=width)
    return sqrt(made.variance(USERS, squares=squares))


def _errors(run: str, line: dict[str, str], hashes: int, width: int, *, seed: int) -> Iterator[Row]:
    expected = law(hashes, width)
    yield expected.of_rmse(
        run, Message("lab.collect.rmse_of_the_published_run_beside_2"), line["rmse"]
    )
    made = CountMean(epsilon=2, hashes=hashes, width=width)
    drawn = generator(Seeded(seed))
    errors = [
        rmse(aggregates.count_mean(made, WORDS, drawn, single=TYPOS), WORDS) for _ in range(RUNS)
    ]
    cell = Message("lab.collect.rmse_of_runs_of_ours_exact_2", runs=RUNS)
    yield expected.of_runs(run, cell, errors)


@cache
def _collected(sizes: tuple[int, ...]) -> FragmentPuzzleServer:
    """A server after real reports of the words and of typos."""
    hashes, fragment_hashes, width, fragment_width = sizes
    protocol = FragmentPuzzle(
        epsilon=8,
        fragment_epsilon=6,
        hashes=hashes,
        width=width,
        fragment_hashes=fragment_hashes,
        fragment_width=fragment_width,
    )
    rng = Seeded(1050)
    letters = rng.integers(26, 8 * TYPOS).reshape(TYPOS, 8) + ord("a")
    lengths = 3 + rng.integers(6, TYPOS)
    typos = [
        "".join(map(chr, each[:size])) for each, size in zip(letters, lengths.tolist(), strict=True)
    ]
    texts = [word for word, count in ANGLICISMS_50K.items() for _ in range(count)] + typos
    server = protocol.server()
    for batch in protocol.client(rng=rng).batches(texts):
        server.absorb(batch)
    return server


def _dictionary(server: FragmentPuzzleServer, top: int) -> Estimates:
    """As published: the texts of all kept pieces, significant or not, whatever their own tag."""
    return server.dictionary(top=top, significance=None, check_tags=False)


def _in_full(run: str, sizes: tuple[int, ...], least: int) -> Iterator[Row]:
    found = _dictionary(_collected(sizes), 10)
    words = [word for word in ANGLICISMS_50K if word in found.candidates]
    cell = Message("lab.collect.words_found_of_ten_by_a")
    yield compare(run, cell, least, len(words), at_least(least, FOUND_BEFORE), kind="simulation")


def _top(line: dict[str, str], server: FragmentPuzzleServer) -> Iterator[Row]:
    top, printed_texts = int(line["top"]), int(line["candidates"])
    run = Message("lab.collect.sfp_t", top=top)
    # Errors of texts that nobody has are normal: their mean size is 0.798 of their deviation.
    mean = sqrt(2 / pi) * absent(256, 64)
    total = mean * printed_texts
    near = one_run(line["total_error"], total * sqrt(pi / 2 - 1) / sqrt(printed_texts))
    cell = Message("lab.collect.total_error_texts_of_the_published")
    yield compare(run, cell, float(line["total_error"]), total, near)
    found = _dictionary(server, top)
    ours = len(found.candidates)
    words = sum(word in found.candidates for word in ANGLICISMS_50K)
    cell = Message("lab.collect.words_found_of_ten_by_a_2")
    yield compare(run, cell, 9, words, at_least(9, FOUND_BEFORE), kind="simulation")
    if top >= BY_CHANCE:
        expected = 256 * (top / 256) ** 5
        cell = Message(
            "lab.collect.texts_by_chance_256_t_256", who=Message("lab.collect.the_published_run")
        )
        yield compare(run, cell, printed_texts, expected, _within(printed_texts, FACTOR, CHOSEN))
        cell = Message(
            "lab.collect.texts_by_chance_256_t_256", who=Message("lab.collect.a_run_of_ours")
        )
        near = _within(expected, FACTOR, CHOSEN)
        yield compare(run, cell, expected, ours, near, kind="theory")
    else:
        factor = exp(SIGMAS * sqrt(2) * LOG_DEVIATION)
        near = _within(printed_texts, factor, Message("lab.tolerance.two_runs", sigmas=SIGMAS))
        cell = Message("lab.collect.texts_of_the_published_run_beside")
        yield compare(run, cell, printed_texts, ours, near)


def _within(number: float, factor: float, why: str) -> Tolerance:
    return Tolerance(least=number / factor, most=number * factor, why=why)


def _slow() -> Iterator[Row]:
    """One dictionary took seven times as long as all others of its size: not the protocol."""
    times = [
        float(line["dictionary_s"]) for line in table("puzzle") if line["fragment_hashes"] == "256"
    ]
    rest = [each for each in times if each != SLOW_LINE]
    far = Tolerance(
        absolute=RANGES * (max(rest) - min(rest)),
        refuted=True,
        why=Message("lab.tolerance.ranges_of_the_others", ranges=RANGES, others=len(rest)),
    )
    run = Message("lab.collect.sfp_the_published_dictionarys_time")
    cell = Message("lab.collect.seconds_with_k_256_beside_all")
    wrong = Message("lab.wrong.slow_dictionary")
    yield compare(run, cell, SLOW_LINE, max(rest), far, wrong=wrong)
