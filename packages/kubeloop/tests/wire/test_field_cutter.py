"""Fields are cut out of JSON text, and nothing else changes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.wire import DecodeError, InvalidArgument
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.field_cutter import FieldCutter
from kubeloop.wire.projection import parse_path

LAST_APPLIED = "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"
MANAGED = FieldCutter("metadata.managedFields", of=Pod)
POD = (
    b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","managedFields":[{"manager":"k",'
    b'"fieldsV1":{"f:spec":{"k:{\\"name\\":\\"app\\"}":{}}}}]},"spec":{"nodeName":"n<"}}'
)


def test_a_field_is_cut_and_all_other_bytes_stay() -> None:
    expected = (
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"nodeName":"n<"}}'
    )

    assert MANAGED.cut(POD) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"metadata":{"managedFields":[1],"name":"a"}}', b'{"metadata":{"name":"a"}}'),
        (b'{"metadata":{"managedFields":[1]}}', b'{"metadata":{}}'),
        (b'{"metadata":{"managedFields":null}}', b'{"metadata":{}}'),
        (b'{"metadata":{"a":1,"managedFields":2,"b":3}}', b'{"metadata":{"a":1,"b":3}}'),
    ],
)
def test_the_comma_of_a_field_is_cut_with_it(text: bytes, expected: bytes) -> None:
    assert MANAGED.cut(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'{"metadata":{"name":"a"}}',
        b'{"metadata":null}',
        b'{"metadata":"managedFields"}',
        b'{"metadata":[{"managedFields":[1]}]}',
        b'{"managedFields":[1]}',
        b'{"spec":{"template":{"metadata":{"managedFields":[1]}}}}',
        b'{"metadata":{"name":"\\"managedFields\\":[1]"}}',
        b'[{"metadata":{"managedFields":[1]}}]',
        b'"managedFields"',
        b" {} ",
    ],
)
def test_text_without_the_field_stays_as_it_is(text: bytes) -> None:
    assert MANAGED.cut(text) is text


def test_the_same_key_and_value_elsewhere_stay() -> None:
    template = b'"spec":{"metadata":{"managedFields":[]},"x":["managedFields"]}'
    text = b"{" + template + b',"metadata":{"name":"a", "managedFields":[]}}'

    assert MANAGED.cut(text) == b"{" + template + b',"metadata":{"name":"a"}}'


@pytest.mark.parametrize(
    "text",
    [
        b'{"metadata":{"managedFields":[1],"managedFields":[2],"a":1}}',
        b'{"metadata":{"managedFields":[1],"a":1,"managedFields":[1]}}',
        b'{"metadata":{"managed\\u0046ields":[1],"a":1,"managedFields":[1]}}',
        b'{"metadata":{"managed\\u0046ields":[1],"a":1}}',
        b'{"metadata":{"managedFields" : [1] , "a":1}}',
        b'\n{ "metadata" :\t{ "managedFields":1\r,"a" :1 } } ',
        b'{"metadata":{"managedFields":[9]},"metadata":{"managedFields":[1],"a":1}}',
    ],
)
def test_duplicates_escapes_and_spaces_do_not_hide_a_field(text: bytes) -> None:
    assert json.loads(MANAGED.cut(text)) == {"metadata": {"a": 1}}


def test_several_fields_are_cut_at_once() -> None:
    cutter = FieldCutter("metadata.managedFields", LAST_APPLIED, "status", of=Pod)
    text = json.dumps(
        {
            "metadata": {
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": '{"status":"<a/>"}\n',
                    "a": "b",
                },
                "managedFields": [{"time": "now"}],
            },
            "spec": {"status": {"conditions": []}},
            "status": {"conditions": [{"status": "True"}]},
        },
        separators=(",", ":"),
    ).encode()

    assert json.loads(cutter.cut(text)) == {
        "metadata": {"annotations": {"a": "b"}},
        "spec": {"status": {"conditions": []}},
    }


def test_a_path_inside_another_one_is_cut_with_it() -> None:
    cutter = FieldCutter("status.conditions", "status", "status")

    assert cutter.paths == ("status",)
    assert cutter.cut(b'{"status":{"conditions":[]},"a":1}') == b'{"a":1}'


@pytest.mark.parametrize("path", ["metadata.mangedFields", "spec.containers.image", "", ".a"])
def test_a_path_that_does_not_exist_is_rejected(path: str) -> None:
    with pytest.raises(InvalidArgument):
        FieldCutter(path, of=Pod)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"metadata":{"managedFields":[1}}',
        b'{"metadata":{"managedFields":[1]}} x',
        b'{"metadata":' + b"[" * 100_000,
        b'{"metadata":{"managedFields":[1]},"a":' + b"[" * 100_000,
    ],
)
def test_text_that_is_not_json_is_an_error(text: bytes) -> None:
    with pytest.raises(DecodeError):
        MANAGED.cut(text)


def test_large_numbers_and_long_texts_keep_their_spelling() -> None:
    text = b'{"metadata": {"managedFields": 1}, "a": [1E400, 0.10, 123456789012345678901234567890]}'

    assert (
        MANAGED.cut(text) == b'{"metadata": {}, "a": [1E400, 0.10, 123456789012345678901234567890]}'
    )


# --- properties

PATHS = ("a", "b.a", "b['x/y']", "b.b['é']", "c", "a.b")
KEYS = st.sampled_from(["a", "b", "c", "x/y", "é", 'q"a', ",", ""])


class Pairs(list[tuple[str, Any]]):
    """An object, possibly with duplicate keys."""


def pairs(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Pairs]:
    return st.lists(st.tuples(KEYS, inner), max_size=4).map(Pairs)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | KEYS | st.just('"a":1,<\\u0061>\n'),
    lambda inner: st.lists(inner, max_size=3) | pairs(inner),
    max_leaves=12,
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """JSON with any spacing, duplicates and escapes."""
    has_spaces = draw(st.booleans())
    has_escapes = draw(st.booleans())

    def space() -> str:
        return draw(st.sampled_from(["", "", " ", "\n\t"])) if has_spaces else ""

    def string(text: str) -> str:
        written = json.dumps(text, ensure_ascii=draw(st.booleans()))
        if has_escapes and draw(st.booleans()):
            written = written.replace("/", "\\/")
            written = re.sub("(?<!\\\\)[abc]", lambda m: f"\\u{ord(m[0]):04X}", written)
        return written

    def write(value: Any) -> str:
        if isinstance(value, Pairs):
            inner = [f"{space()}{string(k)}{space()}:{space()}{write(v)}" for k, v in value]
            return "{" + f"{space()},".join(inner) + space() + "}"
        if isinstance(value, list):
            return "[" + f"{space()},".join(map(write, value)) + space() + "]"
        return string(value) if isinstance(value, str) else json.dumps(value)

    return (space() + write(draw(pairs(VALUES))) + space()).encode()


def without(data: Any, path: str) -> Any:
    *parents, last = parse_path(path)
    inner = data
    for step in parents:
        inner = inner.get(step) if isinstance(inner, dict) else None
    if isinstance(inner, dict):
        inner.pop(last, None)
    return data


@given(texts(), st.sets(st.sampled_from(PATHS), min_size=1))
@example(b'{"a":{"b":1},"b":{"a":{"b":1}}}', {"a.b"})
@example(b'{"b":{"a":1,"a":2},"b":{"a":1}}', {"b.a"})
def test_the_result_decodes_to_the_object_without_the_fields(text: bytes, paths: set[str]) -> None:
    expected = json.loads(text)
    for path in paths:
        expected = without(expected, path)

    cut = FieldCutter(*sorted(paths)).cut(text)

    assert json.loads(cut) == expected


@given(
    st.binary(max_size=60)
    | texts().flatmap(lambda text: st.integers(0, 60).map(lambda n: text[:n]))
)
def test_any_bytes_are_cut_or_an_error(text: bytes) -> None:
    try:
        cut = FieldCutter("a", "b.a").cut(text)
    except DecodeError:
        return
    assert isinstance(json.loads(text.decode(errors="replace")), dict) or cut is text
