"""Reads the one fact of a certificate that `ssl` does not tell: when it ends.

Promises: pure; a certificate that cannot be taken apart gives None, never an error,
because whether it is any good is for the TLS library to say.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime

__all__ = ["not_after"]

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_VERSION, _UTC_TIME = 0xA0, 0x17


def not_after(pem: bytes) -> datetime | None:
    """When the first certificate in `pem` ends."""
    found = _PEM.search(pem)
    if found is None:
        return None
    try:
        return _end_of(base64.b64decode(found.group(1)))
    except (binascii.Error, IndexError, ValueError):
        return None


def _end_of(der: bytes) -> datetime:
    # Certificate, then its body: [version] serial algorithm issuer validity(begin, end) ...
    body = _value(_value(der, 0)[1], 0)[1]
    position = _value(body, 0)[2] if body[0] == _VERSION else 0
    for _ in range(3):
        position = _value(body, position)[2]
    validity = _value(body, position)[1]
    tag, text, _ = _value(validity, _value(validity, 0)[2])
    return _moment(tag, text.decode("ascii"))


def _value(der: bytes, start: int) -> tuple[int, bytes, int]:
    """The tag and content of the value at `start`, and where the next one begins."""
    tag, length, begin = der[start], der[start + 1], start + 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(der[begin : begin + size], "big")
        begin += size
    end = begin + length
    if end > len(der):
        raise ValueError("a value longer than what is there")
    return tag, der[begin:end], end


def _moment(tag: int, text: str) -> datetime:
    if tag == _UTC_TIME:
        # Two digits of a year: below 50 they mean this century.
        text = ("20" if int(text[:2]) < 50 else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
