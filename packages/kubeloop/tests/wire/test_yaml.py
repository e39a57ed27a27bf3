"""Reading YAML as the tools of Kubernetes do, and errors with positions."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import yaml as reading
from kubeloop.wire.errors import DecodeError
from kubeloop.wire.yaml import load_document, load_documents

PARSERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML as it is on machines with libyaml, and on machines without."""
    monkeypatch.setattr(reading, "_PARSER", request.param)


pytestmark = pytest.mark.usefixtures("parser")


def refusal(text: str | bytes, *, source: str = "") -> str:
    with pytest.raises(DecodeError) as caught:
        load_documents(text, source=source)
    return str(caught.value)


# --- keys, anchors, merges


@pytest.mark.parametrize("text", ["~: a", "null: a", "? [a]\n: b", "? {a: b}\n: c", "&a [x]: 1"])
def test_a_key_that_is_no_text_and_no_number_is_refused(text: str) -> None:
    assert "as a key" in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "kind: Pod\nname: a\nname: b\n",
        '{"kind": "Pod",\n "name": 1,\n "name": 2}',
        "kind: x\nname: a\n'name': b",
    ],
)
def test_a_duplicate_key_is_named_with_both_lines(text: str) -> None:
    message = refusal(text, source="pod.yaml")

    assert message.startswith("pod.yaml, line 3, column ")
    assert 'the key "name" twice, it stands in line 2 already' in message


def test_keys_that_become_the_same_text_stand_twice() -> None:
    assert 'the key "1" twice' in refusal("1: a\n'1': b")


def test_an_alias_is_a_copy_of_its_own() -> None:
    found = load_document("a: &x {b: [1]}\nc: *x\nd: [*x]")
    found["c"]["b"].append(2)

    assert found == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": [{"b": [1]}]}


def test_an_anchor_may_be_named_again_and_may_name_a_key() -> None:
    found = load_document("- &a 1\n- *a\n- &a {&k x: 2}\n- *a\n- {*k : 3}\n- &b [&b 4, *b]\n- *b")

    assert found == [1, 1, {"x": 2}, {"x": 2}, {"x": 3}, [4, 4], 4]


@pytest.mark.parametrize(
    ("merge", "value"),
    [
        ("<<: *one", {"a": 1, "b": 1}),
        ("<<: *one\n  b: 0", {"a": 1, "b": 0}),
        ("b: 0\n  <<: *one", {"a": 1, "b": 0}),
        ("<<: [*one, *two]", {"a": 1, "b": 1, "c": 2}),
        ("<<: *one\n  <<: *two", {"a": 1, "b": 2, "c": 2}),
        ("<<: {z: 1}", {"z": 1}),
        ("!!merge <<: *one", {"a": 1, "b": 1}),
    ],
)
def test_a_merge_fills_in_what_the_mapping_does_not_say(merge: str, value: object) -> None:
    text = f"one: &one {{a: 1, b: 1}}\ntwo: &two {{b: 2, c: 2}}\nv:\n  {merge}\n"

    assert load_document(text)["v"] == value


@pytest.mark.parametrize("text", ["<<: 1", "<<:", "<<: [1]", "a: &a 1\n<<: *a"])
def test_only_mappings_can_be_merged(text: str) -> None:
    assert "is no mapping" in refusal(text)


# --- documents


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("# only a comment\n", []),
        ("---\n---\n# nothing\n---\n", []),
        ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("---\na: 1\n...\n---\n# skipped\n---\n- x\n...\n", [{"a": 1}, ["x"]]),
        ("--- null\n--- ''\n--- ~\n", [None, "", None]),
        ("%YAML 1.1\n---\na: 1\n", [{"a": 1}]),
        ("\ufeffa: 1\n", [{"a": 1}]),
        (b"\xef\xbb\xbfa: \xc3\xa9\n", [{"a": "é"}]),
        ("a: é".encode("utf-16"), [{"a": "é"}]),
        ("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("{}", [{}]),
        ('---\n{"a": 1}\n', [{"a": 1}]),
    ],
)
def test_empty_documents_are_skipped_and_the_others_kept(
    text: str | bytes, documents: list[object]
) -> None:
    assert load_documents(text) == documents


