"""What a manager arranges in its process, and takes back."""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from kubeloop.kit import ManualClock
from kubeloop.runtime import log_in_background, tune_garbage_collector
from kubeloop.runtime.process import handle_signals


@contextmanager
def bare_root() -> Iterator[logging.Logger]:
    """A root logger without handlers."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield root
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_the_garbage_collector_runs_less_often_and_is_restored() -> None:
    before = gc.get_threshold()

    with tune_garbage_collector() as settle:
        assert gc.get_threshold()[0] > before[0]
        settle()
        assert gc.get_freeze_count() > 0

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_log_lines_are_written_by_a_separate_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)

    with bare_root() as root:
        with log_in_background():
            logging.getLogger("kubeloop.test").info("hello %s", "there")
        assert root.handlers == []

    assert output.getvalue().endswith("INFO kubeloop.test: hello there\n")


def test_a_program_that_configured_logging_keeps_its_configuration() -> None:
    root = logging.getLogger()
    handlers = root.handlers[:]
    assert handlers, "pytest has its own"

    with log_in_background():
        assert root.handlers == handlers


# --- several managers in one process


async def test_a_signal_reaches_all_handlers() -> None:
    received: list[str] = []

    def handles(name: str) -> ExitStack:
        stack = ExitStack()
        stack.enter_context(
            handle_signals(
                lambda: received.append(f"{name} stops"), lambda: received.append(f"{name} ends")
            )
        )
        return stack

    before = signal.getsignal(signal.SIGTERM)
    first, second = handles("first"), handles("second")
    with first:
        with second:
            await raise_signal(signal.SIGTERM)
        await raise_signal(signal.SIGTERM)

    assert received == ["first stops", "second stops", "first ends"]
    assert signal.getsignal(signal.SIGTERM) == before


async def test_the_programs_own_signal_handler_is_restored() -> None:
    def own(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with handle_signals(lambda: None, lambda: None):
            assert signal.getsignal(signal.SIGTERM) is not own
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)


async def test_outside_the_main_thread_no_signal_is_handled() -> None:
    async def listen() -> object:
        with handle_signals(lambda: None, lambda: None):
            return signal.getsignal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    assert await asyncio.to_thread(asyncio.run, listen()) == before


async def raise_signal(which: signal.Signals) -> None:
    signal.raise_signal(which)
    await ManualClock().settle()


def test_the_garbage_collector_is_restored_by_the_last_block_in_any_order() -> None:
    before = gc.get_threshold()
    first, second = tune_garbage_collector(), tune_garbage_collector()

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > before[0]
    second.__exit__(None, None, None)

    assert gc.get_threshold() == before


def test_logging_continues_until_the_last_block_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)

    with bare_root() as root:
        first, second = log_in_background(), log_in_background()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        logging.getLogger("kubeloop.test").info("still here")
        second.__exit__(None, None, None)
        assert root.handlers == []

    assert "still here" in output.getvalue()
