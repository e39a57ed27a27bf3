"""The tutorial runs as printed, in real processes, on the embedded server."""

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
    "docs/tutorial/find-the-bug.md",
)


@pytest.fixture
def free_port() -> str:
    """A port instead of the tutorial's, which may be in use on this machine.

    It is outside the ephemeral range: while the server restarts, the system must not assign its
    port to another socket, such as that of a client that tries to connect.
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
