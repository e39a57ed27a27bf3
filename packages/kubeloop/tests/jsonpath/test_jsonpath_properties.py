"""JSONPath: what holds for every template and all data."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from kubeloop.jsonpath import JSONPath, JSONPathError

json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip
fragments = st.sampled_from(
    ["{", "}", ".a", ".b", "..c", ".*", "..", ".", "[0]", "[-1]", "[1:]", "[*]", "[0,1]", "['a','b']",
     "[?(@.a)]", "[?(@.a==1)]", "[?(@.b<'x')]", "{range ", "{end}", "'x'", '"', "\\", " ", "@", "1.5",
     "true", "x", "\n", ",", ")", "]", "[?("],
)  # fmt: skip


@given(
    st.text(max_size=40) | st.lists(fragments, max_size=12).map("".join), json_data, st.booleans()
)
def test_any_text_is_a_template_or_a_jsonpath_error(text: str, data: object, allow: bool) -> None:
    """UTL-19: recursive descent."""
    try:
        path = JSONPath(text, allow_missing_keys=allow)
        path.render(data)
        path.render_json(data)
    except JSONPathError as error:
        position, template = error.position, error.template
    else:
        position, template = 0, text

    assert template == text
    assert 0 <= position <= len(text)


@given(json_data)
def test_the_whole_object_is_written_as_json(data: object) -> None:
    if isinstance(data, dict | list):
        assert json.loads(JSONPath("{}").render(data)) == data


@given(st.lists(st.integers(), max_size=8), st.integers(-8, 8), st.integers(-8, 8))
def test_a_slice_that_succeeds_is_the_slice_python_gives(
    items: list[int], start: int, stop: int
) -> None:
    """UTL-14: slices."""
    try:
        found = JSONPath(f"{{[{start}:{stop}]}}").values(items)
    except JSONPathError:
        return
    assert found == items[start:stop]
