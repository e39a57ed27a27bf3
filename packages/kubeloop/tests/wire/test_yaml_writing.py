"""Writing YAML: for people to read, and for every reader to read the same."""

from __future__ import annotations

import enum
import math
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.wire.errors import InvalidArgument
from kubeloop.wire.text import visible
from kubeloop.wire.yaml import dump_document, dump_documents, load_document, load_documents


def test_an_object_is_written_as_kubernetes_writes_it() -> None:
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "web", "labels": {}, "finalizers": []},
        "spec": {
            "containers": [
                {"name": "web", "image": "nginx:1.27", "args": ["--v=2", "-x", "a b", "a: b"]},
                {"name": "log", "ports": [{"containerPort": 80}], "tty": True, "cpu": 0.5},
            ],
            "matrix": [[1, 2], [[3]], [{"a": None}]],
        },
    }

    assert dump_document(pod) == (
        "kind: Pod\n"
        "apiVersion: v1\n"
        "metadata:\n"
        "  name: web\n"
        "  labels: {}\n"
        "  finalizers: []\n"
        "spec:\n"
        "  containers:\n"
        "  - name: web\n"
        "    image: nginx:1.27\n"
        "    args:\n"
        "    - --v=2\n"
        "    - -x\n"
        "    - a b\n"
        '    - "a: b"\n'
        "  - name: log\n"
        "    ports:\n"
        "    - containerPort: 80\n"
        "    tty: true\n"
        "    cpu: 0.5\n"
        "  matrix:\n"
        "  - - 1\n"
        "    - 2\n"
        "  - - - 3\n"
        "  - - a: null\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "y",
        "N",
        "yes",
        "Off",
        "true",
        "NULL",
        "~",
        "null",
        "0o10",
        "0644",
        "0x1f",
        "0b1",
        "0b-1",
        "1e3",
        "1_000",
        "12",
        "-1.5",
        ".5",
        ".inf",
        ".NaN",
        "22:22",
        "190:20:30",
        "1:30.5",
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        "2024-01-01 10:00:00",
        "1.0e+400",
        "<<",
        "=",
        "08",
        "+_1",
    ],
)
def test_text_that_would_be_read_as_something_else_is_quoted(text: str) -> None:
    assert dump_document({text: text}) == f'"{text}": "{text}"\n'


@pytest.mark.parametrize(
    "text",
    [
        "web",
        "a b",
        "nginx:1.27",
        "10.0.0.1",
        "1.37.0",
        "10Gi",
        "100m",
        "--flag=1",
        "-v",
        "http://x/y?z#a",
        "app=web,tier in (a,b)",
        "system:node:x",
        "/bin/sh",
        "$(HOME)",
        "it's",
        'say "hi"',
        "C:\\dir",
        "ü 😀 漢字",
        "<none>",
        "a" * 5000,
        " ".join(["word"] * 500),
    ],
)
def test_text_that_can_stand_alone_is_left_alone(text: str) -> None:
    assert dump_document([text]) == f"- {text}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("a:", '"a:"'),
        (" a", '" a"'),
        ("a ", '"a "'),
        ("- a", '"- a"'),
        ("-", '"-"'),
        ("---", '"---"'),
        ("... x", '"... x"'),
        ("*", '"*"'),
        ("'a'", "\"'a'\""),
        ('{"a": "it\'s"}', "'{\"a\": \"it''s\"}'"),
        ("[\\d]", "'[\\d]'"),
        ("a\tb", '"a\\tb"'),
        ("\n", '"\\n"'),
        ("a\r\nb\n", '"a\\r\\nb\\n"'),
        ("\x00\x85\u2028\ufeff\uffff\\", '"\\x00\\x85\\u2028\\ufeff\\uffff\\\\"'),
    ],
)
def test_what_cannot_stand_alone_is_quoted_in_the_plainest_way(text: str, written: str) -> None:
    assert dump_document(text) == f"{written}\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\nb\n", "|\n  a\n  b\n"),
        ("a\n\n\n", "|+\n  a\n\n\n"),
        ("a\n\n  b 😀\n", "|\n  a\n\n    b 😀\n"),
        ("  a\nb\n", "|2\n    a\n  b\n"),
        ("\na\n", "|2\n\n  a\n"),
        ("\ta\n\tb\n", "|2\n  \ta\n  \tb\n"),
        ("a: 1\n# b\n---\n", "|\n  a: 1\n  # b\n  ---\n"),
    ],
)
def test_lines_are_written_as_a_block(text: str, written: str) -> None:
    assert dump_document(text) == written
    assert load_document(written) == text


def test_a_block_stands_deeper_than_what_holds_it() -> None:
    value = {"a": {"b": [" x\ny\n", [" x\ny\n"], {"c": " x\ny\n"}]}}

    written = dump_document(value)

    assert written == (
        "a:\n  b:\n  - |2\n     x\n    y\n  - - |2\n       x\n      y\n  - c: |2\n       x\n      y\n"
    )
    assert load_document(written) == value


