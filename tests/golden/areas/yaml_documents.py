"""YAML: the documents of a text, and the values of scalars."""

from __future__ import annotations

from collections.abc import Iterator

from kubeloop.wire.yaml import load_documents
from tests.golden.case import Area, Case

_YAML = [
    *(
        "",
        "---",
        "a: 1",
        "a: 1\n---\nb: 2",
        "---\na: 1\n---\n---\nb: 2\n",
        "a: 1\n...\n",
        "# comment",
    ),
    *(
        "a: yes",
        "a: 'yes'",
        "a: on",
        "a: y",
        "a: ~",
        "a: null",
        "a:",
        "a: 010",
        "a: 0o10",
        "a: 0x10",
    ),
    *(
        "a: 1e3",
        "a: 1.0",
        "a: .5",
        "a: 1_000",
        "a: 2024-01-02",
        "a: 2024-01-02T03:04:05Z",
        "a: 12:30:45",
    ),
    *(
        "a: |\n  b\n  c\n",
        "a: >\n  b\n  c\n",
        "a: &x 1\nb: *x\n",
        "a: &x {c: 1}\nb: {<<: *x, d: 2}",
        "a: &x {c: 1}\nb: {c: 2, <<: *x}",
        "a: &x {c: 1}\nb: {<<: *x, c: 2}",
        "[1, 2]",
    ),
    *(
        "- a\n- b",
        "text",
        "1",
        "{}",
        '{"a": 1}',
        '{"a": 1, }',
        "{a: 1}",
        "a: 1\na: 2",
        "a: [",
        "\ta: 1",
    ),
    *(
        "a: {b: 1, b: 2}",
        "1: a",
        "true: a",
        "null: a",
        "1.5: a",
        "[1]: a",
        "a: !!str 1",
        "a: !custom 1",
    ),
    *(
        'a: "\\u00e9"',
        "a: é",
        "a: .inf",
        "a: .nan",
        "a: -.inf",
        "%YAML 1.1\n---\na: 1",
        "a: 1 # c",
        "a: b: c",
    ),
    *(
        "a: 'it''s'",
        "a: !!binary aGk=",
        "? a\n: b",
        "a: 9223372036854775808",
        "a: 0.1",
        "a: -0",
        "a: +1",
        "a: 1.",
    ),
    *(
        "---\n---",
        "a: 1\n--- \nb: 2",
        "a: 1\n---b: 2",
        "a: 0b11",
        "a: No",
        "a: OFF",
        "a: N",
        "a: NULL",
        "a: TRUE",
    ),
]


_JSON_STREAMS = [
    *('{"a": 1}{"b": 2}', '{"a": 1}\n{"b": 2}\n', ' {"a": 1} {"b": 2} ', '{"a": 1}\n---\n{"b": 2}'),
    *('{"a": 1},{"b": 2}', '{"a": 1}x', '{"a": 1}\n---\nb: 2'),
]


def _cases() -> Iterator[Case]:
    for text in [*_YAML, *_JSON_STREAMS]:
        yield Case("yaml.decode", text)


AREA = Area(
    _cases,
    {
        "yaml.decode": load_documents,
    },
)
