"""Classes: who sits where, what is set, who has tried what, and what it is worth.

A class is in memory only. A student has a seat, known by a signed cookie; the teacher has a key.
Attempts are counted by seat, so that one student never locks out another.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from hmac import compare_digest
from secrets import choice, token_bytes, token_urlsafe
from threading import Lock

from celosia.core.errors import InputError, PrivacyError
from celosia.studio.classroom.tasks import Attempt, Task
from celosia.studio.language import _, number

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of codes: none looks like another, so a code can be read from a projector."""
CODE_LENGTH = 8
"""About 40 bits: guesses at the entrance are counted and slowed down as those of a password."""
MOST_CLASSES = 30
MOST_OF_ONE = 3
"""Classes that one visitor may have open."""
MOST_SEATS = 200
MOST_TASKS = 20
MOST_LETTERS = 40
"""Of a name and of the title of a class."""
IDLE = 12 * 3600.0
"""Seconds after which a class that nobody looks at has ended."""
TEACHER = "teacher"


@dataclass(slots=True, eq=False)
class Seat:
    """One student: a number, a name if the class has names, and the attempts at each task."""

    number: int
    name: str = ""
    locked: bool = False
    attempts: dict[int, list[Attempt]] = field(default_factory=dict)
    granted: dict[int, int] = field(default_factory=dict)
    """Attempts that the teacher gave beside those of the task."""

    def shown(self, *, hidden: bool = False) -> str:
        """What the seat is called on a page; with `hidden`, never by its name."""
        if self.name and not hidden:
            return self.name
        return _("Seat {number}", number=number(self.number))


@dataclass(slots=True, eq=False)
class Classroom:
    """One class."""

    title: str
    named: bool
    owner: str = field(repr=False)
    """The visitor who started it."""
    code: str = field(default_factory=lambda: "".join(choice(LETTERS) for _ in range(CODE_LENGTH)))
    key: str = field(default_factory=lambda: token_urlsafe(12), repr=False)
    """The teacher's."""
    seats: dict[int, Seat] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    seen: float = 0.0
    changes: int = 0
    """Grows with each change, so that a page knows when to draw again."""
    _secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self.title = _checked(self.title)

    def join(self, name: str = "") -> Seat:
        """A new seat; in a class with names, under a name that no other seat has.

        Raises:
            InputError: CEL-W101 the class is full, or the name is empty or too long.
        """
        given = _checked(name) if self.named else ""
        with self._lock:
            if len(self.seats) >= MOST_SEATS:
                raise InputError("CEL-W101.full", most=MOST_SEATS)
            taken = {each.name for each in self.seats.values()}
            unique, times = given, 1
            while given and unique in taken:
                times += 1
                unique = f"{given} ({times})"
            made = Seat(max(self.seats, default=0) + 1, unique)
            self.seats[made.number] = made
        self.changes += 1
        return made

    def cookie(self, who: Seat | None) -> str:
        """What the browser of a seat keeps, or of the teacher: it cannot be made up."""
        name = TEACHER if who is None else str(who.number)
        return f"{name}.{self._proof(name)}"

    def seat_of(self, cookie: str | None) -> Seat | None:
        """The seat whose browser sends a cookie; None for any other."""
        name = self._signed(cookie)
        return self.seats.get(int(name)) if name and name != TEACHER else None

    def is_teacher(self, cookie: str | None) -> bool:
        """Whether a cookie is the teacher's."""
        return self._signed(cookie) == TEACHER

    def opens(self, key: str) -> bool:
        """Whether a key is the teacher's."""
        return compare_digest(key.encode(), self.key.encode())

    def _signed(self, cookie: str | None) -> str | None:
        name, _dot, proof = (cookie or "").partition(".")
        is_ours = compare_digest(proof.encode(), self._proof(name).encode())
        return name if is_ours and name else None

    def _proof(self, name: str) -> str:
        return blake2b(name.encode(), key=self._secret, digest_size=16).hexdigest()

    def set_task(self, task: Task) -> None:
        """One more task for all.

        Raises:
            InputError: CEL-W101, there are too many.
        """
        if len(self.tasks) >= MOST_TASKS:
            raise InputError("CEL-W101.tasks", most=MOST_TASKS)
        self.tasks.append(task)
        self.changes += 1

    def task(self, place: int) -> Task:
        """A task by its place.

        Raises:
            InputError: CEL-W100, there is none.
        """
        if not 0 <= place < len(self.tasks):
            raise InputError("CEL-W100.task")
        return self.tasks[place]

    def left(self, seat: Seat, place: int) -> int:
        """Attempts that a seat still has at a task."""
        if seat.locked or self.seats.get(seat.number) is not seat:
            return 0
        used = len(seat.attempts.get(place, []))
        return self.task(place).most + seat.granted.get(place, 0) - used

    def check(self, seat: Seat, place: int) -> None:
        """Refuse an attempt that a seat may not make.

        Raises:
            PrivacyError: CEL-W102, the seat is locked, or has used its attempts at this task.
        """
        if self.left(seat, place) < 1:
            raise PrivacyError("CEL-W102")

    def add(self, seat: Seat, place: int, attempt: Attempt) -> None:
        """Keep an attempt of a seat, unless it may not make one."""
        with self._lock:
            self.check(seat, place)
            seat.attempts.setdefault(place, []).append(attempt)
        self.changes += 1

    def grant(self, seat: Seat, place: int) -> None:
        """Give a seat as many attempts at a task as it had at first."""
        seat.granted[place] = seat.granted.get(place, 0) + self.task(place).most
        self.changes += 1

    def lock(self, seat: Seat, *, locked: bool) -> None:
        """Lock a seat, or open it again; all others go on."""
        seat.locked = locked
        self.changes += 1

    def remove(self, seat: Seat) -> None:
        """Take a seat away, with its results; its cookie opens nothing more."""
        self.seats.pop(seat.number, None)
        self.changes += 1

    def mark(self, seat: Seat, place: int) -> float | None:
        """What a seat has earned with a task, from 0 to 10; None where nothing is judged."""
        task = self.task(place)
        if not task.most:
            return None
        others = [each for one in self.seats.values() for each in one.attempts.get(place, [])]
        return round(task.mark(seat.attempts.get(place, []), others), 2)

    def best(self, seat: Seat, place: int) -> Attempt | None:
        """The attempt of a seat that earned its mark; the last one where none reached the goal."""
        own = seat.attempts.get(place, [])
        if not own:
            return None
        every = [each for one in self.seats.values() for each in one.attempts.get(place, [])]
        marks = [self.task(place).mark(own[: at + 1], every) for at in range(len(own))]
        top = max(marks)
        return own[marks.index(top)] if top > 0 else own[-1]

    def marks_csv(self) -> str:
        """The marks of all seats, one line for each seat; for a spreadsheet of the language.

        Where numbers have a decimal comma, spreadsheets expect semicolons between cells.
        """
        judged = [place for place, task in enumerate(self.tasks) if task.most]
        text = io.StringIO()
        comma = number(0.5, 1)[1] == ","
        write = csv.writer(text, delimiter=";" if comma else ",", lineterminator="\n").writerow
        heads = [_plain(self.tasks[place].title()) for place in judged]
        write([_("seat"), _("name"), *heads, _("sum")])
        for seat in sorted(self.seats.values(), key=lambda each: each.number):
            marks = [self.mark(seat, place) or 0.0 for place in judged]
            cells = [str(each) for each in (*marks, round(sum(marks), 2))]
            cells = [each.replace(".", ",") for each in cells] if comma else cells
            write([seat.number, _plain(seat.name), *cells])
        return text.getvalue()


