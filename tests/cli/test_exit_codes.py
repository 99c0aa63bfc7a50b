"""How a command ends when it is asked to."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from celosia.cli.main import _signal_handlers


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """As a script starts what is to run beside it: Ctrl-C is ignored."""
    ended = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    pressed = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, pressed)
    signal.signal(signal.SIGTERM, ended)


def test_a_command_in_the_background_that_is_ended_cleans_up(in_the_background: None) -> None:
    with pytest.raises(KeyboardInterrupt), _signal_handlers() as stopped:
        signal.raise_signal(signal.SIGTERM)
    assert stopped.is_set()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_command_in_the_background_still_ignores_a_ctrl_c(in_the_background: None) -> None:
    with _signal_handlers() as stopped:
        signal.raise_signal(signal.SIGINT)
    assert not stopped.is_set()
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
