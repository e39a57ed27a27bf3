"""What a server says besides its answer: `Warning` headers, read and handed on.

Promises: reading is pure; a header that is none is skipped, never an error; the default
handler says each text once.
Elsewhere: which handler is asked (`client`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from email.errors import HeaderParseError
from email.header import decode_header
from typing import TextIO, final

import msgspec

from kubeloop.wire import get_logger, visible

__all__ = [
    "ServerWarning",
    "WarningHandler",
    "WarningLog",
    "WarningWriter",
    "ignore_warnings",
    "parse_warnings",
]

log = get_logger(__name__)

# The code of warnings meant for people; the others are about caches and transformations.
_MEANT_FOR_PEOPLE = 299
# A server that says something new each time must not fill the memory.
_MOST_REMEMBERED = 1000
# Nor one that says very much: kube-apiserver sends 4 KiB of warnings with a response.
_MOST_OF_ONE_RESPONSE = 64
_LONGEST_TEXT = 4096


class ServerWarning(msgspec.Struct, frozen=True):
    """One warning of the server."""

    code: int
    agent: str
    text: str


WarningHandler = Callable[[ServerWarning], None]


def ignore_warnings(warning: ServerWarning) -> None:
    """A handler for those who do not want to know."""


@final
class WarningLog:
    """Logs each text once, as long as a client lives."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, warning: ServerWarning) -> None:
        if _is_news(warning, self._said):
            log.warning("the server says: %s", warning.text)


@final
class WarningWriter:
    """Writes warnings for the user of a program, as kubectl does."""

    def __init__(
        self, file: TextIO | None = None, *, color: bool = False, deduplicate: bool = False
    ) -> None:
        self._file = file
        self._color = color
        self._said: set[str] | None = set() if deduplicate else None
        self._written = 0

    @property
    def written(self) -> int:
        """How many warnings were written."""
        return self._written

    def __call__(self, warning: ServerWarning) -> None:
        if not _is_news(warning, self._said):
            return
        word = "\033[1;33mWarning:\033[0m" if self._color else "Warning:"
        print(word, visible(warning.text), file=self._file or sys.stderr)
        self._written += 1


def parse_warnings(headers: Iterable[str]) -> list[ServerWarning]:
    """The warnings in these header values; each value is read up to its first mistake.

    No more than 64 are read, and no more than 4096 characters of each text.
    """
    found: list[ServerWarning] = []
    for header in headers:
        found += _parse_header(header, _MOST_OF_ONE_RESPONSE - len(found))
    return found


class _Malformed(Exception):
    """Reading of this header value stops here."""


def _parse_header(header: str, most: int) -> list[ServerWarning]:
    found: list[ServerWarning] = []
    rest = header.strip()
    try:
        while rest and len(found) < most:
            warning, rest = _parse_one(rest)
            found.append(warning)
    except _Malformed as error:
        log.debug("Warning header %.80r: %s", header, error)
    return found


def _parse_one(text: str) -> tuple[ServerWarning, str]:
    """`299 agent "text" ["date"]`, and what follows behind the comma."""
    code, _, rest = text.partition(" ")
    if not (len(code) == 3 and code.isascii() and code.isdigit()):
        raise _Malformed("no code of three digits")
    agent, _, rest = rest.lstrip(" ").partition(" ")
    if not agent or '"' in agent:
        raise _Malformed("no agent")
    said, rest = _quoted(rest.lstrip(" "))
    if rest.startswith(" ") and rest.lstrip(" ").startswith('"'):
        _, rest = _quoted(rest.lstrip(" "))  # the date
    rest = rest.lstrip(" ")
    if rest and not rest.startswith(","):
        raise _Malformed("something other than a comma behind the text")
    text = _decoded(said)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}…"
    return ServerWarning(int(code), agent, text), rest[1:].lstrip(" ")


def _quoted(text: str) -> tuple[str, str]:
    """A text in quotes, without them and their escapes, and what follows."""
    if not text.startswith('"'):
        raise _Malformed("no text in quotes")
    said: list[str] = []
    at = 1
    while at < len(text):
        if text[at] == '"':
            return "".join(said), text[at + 1 :]
        if text[at] == "\\":
            at += 1
        said.append(text[at : at + 1])
        at += 1
    raise _Malformed("the quotes do not end")


def _decoded(said: str) -> str:
    """The text with RFC 2047 words read; bytes that are no text make the warning invalid."""
    try:
        text = said.encode("utf-8", "surrogateescape").decode("utf-8")
        if "=?" in text:
            text = "".join(_word(part, charset) for part, charset in decode_header(text))
    except (UnicodeError, LookupError, HeaderParseError) as error:
        raise _Malformed("the text is not UTF-8") from error
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise _Malformed("control characters in the text")
    return text


def _word(part: bytes | str, charset: str | None) -> str:
    return part if isinstance(part, str) else part.decode(charset or "ascii")


def _is_news(warning: ServerWarning, said: set[str] | None) -> bool:
    if warning.code != _MEANT_FOR_PEOPLE or not warning.text:
        return False
    if said is None:
        return True
    if warning.text in said or len(said) > _MOST_REMEMBERED:
        return False
    said.add(warning.text)
    if len(said) > _MOST_REMEMBERED:
        log.warning(
            "the server has sent more than %d different warnings: no more of them are shown",
            _MOST_REMEMBERED,
        )
        return False
    return True
