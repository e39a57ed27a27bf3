"""What a manager arranges in its process, and takes back."""

from __future__ import annotations

import gc
import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kubeloop.runtime import calm_collector, log_in_background


@contextmanager
def bare_root() -> Iterator[logging.Logger]:
    """A root logger that nobody has arranged yet."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


def test_the_collector_comes_by_less_often_and_is_given_back() -> None:
    before = gc.get_threshold()

    with calm_collector() as settle:
        assert gc.get_threshold()[0] > before[0]
        settle()
        assert gc.get_freeze_count() > 0

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_lines_are_written_by_a_thread_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stderr", output)

    with bare_root() as root:
        with log_in_background():
            logging.getLogger("kubeloop.test").info("hello %s", "there")
        assert root.handlers == []

    assert output.getvalue().endswith("INFO kubeloop.test: hello there\n")


def test_a_program_that_has_arranged_its_log_keeps_it() -> None:
    root = logging.getLogger()
    handlers = root.handlers[:]
    assert handlers, "pytest has its own"

    with log_in_background():
        assert root.handlers == handlers
