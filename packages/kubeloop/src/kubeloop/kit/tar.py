"""Reads tar archives of others, without I/O: ustar, pax and GNU headers.

Python's `tarfile` reads from files, guesses where a header is wrong, and has followed a negative
size backwards (CVE-2025-8194). Both sides of kubeloop use this module: copies from containers,
and `tar` in the containers of the embedded server.

Guarantees: each byte is processed once, however the archive is split; memory is bounded by
`_MAX_HEADER`; whatever the bytes are, the only error is `TarError`. Sizes are not negative, times
are finite and fit a `datetime`, names are neither empty nor longer than a path can be and have no
NUL. Where a name leads is for the caller to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias, final

import msgspec

__all__ = ["BLOCK", "TarError", "TarMember", "TarReader"]

BLOCK: Final = 512
_MAX_HEADER: Final = 1 << 20  # bytes of a pax header or a long name
_MAX_NAME: Final = 4096  # PATH_MAX of Linux
_MAX_SIZE: Final = (1 << 63) - 1
_MAX_TIME: Final = 253_402_300_799.0  # the last second of the year 9999
_POSIX: Final = b"ustar\0"
_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX = b"L", b"K", b"x", b"g"
_USED: Final = frozenset((b"path", b"linkpath", b"size", b"mtime"))  # of the keys in pax headers
_LENGTH: Final = re.compile(rb"(\d{1,7}) ")
_PAX_TIME: Final = re.compile(r"-?\d{1,30}(\.\d*)?", re.ASCII)

TarKind: TypeAlias = Literal["file", "folder", "symlink", "link", "other"]
_KINDS: Final[dict[bytes, TarKind]] = {
    b"\0": "file",
    b"0": "file",
    b"7": "file",
    b"1": "link",
    b"2": "symlink",
    b"5": "folder",
}


class TarError(Exception):
    """The bytes are not a tar archive, or one that is not supported."""


class TarMember(msgspec.Struct, frozen=True):
    """One entry of an archive; `size` bytes of content follow, only for a file."""

    name: str  # bytes that are not UTF-8 as with `surrogateescape`
    kind: TarKind
    size: int
    mode: int
    mtime: float  # seconds since 1970
    target: str  # of a link


@final
class TarReader:
    """Splits the bytes of an archive into members and their content."""

    def __init__(self) -> None:
        self.is_complete = False  # the end of the archive was received; what follows is dropped
        self._unread = b""  # less than a block
        self._left = 0  # bytes of the current content
        self._padding = 0  # bytes after it
        self._extended: tuple[bytes, bytearray] | None = None  # the content of such a header
        self._overrides: dict[str, str] = {}  # what extended headers say about the next member

    def feed(self, data: bytes) -> Iterator[TarMember | memoryview]:
        """The members and the pieces of their content that the data has; iterate to the end.

        Raises: TarError.
        """
        view = memoryview(self._unread + data)
        self._unread = b""
        while view and not self.is_complete:
            if self._left:
                piece, view = view[: self._left], view[self._left :]
                self._left -= len(piece)
                if self._extended is None:
                    yield piece
                else:
                    self._extend(piece)
            elif self._padding:
                used = min(self._padding, len(view))
                self._padding -= used
                view = view[used:]
            elif len(view) < BLOCK:
                self._unread = bytes(view)
                return
            else:
                member = self._read_header(bytes(view[:BLOCK]))
                view = view[BLOCK:]
                if member is not None:
                    yield member

    def _read_header(self, block: bytes) -> TarMember | None:
        """A member; None for the end of the archive and for an extended header."""
        if not any(block):
            self.is_complete = True
            return None
        _check_sum(block)
        kind, size = block[156:157], _number(block[124:136], "size")
        if kind in {_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX}:
            if not 0 < size <= _MAX_HEADER:
                raise TarError(f"an extended header has {size} bytes")
            self._extended = (kind, bytearray())
            self._expect(size)
            return None
        overrides, self._overrides = self._overrides, {}
        member = _member(block, size, overrides)
        self._expect(member.size)
        return member

    def _expect(self, size: int) -> None:
        self._left, self._padding = size, -size % BLOCK

    def _extend(self, piece: memoryview) -> None:
        assert self._extended is not None
        kind, content = self._extended
        content += piece
        if self._left:
            return
        self._extended = None
        if kind == _PAX:
            self._overrides |= _pax_records(bytes(content))
        elif kind != _GLOBAL_PAX:  # which has comments
            key = "path" if kind == _LONG_NAME else "linkpath"
            self._overrides[key] = _text(bytes(content))


def _member(block: bytes, size: int, overrides: dict[str, str]) -> TarMember:
    name = _text(block[:100])
    prefix = _text(block[345:500]) if block[257:263] == _POSIX else ""
    name = overrides.get("path", f"{prefix}/{name}" if prefix else name)
    target = overrides.get("linkpath", _text(block[157:257]))
    kind = _KINDS.get(block[156:157], "other")
    if block[156:157] == b"\0" and name.endswith("/"):
        kind = "folder"  # before ustar, folders had no type
    for text in (name, target):
        if len(text) > _MAX_NAME or "\0" in text:
            raise TarError(f"the path {text[:80]!r} is too long, or has a NUL")
    if not name:
        raise TarError("a member has no name")
    if "size" in overrides:
        size = _decimal(overrides["size"])
    if not 0 <= size <= _MAX_SIZE:
        raise TarError(f"{name!r}: its size is {size}")
    if "mtime" in overrides:
        mtime = _time(overrides["mtime"])
    else:
        mtime = float(_number(block[136:148], "time"))
    return TarMember(
        name=name,
        kind=kind,
        # All others have no content, whatever their headers say.
        size=size if kind == "file" else 0,
        mode=_number(block[100:108], "mode") & 0o7777,
        mtime=max(-_MAX_TIME, min(mtime, _MAX_TIME)),
        target=target,
    )


def _check_sum(block: bytes) -> None:
    counted = block[:148] + b" " * 8 + block[156:]  # as if the field had spaces
    missing = sum(counted) - _number(block[148:156], "checksum")
    # Some programs have added signed bytes.
    if missing and missing != 256 * sum(byte > 127 for byte in counted):
        raise TarError("a header has a wrong checksum")


def _number(field: bytes, what: str) -> int:
    """Octal digits, or a number of base 256 if the first bit is set."""
    if field[0] & 0x80:
        # The sign is the second bit, and the first one is no part of the number.
        size = 8 * len(field) - 1
        value = int.from_bytes(field, "big") & ((1 << size) - 1)
        return value - (1 << size) if value >> (size - 1) else value
    digits = field.partition(b"\0")[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise TarError(f"a header has the {what} {field!r}")
    return int(digits or b"0", 8)


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise TarError(f"a pax header has the size {text[:40]!r}")
    return int(text)


def _time(text: str) -> float:
    if not _PAX_TIME.fullmatch(text):
        raise TarError(f"a pax header has the time {text[:40]!r}")
    return float(text)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _pax_records(content: bytes) -> dict[str, str]:
    """`<length> <key>=<value>` lines; the length counts the whole line."""
    records: dict[str, str] = {}
    at = 0
    while at < len(content):
        length = _LENGTH.match(content, at)
        end = at + int(length[1]) if length else 0
        if length is None or not length.end() < end <= len(content) or content[end - 1] != 10:
            raise TarError("a pax header has a record that cannot be read")
        key, equals, value = content[length.end() : end - 1].partition(b"=")
        if not equals:
            raise TarError("a pax header has a record without a value")
        if key.startswith(b"GNU.sparse"):
            raise TarError("a sparse file is not supported")
        if key in _USED:  # and no others, which would use memory
            records[key.decode()] = value.decode("utf-8", "surrogateescape")
        at = end
    return records
