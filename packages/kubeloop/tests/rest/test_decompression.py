"""Compressed bodies, decompressed while they are received."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.rest.decompression import PIECE, GzipDecompressor


def unpacked(*pieces: bytes) -> list[bytes]:
    """All that comes out."""
    decompressor, found = GzipDecompressor(), []
    for piece in pieces:
        found.append(decompressor.feed(piece))
        while decompressor.has_more:
            found.append(decompressor.feed(b""))
    return found


@given(bodies=st.lists(st.binary(max_size=300), min_size=1, max_size=3), data=st.data())
def test_what_was_compressed_comes_out_however_it_was_chunked(
    bodies: list[bytes], data: st.DataObject
) -> None:
    packed = b"".join(map(gzip.compress, bodies))
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, len(packed))] * 2)))

    found = unpacked(packed[:first], packed[first:second], packed[second:])

    assert b"".join(found) == b"".join(bodies)


def test_what_comes_out_at_once_is_bounded_however_well_it_was_compressed() -> None:
    content = b"pods" * PIECE

    found = unpacked(gzip.compress(content))

    assert b"".join(found) == content
    assert max(map(len, found)) == PIECE


def test_what_was_flushed_comes_out_before_the_end_has_come() -> None:
    """As the events of a watch do."""
    packing = zlib.compressobj(wbits=31)
    events = [packing.compress(text) + packing.flush(zlib.Z_SYNC_FLUSH) for text in (b"a", b"b")]

    assert unpacked(*events) == [b"a", b"b"]


def test_what_is_not_gzip_is_an_error() -> None:
    with pytest.raises(zlib.error):
        GzipDecompressor().feed(b"{}")
