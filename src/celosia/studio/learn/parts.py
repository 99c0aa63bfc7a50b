"""What a lesson is made of: tables, bars, networks, steps of an attack, controls and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from celosia.core.progress import Progress
from celosia.core.progress import Step as Stage
from celosia.studio.language import Figure, _, short

Facts = dict[str, Any]
"""What was computed for a lesson: plain values, in no language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A small table; classes are coloured and numbered, rows can be pointed at or step back."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    classes: tuple[int, ...] | None = None
    marked: frozenset[int] = frozenset()
    faded: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar chart with the names and units of its axes, and what is to be seen in it."""

    categories: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    description: str
    x: str
    y: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """A person in a network: where to draw it, and whether to point at it."""

    name: str
    x: float
    y: float
    marked: bool = False
    faded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A small network: edges are pairs of places in `vertices`."""

    vertices: tuple[Vertex, ...]
    kept: tuple[tuple[int, int], ...]
    description: str
    added: tuple[tuple[int, int], ...] = ()
    removed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A hierarchy: a path from each value up to the root; levels that are used are marked."""

    paths: tuple[tuple[str, ...], ...]
    description: str


Part = Table | Bars | Network | Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move of the attacker."""

    title: str
    text: str
    parts: tuple[Part, ...] = ()
    learnt: str = ""
    """What she has won, at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An attack from what the attacker knows to what she learns."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A choice among few values: a slider where they have an order, else buttons."""

    name: str
    """In the address."""
    label: str
    values: tuple[str | float, ...]
    """What each choice is in the address: the value itself, the same in every language."""
    choices: tuple[str, ...]
    """What each choice is called on the page."""
    first: int = 0
    slides: bool = True

    def written(self, place: int) -> str:
        """What the address has for a choice.

        >>> Control(name="k", label="k", values=(2, 0.5), choices=("2", "0.5")).written(1)
        '0.5'
        """
        value = self.values[place]
        return value if isinstance(value, str) else f"{value:.12g}"

    def place(self, written: str | None) -> int:
        """The choice that an address asks for; the first one where it asks for none of them.

        >>> Control(name="k", label="k", values=(2, 3), choices=("2", "3")).place("3")
        1
        """
        known = [self.written(place) for place in range(len(self.values))]
        return known.index(written) if written in known else self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one setting of the controls gives."""

    text: str
    figures: tuple[Figure, ...] = ()
    parts: tuple[Part, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The live side of a technique."""

    compute: Callable[[Progress], Facts]
    """Everything that the page shows, by the library itself; seconds, so in a worker."""
    example: Callable[[Facts], tuple[Part, ...]]
    stories: Callable[[Facts], tuple[Story, ...]]
    controls: Callable[[], tuple[Control, ...]]
    view: Callable[[Facts, tuple[int, ...]], View]


def step(title: str, text: str, /, *parts: Part, learnt: str = "", **values: object) -> Step:
    """A move of the attacker; title and text are sentences, and the values those of the text."""
    return Step(title=_(title), text=_(text, **values), parts=parts, learnt=learnt)


def story(title: str, /, *steps: Step) -> Story:
    """An attack; its title is a sentence."""
    return Story(title=_(title), steps=steps)


def control(
    name: str,
    label: str,
    values: tuple[str | float, ...],
    *,
    choices: tuple[str, ...] | None = None,
    first: int = 0,
    slides: bool = True,
) -> Control:
    """A choice among few values; its label is a sentence; numbers are called by themselves."""
    called = choices or tuple(v if isinstance(v, str) else short(v) for v in values)
    return Control(
        name=name, label=_(label), values=values, choices=called, first=first, slides=slides
    )


def settings(progress: Progress, stage: str, *values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Each setting of the controls in turn: its name among the facts, and one value of each.

    >>> from celosia.core.progress import silent
    >>> list(settings(silent, "Masking", "ab", (3,)))
    [('0-0', ('a', 3)), ('1-0', ('b', 3))]
    """
    every = list(product(*(range(len(some)) for some in values)))
    for done, places in enumerate(every):
        progress(Stage(stage, done, len(every)))
        yield key(places), tuple(some[at] for some, at in zip(values, places, strict=True))


def key(places: Iterable[int]) -> str:
    """The name of one setting of the controls among the facts.

    >>> key((2, 0))
    '2-0'
    """
    return "-".join(str(place) for place in places)


def worded(value: Any) -> Any:
    """A cell of a teaching table in the present language; numbers and codes as they are.

    >>> worded("flu"), worded(29)
    ('flu', 29)
    """
    return _(value) if isinstance(value, str) and value else value


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], **how: Any) -> Table:
    """A table whose heads and cells are put into words."""
    for name in ("marked", "faded"):
        if name in how:
            how[name] = frozenset(how[name])
    if how.get("classes") is not None:
        how["classes"] = tuple(how["classes"])
    return Table(
        columns=tuple(worded(name) for name in columns),
        rows=tuple(tuple(worded(value) for value in row) for row in rows),
        **how,
    )


def narrowed(columns: Sequence[str], rows: Sequence[Any], left: Iterable[int], **how: Any) -> Table:
    """A table in which some rows remain and the others step back."""
    found = frozenset(left)
    return table(columns, rows, marked=found, faded=frozenset(range(len(rows))) - found, **how)


def listed(words: Sequence[str]) -> str:
    """Things one after the other, in words.

    >>> listed(["flu"]), listed(["flu", "asthma", "cancer"])
    ('flu', 'flu, asthma and cancer')
    """
    if len(words) < 2:
        return "".join(words)
    return _("{first} and {last}", first=", ".join(words[:-1]), last=words[-1])
