"""JSONPath: what a template finds and how it is written."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.jsonpath import JSONPath, JSONPathError, relaxed

NODES: dict[str, Any] = {
    "kind": "List",
    "items": [
        {
            "kind": "Node",
            "metadata": {"name": "one", "labels": {"kubernetes.io/hostname": "h1"}},
            "status": {"capacity": {"cpu": "4"}, "ready": True, "pods": 3, "load": 1.0},
        },
        {
            "kind": "Node",
            "metadata": {"name": "two", "labels": {"kubernetes.io/hostname": "h2"}},
            "status": {"capacity": {"cpu": "8"}, "ready": False, "pods": 7, "load": 2.5},
        },
    ],
    "users": [{"name": "me", "user": {}}, {"name": "e2e", "user": {"password": "x"}}],
    "numbers": [1, 2, 3, 4],
    "nothing": None,
    "empty": [],
    "lists": [[], [1, 2]],
}


class Model:
    """What models look like from here."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_dict(self) -> dict[str, Any]:
        return self.data


def render(template: str, data: object = NODES, *, allow_missing_keys: bool = False) -> str:
    return JSONPath(template, allow_missing_keys=allow_missing_keys).render(data)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain text", "plain text"),
        ("", ""),
        ("kind is {.kind}", "kind is List"),
        ("{$.kind}", "List"),
        ("{@.kind}", "List"),
        ("{ .kind }", "List"),
        ("{['kind']}", "List"),
        ("{.items[*].metadata.name}", "one two"),
        ("{.items[*]['metadata.name']}", "one two"),
        ("{..name}", "one two me e2e"),
        ("{.items..cpu}", "4 8"),
        ("{.items[0].status.*}", '{"cpu":"4"} true 3 1'),
        ("{.items[0].status.capacity.*}", "4"),
        ("{.numbers.*}", "1 2 3 4"),
        ("{'quoted'}{\"\\t\"}{1}{-2.5}{true}{false}", "quoted\t1-2.5truefalse"),
        ("{.kind}}", "List}"),
    ],
)
def test_a_template_is_text_and_actions(template: str, text: str) -> None:
    """UTL-12: templates of text and actions."""
    assert render(template) == text


def test_the_whole_object_is_asked_for_in_three_ways() -> None:
    """UTL-12: templates of text and actions."""
    for template in ("{}", "{@}", "{$}"):
        assert render(template, {"a": [1]}) == '{"a":[1]}'


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (r"{.items[0].metadata.labels.kubernetes\.io/hostname}", "h1"),
        (r"{.items[*].metadata.labels['kubernetes\.io/hostname']}", "h1 h2"),
        (r"{.m['a\.b']}", "dotted"),
        ("{.m['a.b']}", "nested"),
        (r"{.m.\*}", "star"),
        (r"{.m.x\ y}", "space"),
        (r"{.m.back\\slash}", "slash"),
        ("{.m.über-größe}", "letters"),
        ("{.m.a(b)}", "parentheses"),
    ],
)
def test_a_backslash_lets_a_name_hold_anything(template: str, text: str) -> None:
    """UTL-13, V-17: `['a.b']` looks for a, then b; a dot in a key is escaped there too"""
    names = {
        "a.b": "dotted", "a": {"b": "nested"}, "*": "star", "x y": "space", "back\\slash": "slash",
        "über-größe": "letters", "a(b)": "parentheses",
    }  # fmt: skip

    assert render(template, NODES | {"m": names}) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.numbers[0]}", "1"),
        ("{.numbers[-1]}", "4"),
        ("{.numbers[-4]}", "1"),
        ("{.numbers[]}", "1"),
        ("{.numbers[*]}", "1 2 3 4"),
        ("{.numbers[1:3]}", "2 3"),
        ("{.numbers[:2]}", "1 2"),
        ("{.numbers[2:]}", "3 4"),
        ("{.numbers[0:-1]}", "1 2 3"),
        ("{.numbers[-2:]}", "3 4"),
        ("{.numbers[::2]}", "1 3"),
        ("{.numbers[5:5]}", ""),
        ("{.numbers[4:]}", ""),
        ("{.numbers[0,-1]}", "1 4"),
        ("{.numbers[0, 2:]}", "1 3 4"),
        ("{.empty[*]}", ""),
        ("{.nothing[0]}", ""),
        ("{.lists[*][*]}", "1 2"),
    ],
)
def test_an_index_counts_from_either_end(template: str, text: str) -> None:
    """UTL-14, UTL-C7: indexes and slices."""
    assert render(template) == text


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("{.numbers[4]}", "index 4 is out of range"),
        ("{.numbers[-5]}", "index -1 is out of range"),
        ("{.numbers[1:9]}", "index 8 is out of range"),
        ("{.numbers[6:]}", "index 6 is out of range"),
        ("{.numbers[3:1]}", "the start 3 is after the end 1"),
        ("{.numbers[1:3:0]}", "step must be greater than 0"),
        ("{.numbers[1:3:-1]}", "step must be greater than 0"),
        ("{.empty[0]}", "index 0 is out of range"),
        ("{.kind[0]}", "a string cannot be indexed"),
        ("{.items[0].metadata[*]}", "a map cannot be indexed"),
    ],
)
def test_an_index_out_of_range_is_an_error(template: str, complaint: str) -> None:
    """UTL-14, UTL-C7: indexes and slices."""
    with pytest.raises(JSONPathError, match=complaint):
        render(template)