def test_one_document_is_read_alone() -> None:
    assert load_document("# first\n---\na: 1\n---\n") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# none", "m.yaml, line 1, column 1: expected one document, found none"),
        ("a: 1\n---\nb: 2\n", "m.yaml, line 3, column 1: expected one document, found 2"),
        ('{"a": 1}{}', "m.yaml, line 1, column 9: expected one document, found 2"),
        ('{"a":\n 1} \n {}', "m.yaml, line 3, column 2: expected one document, found 2"),
    ],
)
def test_none_or_two_documents_instead_of_one_are_errors(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        load_document(text, source="m.yaml")

    assert str(caught.value).startswith(message)


def test_json_is_read_in_full_also_where_yaml_differs() -> None:
    """CFG-1: YAML or JSON."""
    text = (
        '\t{"a":\t"\\/\\ud83d\\ude00\x7f", "b\\\\ud83d": [1, -0, 2.5, 1E2, 18446744073709551616]}\n'
    )

    assert load_document(text) == {"a": "/😀\x7f", "b\\ud83d": [1, 0, 2.5, 100.0, 2.0**64]}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\/"}{"b": [1]}{}',
        '{"a": "\\/"}\n{"b": [1]}\n\n{}\n',
        ' {"a": "\\/"}\t{"b":\n[1]}\r\n{}',
        '{"a": "\\/"}\n---\n{"b": [1]}{}\n---\n',
        '--- # first\n{"a": "\\/"}{"b": [1]}\n---\n---\n{}',
        '{"a": "\\/"}\n{b: [1]}\n---\n{}',  # the rest is YAML
    ],
)
def test_json_documents_may_follow_each_other_directly(text: str) -> None:
    """As `kubectl` reads them."""
    assert load_documents(text) == [{"a": "/"}, {"b": [1]}, {}]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1}{"b": 1, "b": 2}', "line 1, column 18: "),
        ('{"a": 1}\n {"b": 1,\n"b": 2}{}', "line 3, column 1: "),
        ('{"a": 1}{"b": ', "line "),  # its end, which the parsers place differently
        ('{"a": 1},{"b": 1}', "line 1, column 9: "),
        ('{"a": 1} b', "line 1, column 10: "),
        ('{"a": 1}\nb: 1', "line 2, column 1: "),
        ('{"a": 1} ---\n{"b": 1}', "line 1, column 10: "),
        ('{"a": 1}{"b": NaN}{"c": .nan}', "line 1, column "),
        ('{"a": 1}{"b": "\\ud800"}', "line 1, column "),
        ('{"a": 1}{b: 1}{"c": 2}', "line 1, column 15: "),
        ("{}" + "[" * 5000, "line 1, column "),
    ],
)
def test_a_fault_in_a_later_json_document_is_found_where_it_is(text: str, place: str) -> None:
    assert refusal(text).startswith(f"YAML, {place}")


def test_a_long_stream_of_json_documents_is_read_once() -> None:
    assert len(load_documents('{"a": 1}' * 50_000)) == 50_000