class Classrooms:
    """The open classes of a studio, by their codes."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, Classroom] = {}
        self._lock = Lock()

    def start(self, title: str, *, named: bool, owner: str) -> Classroom:
        """A new class.

        Raises:
            InputError: CEL-W101, there are too many already, or the title is empty or too long.
        """
        made = Classroom(title, named, owner, seen=self._clock())
        with self._lock:
            self._expire()
            own = sum(each.owner == owner for each in self._open.values())
            if own >= MOST_OF_ONE or len(self._open) >= MOST_CLASSES:
                raise InputError("CEL-W101.classes", most=MOST_OF_ONE)
            self._open[made.code] = made
        return made

    def find(self, code: str) -> Classroom | None:
        """The open class with a code, however it is typed; None where there is none."""
        with self._lock:
            self._expire()
            found = self._open.get(plain_code(code))
            if found is not None:
                found.seen = self._clock()
            return found

    def of(self, code: str) -> Classroom:
        """The same.

        Raises:
            InputError: CEL-W100, there is none, or it has ended.
        """
        found = self.find(code)
        if found is None:
            raise InputError("CEL-W100")
        return found

    def end(self, room: Classroom) -> None:
        """End a class: its code lets nobody in, and names and results are forgotten."""
        with self._lock:
            self._open.pop(room.code, None)
        room.seats.clear()
        room.changes += 1

    def _expire(self) -> None:
        late = self._clock() - IDLE
        self._open = {code: each for code, each in self._open.items() if each.seen > late}


def plain_code(given: str) -> str:
    """A code as it is kept, from how somebody has typed it.

    >>> plain_code(" k7qf-m2xa")
    'K7QFM2XA'
    """
    return "".join(each for each in given[:40].upper() if each in LETTERS)


def spaced(code: str) -> str:
    """A code as it is shown.

    >>> spaced("K7QFM2XA")
    'K7QF M2XA'
    """
    return f"{code[:4]} {code[4:]}"


def _checked(name: str) -> str:
    text = " ".join(name.split())
    if not text or len(text) > MOST_LETTERS or not text.isprintable():
        raise InputError("CEL-W101.name", most=MOST_LETTERS)
    return text


def _plain(text: str) -> str:
    """A text that a spreadsheet does not take for a formula, whatever a student is called.

    >>> _plain("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
