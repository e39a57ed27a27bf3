"""Headers of tar archives that `tarfile` would not write."""

from __future__ import annotations

__all__ = ["BLOCK", "FIELDS", "raw_header", "with_checksum"]

FIELDS = {
    "name": (0, 100),
    "mode": (100, 108),
    "size": (124, 136),
    "mtime": (136, 148),
    "type": (156, 157),
    "link": (157, 257),
    "magic": (257, 265),
    "prefix": (345, 500),
}
BLOCK = 512


def raw_header(name: str = "site", kind: bytes = b"0", **fields: bytes) -> bytes:
    """A ustar header with fields that `tarfile` would not write, and the right checksum."""
    block = bytearray(BLOCK)
    values = {"name": name.encode(), "mode": b"0000644", "type": kind, "magic": b"ustar\x0000"}
    for field, value in (values | {"size": b"0", "mtime": b"0"} | fields).items():
        start, end = FIELDS[field]
        block[start:end] = value[: end - start].ljust(end - start, b"\0")
    return with_checksum(bytes(block))


def with_checksum(block: bytes) -> bytes:
    total = sum(block[:148]) + 8 * 32 + sum(block[156:])
    return block[:148] + f"{total:06o}\0 ".encode() + block[156:]