def test_a_missing_key_is_an_error_unless_allowed() -> None:
    """UTL-15: missing keys."""
    for template in ("{.nope}", "{.nothing.a}", "{.kind.a}", "{.}", "{.items[*].nope}"):
        with pytest.raises(JSONPathError, match="is not found"):
            render(template)
        assert render(f"<{template}>", allow_missing_keys=True) == "<>"


def test_it_is_enough_that_one_of_several_has_the_key() -> None:
    """UTL-15: missing keys."""
    assert render("{.users[*].user.password}") == "x"


def test_null_on_the_way_is_skipped() -> None:
    """UTL-15: missing keys."""
    assert render("{.l[*].a.b}", {"l": [{"a": None}, None, {"a": {"b": 1}}]}) == "1"


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ('@.metadata.name=="one"', "one"),
        ("@.metadata.name != 'one'", "two"),
        (".metadata.name=='two'", "two"),
        ("@.status.pods<7", "one"),
        ("@.status.pods<=7", "one two"),
        ("@.status.pods>3", "two"),
        ("@.status.pods>=3", "one two"),
        ("3<@.status.pods", "two"),
        ("@.status.ready==true", "one"),
        ("@.status.ready!=true", "two"),
        ("@.status.load>1.0", "two"),
        ("@.status.capacity.cpu<@.kind", "one two"),
        ("@.metadata.name>'p'", "two"),
        ("@.metadata", "one two"),
        ("@.nope", ""),
        ("@.nope[7]", ""),
        ("@.metadata.name==')'", ""),
        ('"("=="(\\""', ""),
    ],
)
def test_a_filter_keeps_what_passes(condition: str, names: str) -> None:
    """UTL-16, V-17: `@.v>1.0` works on floats"""
    assert render(f"{{.items[?({condition})].metadata.name}}") == names


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ("@.status.load>1", "cannot compare a float with an integer .write 1.0"),
        ("@.status.pods==1.0", "cannot compare an integer with a float"),
        ("@.status.pods=='3'", "cannot compare an integer with a string"),
        ("@.status.ready==1", "cannot compare a boolean with an integer"),
        ("@.status.ready<true", "booleans cannot be compared with <"),
        ("@.metadata==1", "cannot compare a map with an integer"),
        ("@.status.*==1", "one value with one value"),
        ("@.nope==1", "'nope' is not found"),
    ],
)
def test_a_filter_compares_one_value_with_one_of_the_same_kind(
    condition: str, complaint: str
) -> None:
    """UTL-16, V-17: floats against an integer are an error"""
    with pytest.raises(JSONPathError, match=complaint):
        render(f"{{.items[?({condition})]}}")


def test_only_a_list_can_be_filtered() -> None:
    """UTL-16: filters."""
    for template in ("{.kind[?(@.a)]}", "{.nothing[?(@.a)]}", "{[?(@.a)]}"):
        with pytest.raises(JSONPathError, match="cannot be filtered"):
            render(template)


def test_items_that_lack_the_compared_key_are_skipped_when_that_is_allowed() -> None:
    """UTL-C8: filters on missing keys."""
    template = "{.users[?(@.user.password=='x')].name}"

    with pytest.raises(JSONPathError, match="'password' is not found"):
        render(template)
    assert render(template, allow_missing_keys=True) == "e2e"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (1.0, "1"),
        (2.5, "2.5"),
        (-0.25, "-0.25"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (123456789.0, "1.23456789e+08"),
        (1e-5, "1e-05"),
        (0.0, "0"),
        ([1, "x", None, 2.0], '[1,"x",null,2]'),
        ({"b": {"ü": 1}, "a": []}, '{"a":[],"b":{"ü":1}}'),
        ("<a & b>", "<a & b>"),
        (["<a & b>", "\u2028"], r'["\u003ca \u0026 b\u003e","\u2028"]'),
    ],
)
def test_scalars_are_written_raw_and_the_rest_as_json(value: object, text: str) -> None:
    """UTL-17: output of results."""
    assert render("<{.v}>", {"v": value}) == f"<{text}>"


