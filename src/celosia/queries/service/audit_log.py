"""The audit log: one line per request with its sender, question, cost and outcome; append-only."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from celosia.core.errors import EngineError
from celosia.core.resources import Closeable
from celosia.queries.policy.values import Policy


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One line: no value of an answer, no text of a question, no token."""

    action: str
    outcome: str
    """`ok`, or the code of an error."""
    status: int
    who: str | None = None
    role: str | None = None
    token: str | None = None
    """The public name of the token, not the token."""
    question: str | None = None
    """The SHA-256 of the normalised question: equal for equal questions."""
    epsilon: float | None = None
    delta: float | None = None
    entry: int | None = None
    """The entry of the ledger that was charged for the answer."""
    at: str = field(default_factory=_now)

    def as_dict(self) -> dict[str, Any]:
        return {"at": self.at} | asdict(self)


class AuditLog(Closeable):
    """A file of JSON lines, for its owner only; each line is on disk before the answer leaves.

    The file is opened for appending: several processes may share it, and none overwrites a line.
    A line that a crash has cut off is closed when the log is opened again.

    Raises:
        EngineError: CEL-Q181 it cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._lock = Lock()
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            self._file = os.open(self.path, flags, 0o600)
            _close_last_line(self._file)
            _keep_name(self.path.parent)
        except OSError:
            raise EngineError("CEL-Q181.audit_log") from None

    def write(self, line: AuditLine) -> None:
        """Add a line; it is on disk when this returns.

        Raises:
            EngineError: CEL-Q181 it is not.
        """
        text = json.dumps(line.as_dict(), allow_nan=False) + "\n"  # ASCII, no break inside
        data = text.encode("ascii")
        try:
            with self._lock:
                # One write, so that lines of several processes do not mix.
                if os.write(self._file, data) != len(data):
                    raise OSError
                os.fsync(self._file)
        except OSError:
            raise EngineError("CEL-Q181.audit_log") from None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock, suppress(OSError):
            os.close(self._file)
            self._file = -1


def question_hash(query: str, policy: Policy) -> str:
    """The hash of a question's normalised form, which is all that the log keeps of it.

    A text that is no question under the policy has no such form; then it is hashed as it is, but
    for spaces.
    """
    from celosia.queries.planning import compile_query  # sqlglot: 0.1 s
    from celosia.queries.sql import normalise

    try:
        text = str(normalise(compile_query(query, policy)))
    except Exception:  # refused; or a fault of the parser, which must not undo the note
        text = " ".join(query.split())
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _close_last_line(file: int) -> None:
    end = os.lseek(file, 0, os.SEEK_END)
    if end and os.pread(file, 1, end - 1) != b"\n":
        os.write(file, b"\n")


def _keep_name(folder: Path) -> None:
    """Put the name of a new file on disk too."""
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
