"""The log of a studio tells where something went wrong, never what a table or a visitor said.

The text of a foreign error may hold a cell, and so may each line of its trace.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from traceback import walk_tb

LOGGERS = ("nicegui", "uvicorn.error", "asyncio", "socketio.server", "engineio.server")
"""Who logs errors of pages and of the server; a filter holds for one logger only."""
UNHEARD = ("handle_log_message", "_exception_handler_404")
"""Functions of the toolkit that log what a browser sends; a visitor could fill the disk with it."""


class LogFilter(logging.Filter):
    """Replaces each error by its kind and place, and drops what browsers say."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Make a record fit to be kept; whether it is kept at all."""
        if record.funcName in UNHEARD:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if error is None and isinstance(record.msg, BaseException):
            error = record.msg
        if error is not None:
            record.msg, record.args = describe(error), ()
            record.exc_info = record.exc_text = record.stack_info = None
        return True


def describe(error: BaseException) -> str:
    """The kind of an error and the lines of code it came through, without its text.

    >>> describe(ValueError("a cell"))
    'ValueError'
    """
    places = [
        f"{Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    code = getattr(error, "code", None)
    text = type(error).__name__ + (f" {code}" if isinstance(code, str) else "")
    return f"{text} at {' < '.join(reversed(places[-6:]))}" if places else text


def keep_quiet() -> None:
    """Let no error of a page or of the server be logged with its text, unless for debugging."""
    if os.environ.get("CELOSIA_STUDIO_DEBUG"):
        return
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, LogFilter) for each in logger.filters):
            logger.addFilter(LogFilter())
