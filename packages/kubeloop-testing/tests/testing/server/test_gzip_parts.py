"""Compressed parts of lists."""

from __future__ import annotations

import functools
import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.representations.representation import ListPart
from kubeloop_testing.server.serving.gzip_parts import GzipParts, combine_checksums


@given(st.binary(), st.binary())
def test_checksums_are_combined_as_if_the_data_were_one(one: bytes, two: bytes) -> None:
    combined = combine_checksums(zlib.crc32(one), zlib.crc32(two), len(two))

    assert combined == zlib.crc32(one + two)


@given(st.lists(st.binary(), max_size=5))
def test_the_parts_are_one_gzip_stream(parts: list[bytes]) -> None:
    compressor = GzipParts()

    for _ in range(2):  # the second time from the cache
        found = compressor.compress(
            ListPart(part, functools.partial(bytes, part)) for part in parts
        )
        whole = b"".join(found)
        assert gzip.decompress(whole) == b"".join(parts)
        # One member: clients need not read several.
        decompressor = zlib.decompressobj(wbits=31)
        decompressor.decompress(whole)
        assert decompressor.eof
        assert not decompressor.unused_data


def test_a_part_is_compressed_once() -> None:
    calls: list[str] = []

    def encode() -> bytes:
        calls.append("encode")
        return b"x" * 1000

    compressor = GzipParts()
    parts = [ListPart("a", encode), ListPart("a", encode), ListPart(None, encode)]
    one, two = b"".join(compressor.compress(parts)), b"".join(compressor.compress(parts))

    assert one == two
    assert gzip.decompress(one) == b"x" * 3000
    assert len(calls) == 3
