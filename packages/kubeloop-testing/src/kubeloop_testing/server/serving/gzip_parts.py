"""Compresses a body in parts, and reuses the parts that were compressed before.

Most of the CPU of a large list is spent in compressing objects that have not changed since the
last one. Each part is a run of complete deflate blocks that refers to no other part, so that runs
of different responses can be put together; only the checksum is of the whole body.

Guarantees: the result is one gzip member (RFC 1952), at the level of kube-apiserver; the cache
is bounded.
See also: `streaming` (sending lists).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, NamedTuple, final

from ..representations.representation import ListPart

__all__ = ["GzipParts", "combine_checksums"]

_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"  # deflate, fastest, no time
_LAST_BLOCK: Final = b"\x03\x00"
_MAX_PARTS: Final = 512
_MAX_SIZE: Final = 128 * 1024  # bytes of a compressed part that is kept


class _Run(NamedTuple):
    """A part as deflate blocks, and what the checksum of the whole needs of it."""

    data: bytes
    checksum: int
    length: int
    shift: int  # `_shift(length)`


@final
class GzipParts:
    """Compresses lists, with the compressed parts of the latest ones."""

    def __init__(self) -> None:
        self._runs: dict[Hashable, _Run] = {}

    def compress(self, parts: Iterable[ListPart]) -> Iterator[bytes]:
        """The parts as one gzip stream, each as soon as it is compressed."""
        checksum, length = 0, 0
        yield _HEADER
        for part in parts:
            run = self._run(part)
            checksum = _multiply(run.shift, checksum) ^ run.checksum
            length += run.length
            yield run.data
        yield _LAST_BLOCK + struct.pack("<II", checksum, length & 0xFFFFFFFF)

    def _run(self, part: ListPart) -> _Run:
        found = self._runs.get(part.key) if part.key is not None else None
        if found is not None:
            return found
        data = part.encode()
        compressor = zlib.compressobj(level=1, wbits=-zlib.MAX_WBITS)
        blocks = compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)
        run = _Run(blocks, zlib.crc32(data), len(data), _shift(len(data)))
        if part.key is not None and len(blocks) <= _MAX_SIZE:
            self._runs[part.key] = run
            while len(self._runs) > _MAX_PARTS:  # the oldest goes first
                del self._runs[next(iter(self._runs))]
        return run


# --- the checksum of two pieces of data from their own checksums, which Python's zlib lacks

_POLYNOMIAL: Final = 0xEDB88320  # of CRC-32, reflected: the highest bit is x^0
_ONE: Final = 1 << 31


def combine_checksums(first: int, second: int, length: int) -> int:
    """The CRC-32 of two pieces of data; `length` is that of the second one."""
    return _multiply(_shift(length), first) ^ second


def _multiply(one: int, two: int) -> int:
    """The product of two polynomials over GF(2), modulo CRC-32's."""
    product, bit = 0, _ONE
    while one:
        if one & bit:
            product ^= two
            one ^= bit
        bit >>= 1
        two = (two >> 1) ^ _POLYNOMIAL if two & 1 else two >> 1
    return product


def _powers() -> list[int]:
    """x^(2^n) for each n."""
    found = [_ONE >> 1]
    while len(found) < 64:
        found.append(_multiply(found[-1], found[-1]))
    return found


_POWERS: Final = _powers()


def _shift(length: int) -> int:
    """x^(8 * length): what `length` bytes that follow multiply a checksum with."""
    product, exponent = _ONE, 8 * length
    for power in _POWERS:
        if not exponent:
            break
        if exponent & 1:
            product = _multiply(power, product)
        exponent >>= 1
    return product
