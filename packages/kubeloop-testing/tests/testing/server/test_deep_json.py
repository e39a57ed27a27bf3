"""JSON of any depth that Go accepts is decoded without recursion."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import msgspec
import pytest

from kubeloop_testing.server.values.deep_json import MAX_DEPTH, WALKED, TooDeep, decode, is_deep


def _nested(depth: int, randomness: random.Random) -> Any:
    """A document of this depth with small values beside the deep one."""
    value: Any = randomness.choice([1, "a", '{["\\', None, True, 1.5])
    for _ in range(depth):
        beside = randomness.choice([[], {}, [1], {"k}": "]"}])
        value = [beside, value] if randomness.random() < 0.5 else {"b": beside, 'd"': value}
    return value


@pytest.mark.parametrize("depth", [1, WALKED - 1, WALKED, WALKED + 1, 3 * WALKED])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_encodes_to_what_was_decoded(depth: int, indent: int | None) -> None:
    randomness = random.Random(depth)
    for _ in range(20):
        document = _nested(depth, randomness)
        text = json.dumps(document, indent=indent).encode()

        decoded = decode(text)

        assert json.loads(msgspec.json.encode(decoded)) == document


def test_what_is_below_the_walked_levels_is_one_value() -> None:
    value = decode(b"[" * (WALKED + 5) + b"]" * (WALKED + 5))

    for _ in range(WALKED):
        assert isinstance(value, list)
        value = value[0]
    assert value == msgspec.Raw(b"[[[[[]]]]]")


def test_the_deepest_document_of_go_is_decoded() -> None:
    text = b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH

    assert msgspec.json.encode(decode(text)) == text


def test_a_document_that_is_too_deep_is_an_error() -> None:
    depth = MAX_DEPTH + 1

    with pytest.raises(TooDeep, match=r"invalid character '\[' exceeded max depth"):
        decode(b"[" * depth + b"]" * depth)


def test_brackets_in_strings_are_no_levels() -> None:
    assert not is_deep(b'["' + b"[{" * 200 + b'\\"' + b"[" * 200 + b'"]')


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 5000,
        b"]" * 500 + b"[" * 500,
        b"[" * 300 + b"1,]" + b"]" * 300,
        b"[" * 300 + b"x" + b"]" * 300,
        b"[" * 150 + b"}" * 150,
        b'{"a":' * 500 + b"1" + b"}" * 499,
        b'{"a":' * 500 + b"1" + b"}" * 501,
        b"[" * 300 + b'"abc' + b"]" * 300,
    ],
)
def test_a_deep_document_that_is_not_json_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(text)


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_a_string_that_does_not_end_takes_linear_time(end: bytes) -> None:
    started = time.process_time()

    with pytest.raises(ValueError, match=r".+"):
        decode(b"[" * 200 + b'"' + b'\\"' * 500_000 + end)

    assert time.process_time() - started < 2