def test_flow_style_that_is_no_json_is_read_as_yaml() -> None:
    assert load_document("{a: [y, 'n'], # why\n b: }") == {"a": [True, "n"], "b": None}


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON_VALUES), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_json_object_is_read_as_json_would_be(
    value: dict[str, object], ascii_only: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    assert load_document(text) == value


@given(st.text() | st.binary())
def test_any_text_gives_values_or_our_error(text: str | bytes) -> None:
    try:
        found = load_documents(text)
    except DecodeError:
        return
    json.dumps(found, allow_nan=False)


# --- errors


@pytest.mark.parametrize("text", [".inf", "-.INF", ".NaN", "a: [.nan]", '{"a": .nan}'])
def test_numbers_that_json_lacks_are_refused(text: str) -> None:
    assert "JSON cannot represent" in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: !hunter2",
        "a: !hunter2 {}",
        "a: !hunter2 []",
        "a: !!python/object/apply:hunter2 []",
        "a: !!python/name:hunter2 ''",
        "a: !!set {hunter2}",
        "a: !!omap [hunter2: 1]",
        "a: !hunter2!x y",
        "a: *hunter2",
        "a: !!int hunter2",
        "a: !!bool hunter2",
        "a: !!null hunter2",
        "a: !!binary hunter2",
        "a: !!binary hunter2é",
        "a: 'hunter2",
        "a: hunter2: hunter2",
        "a: @hunter2",
        "a: %hunter2",
        "a: `hunter2`",
        'a: "hunter2\\q"',
        'a: "hunter2\\ud800"',
        "hunter2\na: 1",
        "a: [hunter2",
        "a: &hunter2 [*hunter2]",
        "a: hunter2\x00",
        "a: hunter2\ud800",
        b"a: hunter2\xff",
    ],
)
def test_an_error_shows_the_position_and_never_the_text(text: str | bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        load_documents(text, source="secret.yaml")

    assert str(caught.value).startswith("secret.yaml, line ")
    assert "hunter2" not in str(caught.value)
    # A traceback would print PyYAML's error, which quotes the text.
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: !foo 2\n", "line 2, column 4"),
        ("a: 1\n  b: 2\n", "line 2, column 4"),
        ("a: 1\nb: x\x07\n", "line 2, column 5"),
        (b"a: 1\nb: \xff\n", "line 2, column 4"),
        ("a: 1\n---\nb: *c\n", "line 3, column 4"),
    ],
)
def test_an_error_names_line_and_column(text: str | bytes, place: str) -> None:
    assert refusal(text).startswith(f"YAML, {place}: ")


def test_an_expansion_bomb_is_refused_before_it_expands() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    text = "\n".join(["l0: &l0 [x, x, x, x, x, x, x, x, x]", *levels])

    assert "aliases that expand to too many values" in refusal(text)


def test_a_bomb_made_of_merges_is_refused_too() -> None:
    levels = [
        f"l{n}: &l{n} {{a{n}: *l{n - 1}, b{n}: *l{n - 1}, <<: *l{n - 1}}}" for n in range(1, 40)
    ]
    text = "\n".join(["l0: &l0 {x: 1}", *levels])

    assert "aliases that expand to too many values" in refusal(text)


def test_a_value_used_in_many_places_is_no_bomb() -> None:
    text = "base: &b {a: 1, b: [1, 2]}\nall:\n" + "- {<<: *b, c: 3}\n" * 500

    assert load_document(text)["all"] == [{"a": 1, "b": [1, 2], "c": 3}] * 500


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 500 + "]" * 500,
        "[" * 5000 + "]" * 5000,
        "{a: " * 300,
        "- " * 1000 + "x",
        "- &a " + "[" * 150 + "]" * 150 + "\n- " + "[" * 100 + "*a" + "]" * 100,
    ],
    ids=["open", "json", "deep json", "maps", "dashes", "aliased"],
)
def test_absurd_depth_is_refused(text: str) -> None:
    assert "nested more than 200 deep" in refusal(text)


def test_two_hundred_levels_are_not_absurd() -> None:
    json_text = "[" * 200 + "]" * 200
    yaml_text = "- " * 199 + "[]"

    assert load_document(json_text) == load_document(yaml_text)


def test_pyyaml_itself_is_left_as_it_was() -> None:
    load_document("a: 1e3")

    assert yaml.safe_load("a: 1e3") == {"a": "1e3"}
    assert math.isinf(yaml.safe_load(".inf"))
