"""Work on Spark that ends with a result or with an error of ours."""

from __future__ import annotations

import base64
import hmac
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from celosia.core.errors import CelosiaError, EngineError
from celosia.engines.spark.types import failures
from celosia.engines.tables import changed_source, engine_failed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGED = "celosia: the table has changed"
"""The error of a row that was not counted."""
_SENT = re.compile(r"celosia error <([0-9a-f]+) ([A-Za-z0-9+/=]*)>")
_SPEAKERS = ("pyarrow", "polars")
"""Packages whose errors may quote cells."""

T = TypeVar("T")


def run(session: SparkSession, work: Callable[[], T], *, word: str | None = None) -> T:
    """What some work gives; its error is ours, and holds nothing of what Spark said.

    Args:
        session: that does the work.
        work: to be done.
        word: that errors of functions of ours carry, see `sent`.

    Raises:
        EngineError: CEL-E002 a row was not counted, CEL-E020 Spark failed or is gone, CEL-E071 its
            workers have no celosia; or what a function of ours has raised on a worker.
    """
    failure: BaseException
    try:
        return work()
    except CelosiaError:
        raise
    except failures() as error:
        failure = _translated(error, word)
    except Exception as error:
        # A context that was stopped leaves None behind, on which pyspark stumbles.
        if not may_quote(error) and is_alive(session):
            raise
        failure = engine_failed("Spark")
    except BaseException:  # Ctrl-C here must end the work there
        with suppress(Exception):
            session.interruptAll()
        raise
    raise failure


def is_alive(session: SparkSession) -> bool:
    """Whether a session can still be asked."""
    try:
        session.sql("SELECT 1").schema  # noqa: B018 - planning alone goes to Spark and back
    except Exception:
        return False
    return True


def sent(error: Exception, word: str) -> RuntimeError:
    """An error of a worker in a form that comes through Spark.

    The word is drawn for one piece of work. Spark's own errors quote cells, and without it whoever
    writes a cell could have anything unpickled here.
    """
    if may_quote(error):
        return RuntimeError("celosia: a function failed")
    try:
        packed = pickle.dumps(error)
    except Exception:
        packed = pickle.dumps(RuntimeError(f"{type(error).__name__} on a worker"))
    return RuntimeError(f"celosia error <{word} {base64.b64encode(packed).decode()}>")


def may_quote(error: BaseException) -> bool:
    """Whether an error may hold cells, or says nothing of our own."""
    speaks = type(error).__module__.split(".")[0] in _SPEAKERS
    return speaks or isinstance(error, OSError | MemoryError)


def workers_have_none() -> EngineError:
    """The error of a cluster without celosia."""
    return EngineError("CEL-E071")


def error_text(error: BaseException) -> str:
    """What Spark says of an error; nothing where its Java is gone, which would have to say it."""
    try:
        return str(error)
    except Exception:
        return ""


def _translated(error: BaseException, word: str | None) -> BaseException:
    text = error_text(error)
    if CHANGED in text:
        return changed_source()
    found = _SENT.search(text)
    if found is not None and word is not None and hmac.compare_digest(found.group(1), word):
        # From our own workers, whose answers pyspark reads in the same way.
        raised: BaseException = pickle.loads(base64.b64decode(found.group(2)))  # noqa: S301
        return raised
    if "No module named 'celosia" in text:
        return workers_have_none()
    return engine_failed("Spark")
