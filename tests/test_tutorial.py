"""The tutorial is followed word for word, in real processes, on a server without a cluster."""

from __future__ import annotations

import contextlib
import secrets
import socket
from pathlib import Path

import pytest

from tests.support.page_reader import Reader, installed_by

PAGES = (
    "docs/tutorial/first-script.md",
    "docs/tutorial/first-informer.md",
    "docs/tutorial/first-controller.md",
    "docs/tutorial/first-test.md",
)


@pytest.fixture
def free_port() -> str:
    """Somebody may use the tutorial's port on this machine.

    It is one of those that no system hands out by itself: the server goes and comes back, and
    meanwhile nobody is to be given its port, not even a client that tries to reach it there.
    """
    while True:
        port = secrets.choice(range(10_000, 30_000))
        with contextlib.suppress(OSError), socket.socket() as listening:
            listening.bind(("127.0.0.1", port))
            return str(port)


@pytest.mark.timeout(300)  # interpreters start, one after the other
@pytest.mark.parametrize("number", range(len(PAGES)))
def test_a_page_shows_what_its_reader_sees(number: int, tmp_path: Path, free_port: str) -> None:
    with Reader(
        tmp_path, replacements={"8011": free_port}, installed=installed_by(*PAGES)
    ) as reader:
        for page in PAGES[:number]:
            reader.write_files(page)

        reader.follow(PAGES[number])