def test_documents_are_parted_and_the_same_value_is_written_twice() -> None:
    shared = {"a": [1]}

    assert dump_documents(shared, [shared, shared], "x") == (
        "a:\n- 1\n---\n- a:\n  - 1\n- a:\n  - 1\n---\nx\n"
    )
    assert dump_documents() == ""


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1e16, "1.0e+16"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e-7, "1.0e-07"),
        (2**64 - 1, f"{2**64 - 1}"),
    ],
)
def test_numbers_stay_what_they_are_for_older_readers_too(value: float, written: str) -> None:
    assert dump_document(value) == f"{written}\n"
    assert repr(yaml.safe_load(written)) == repr(value)


class Phase(str, enum.Enum):  # noqa: UP042  # format() of this one is not its value
    RUNNING = "Running"


class Port(enum.IntEnum):
    HTTP = 80


def test_enums_are_written_as_their_values() -> None:
    assert dump_document({Phase.RUNNING: Phase.RUNNING, "port": Port.HTTP}) == (
        "Running: Running\nport: 80\n"
    )


# --- whatever is written is read back


ODD_TEXT = st.text(
    st.sampled_from(
        "ab01:-?#&*!|>'\"%@`,[]{}\\ \t\n\r.~=<_+exoyn\x07\x7f\x85\xa0\u2028\ufeff\ufffeé😀"
    ),
    max_size=12,
)
WORDS = st.sampled_from(
    ["true", "y", "0o10", "1e3", "22:22", "2024-01-01", "---", "<<", "\n\n", ""]
)
TEXT = st.text() | ODD_TEXT | WORDS
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)


@given(VALUES)
@example({"k" * 2000: {"a": 1}, "\n" * 600: [1], "é" * 1100: "a\nb\n"})
@example("a\n  \n")
def test_what_is_written_is_read_back_the_same(value: object) -> None:
    written = dump_document(value)

    assert repr(load_document(written)) == repr(value)


@given(VALUES)
@example({"k" * 2000: {"a": 1}, "\n" * 600: [1], "é" * 1100: "a\nb\n"})
def test_every_other_reader_reads_the_same(value: object) -> None:
    written = dump_document(value)

    assert repr(yaml.safe_load(written)) == repr(value)
    if yaml.__with_libyaml__:
        assert repr(yaml.load(written, Loader=yaml.CSafeLoader)) == repr(value)


@given(st.lists(VALUES, max_size=4))
def test_every_document_comes_back_in_its_place(values: list[object]) -> None:
    assert load_documents(dump_documents(*values)) == values


# --- what is refused


@pytest.mark.parametrize(
    ("value", "where", "found"),
    [
        ({"spec": {"items": [1, {2}]}}, "spec.items[1] in the document", "type set"),
        ({"a": (1, 2)}, "a in the document", "type tuple"),
        ({"data": {"x.y": b"hunter2"}}, 'data["x.y"] in the document', "type bytes"),
        ({"a": {1: "x"}}, "a in the document", "a key of type int"),
        ({"a": math.nan}, "a in the document", "not finite"),
        ([-math.inf], "[0] in the document", "not finite"),
        ({"a": 2**64}, "a in the document", "beyond 64 bits"),
        ({"a": "hunter2\ud800"}, "a in the document", "surrogate"),
        ({"hunter2\ud800": 1}, "the document", "surrogate"),
        (object(), "the document", "type object"),
    ],
)
def test_what_is_no_json_value_is_named_by_its_path(value: object, where: str, found: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        dump_document(value)

    assert str(caught.value).startswith(f"cannot write {where} as YAML: found ")
    assert found in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_of_several_documents_the_one_at_fault_is_named() -> None:
    with pytest.raises(InvalidArgument, match="cannot write a in document 2 as YAML"):
        dump_documents({}, {"a": {1}})


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)

    with pytest.raises(InvalidArgument, match="nested more than 200 deep"):
        dump_document(value)


def test_what_may_be_written_as_deep_may_be_read_as_deep() -> None:
    value: list[object] = []
    for _ in range(199):
        value = [value]

    assert load_document(dump_document(value)) == value
    with pytest.raises(InvalidArgument, match="nested more than 200 deep"):
        dump_document([value])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\u202eb", '"a\\u202eb"'),
        ("a\x9bb\x85", '"a\\x9bb\\x85"'),
        ("ad\u200bmin", '"ad\\u200bmin"'),
        ("\U000e0041", '"\\U000e0041"'),
        ("two\nlines\u2066", '"two\\nlines\\u2066"'),
        ("❤️\u200d🔥", "❤️\u200d🔥"),
        ("two\n\tlines 👍", "|-\n  two\n  \tlines 👍"),
    ],
)
def test_hidden_characters_are_escaped_and_read_back(text: str, written: str) -> None:
    assert dump_document(text) == f"{written}\n"
    assert load_document(dump_document(text)) == text
    assert yaml.safe_load(dump_document({text: [text]})) == {text: [text]}


@given(st.text(st.sampled_from('a \n\t:\u202e\u200b\u200d\U000e0041あ\x9b"\\')))
def test_no_text_is_hidden_in_a_document(text: str) -> None:
    written = dump_document({text: {"k": text}})

    assert load_document(written) == {text: {"k": text}}
    assert all(
        visible(line.replace("\t", "")) == line.replace("\t", "") for line in written.split("\n")
    )