def test_results_of_one_action_are_joined_by_a_space_and_actions_by_nothing() -> None:
    """UTL-17: output of results."""
    assert render("{.numbers[*]}{.kind}{.numbers[0]}") == "1 2 3 4List1"


def test_json_output_is_an_indented_array_for_each_action() -> None:
    """UTL-17: output of results."""
    written = JSONPath("{.users[*].name}{.empty}").render_json(NODES)

    assert written == '[\n    "me",\n    "e2e"\n]\n[\n    []\n]\n'


def test_a_union_takes_all_of_the_first_then_all_of_the_second() -> None:
    """UTL-C5, V-17: unions."""
    pairs = {"a": [{"n": "x", "v": 1.0}, {"n": "y", "v": 2.5}]}

    assert (
        render("{.items[*]['metadata.name','status.capacity']}")
        == 'one two {"cpu":"4"} {"cpu":"8"}'
    )
    assert render("{.a[*]['n','v']}", pairs) == "x y 1 2.5"


def test_a_null_at_the_end_of_a_path_is_a_result() -> None:
    """UTL-C7: null results."""
    assert render("{[-1]['x']}", [{"x": None}]) == "null"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ('{range .items[*]}{.metadata.name}{"\\t"}{end}', "one\ttwo\t"),
        ("{range .items[*]}{.metadata.name}, {end}{.kind}", "one, two, List"),
        ("{range .lists[*]}<{range @[*]}({@}){end}>{end}", "<><(1)(2)>"),
        ("{range .empty[*]}{.nope}{end}done", "done"),
        ("{range .empty[*]}{range .a[*]}{.b}{end}-{end}done", "done"),
        ("{range .numbers[?(@>2)]}{@};{end}", "3;4;"),
        ("{range.numbers}{end}", ""),
    ],
)
def test_a_range_repeats_its_body(template: str, text: str) -> None:
    """UTL-C6, UTL-18: range and end."""
    assert render(template) == text


@pytest.mark.parametrize("template", ["{...name}", "{..['name']}", "{..name}"])
def test_a_recursive_descent_may_be_followed_by_any_field(template: str) -> None:
    """UTL-19, V-17: `{...n}` parses"""
    assert render(template) == "one two me e2e"


def test_data_may_be_models_at_any_depth_and_tuples() -> None:
    data = Model({"items": (Model({"name": "a"}), Model({"name": "b"}))})

    assert render("{.items[*].name}", data) == "a b"
    assert render("{..name}", data) == "a b"
    assert render("{.items[?(@.name=='b')]}", data) == '{"name":"b"}'


def test_find_gives_one_list_for_each_action() -> None:
    path = JSONPath("{.numbers[:2]}-{.kind}")

    assert path.find(NODES) == [[1, 2], ["-"], ["List"]]
    assert path.values(NODES) == [1, 2, "-", "List"]


def test_a_result_that_is_not_json_is_an_error() -> None:
    for value in ([object()], [float("nan")]):
        with pytest.raises(JSONPathError, match="cannot be written as JSON"):
            render("{.v}", {"v": value})


def test_data_deeper_than_the_stack_can_be_searched() -> None:
    data: dict[str, Any] = {"name": "deep"}
    for _ in range(5000):
        data = {"a": data}

    assert render("{..name}", data) == "deep"


@pytest.mark.parametrize(
    "text", ["metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}", "$.metadata.name"]
)  # fmt: skip
def test_a_bare_path_is_a_template_too(text: str) -> None:
    assert relaxed(text) == "{.metadata.name}"


def test_a_bare_path_may_descend_or_begin_with_an_index() -> None:
    assert relaxed("..name") == "{..name}"
    assert relaxed("{[0].a}") == "{[0].a}"


@pytest.mark.parametrize("text", ["", " ", ".", "{}", "{.a}{.b}", "{.a", "a}", "x {.a}", "{{.a}}"])
def test_text_that_is_not_a_single_path_is_rejected(text: str) -> None:
    with pytest.raises(JSONPathError, match="not a single path"):
        relaxed(text)
