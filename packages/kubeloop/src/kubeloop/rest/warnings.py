"""`Warning` headers of the server, and their handlers.

Guarantees: parsing is pure; a malformed header is skipped, never an error; the default handler
logs each text once.
See also: `client` (calls the handler).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
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

# The code of warnings for people; the others are about HTTP caches and transformations.
_PERSISTENT_WARNING = 299
# A server with ever new texts must not fill the memory.
_MAX_REMEMBERED = 1000
# kube-apiserver sends at most 4 KiB of warnings with a response.
_MAX_PER_RESPONSE = 64
_MAX_TEXT = 4096


class ServerWarning(msgspec.Struct, frozen=True):
    """One warning of the server."""

    code: int
    agent: str
    text: str


WarningHandler = Callable[[ServerWarning], None]
"""Called with each warning of the server."""


def ignore_warnings(warning: ServerWarning) -> None:
    """A handler that drops all warnings."""


@final
class WarningLog:
    """Logs each text once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, warning: ServerWarning) -> None:
        if _should_report(warning, self._seen):
            log.warning("warning of the server: %s", warning.text)


@final
class WarningWriter:
    """Writes warnings to a file, by default stderr, as kubectl does."""

    def __init__(
        self, file: TextIO | None = None, *, color: bool = False, deduplicate: bool = False
    ) -> None:
        self._file = file
        self._color = color
        self._seen: set[str] | None = set() if deduplicate else None
        self._written = 0

    @property
    def written(self) -> int:
        """How many warnings were written."""
        return self._written

    def __call__(self, warning: ServerWarning) -> None:
        if not _should_report(warning, self._seen):
            return
        word = "\033[1;33mWarning:\033[0m" if self._color else "Warning:"
        print(word, visible(warning.text), file=self._file or sys.stderr)
        self._written += 1


def parse_warnings(headers: Iterable[str]) -> list[ServerWarning]:
    """The warnings in these header values; each value is parsed up to its first error.

    At most 64 are returned, with at most 4096 characters of each text.
    """
    found: list[ServerWarning] = []
    for header in headers:
        found += _parse_header(header, _MAX_PER_RESPONSE - len(found))
    return found


class _Malformed(Exception):
    """Parsing of this header value stops here."""


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
    """`299 agent "text" ["date"]`, and the rest after the comma."""
    code, _, rest = text.partition(" ")
    if not (len(code) == 3 and code.isascii() and code.isdigit()):
        raise _Malformed("no code of three digits")
    agent, _, rest = rest.lstrip(" ").partition(" ")
    if not agent or '"' in agent:
        raise _Malformed("no agent")
    raw, rest = _parse_quoted(rest.lstrip(" "))
    if rest.startswith(" ") and rest.lstrip(" ").startswith('"'):
        _, rest = _parse_quoted(rest.lstrip(" "))  # the date
    rest = rest.lstrip(" ")
    if rest and not rest.startswith(","):
        raise _Malformed("no comma after the text")
    text = _decode_text(raw)
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}…"
    return ServerWarning(int(code), agent, text), rest[1:].lstrip(" ")


def _parse_quoted(text: str) -> tuple[str, str]:
    """The text in quotes, without quotes and escapes, and the rest."""
    if not text.startswith('"'):
        raise _Malformed("no text in quotes")
    characters: list[str] = []
    at = 1
    while at < len(text):
        if text[at] == '"':
            return "".join(characters), text[at + 1 :]
        if text[at] == "\\":
            at += 1
        characters.append(text[at : at + 1])
        at += 1
    raise _Malformed("the quotes do not end")


def _decode_text(raw: str) -> str:
    """The text with RFC 2047 words decoded; other bytes than text make the warning malformed."""
    # Slow to import, and few servers warn.
    from email.errors import HeaderParseError
    from email.header import decode_header

    try:
        text = raw.encode("utf-8", "surrogateescape").decode("utf-8")
        if "=?" in text:
            text = "".join(_word(part, charset) for part, charset in decode_header(text))
    except (UnicodeError, LookupError, HeaderParseError) as error:
        raise _Malformed("the text is not UTF-8") from error
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise _Malformed("control characters in the text")
    return text


def _word(part: bytes | str, charset: str | None) -> str:
    return part if isinstance(part, str) else part.decode(charset or "ascii")


def _should_report(warning: ServerWarning, seen: set[str] | None) -> bool:
    if warning.code != _PERSISTENT_WARNING or not warning.text:
        return False
    if seen is None:
        return True
    if warning.text in seen or len(seen) > _MAX_REMEMBERED:
        return False
    seen.add(warning.text)
    if len(seen) > _MAX_REMEMBERED:
        log.warning(
            "the server sent more than %d different warnings: the rest is not logged",
            _MAX_REMEMBERED,
        )
        return False
    return True
