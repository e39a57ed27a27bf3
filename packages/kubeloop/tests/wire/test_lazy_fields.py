"""The managed fields of an object stay JSON until they are read, which no caller can see."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import DecodeError, InvalidArgument, decode, split_list
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ManagedFieldsEntry, ObjectMeta

FIELDS: dict[str, Any] = {"f:data": {".": {}, "f:k": {}}}
OBJECT = {"metadata": {"name": "a", "managedFields": [{"manager": "m", "fieldsV1": FIELDS}]}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def entry_with(fields: str, *, more: str = "") -> ManagedFieldsEntry:
    text = f'{{"metadata":{{"managedFields":[{{"manager":"m","fieldsV1":{fields}{more}}}]}}}}'
    return ConfigMap.from_json(text).metadata.managed_fields[0]


@given(st.dictionaries(st.text(), json_values))
def test_fields_read_and_encode_as_they_came(fields: dict[str, Any]) -> None:
    data = {"metadata": {"managedFields": [{"fieldsV1": fields}]}}

    found = ConfigMap.from_dict(data)

    sent = {"apiVersion": "v1", "kind": "ConfigMap", **data}
    assert found.to_dict() == sent
    assert found.metadata.managed_fields[0].fields_v1 == fields
    assert found.to_dict() == sent


def test_a_change_of_the_fields_is_kept() -> None:
    entry = entry_with('{"f:data":{}}')

    entry.fields_v1["f:spec"] = {}

    assert entry.to_dict()["fieldsV1"] == {"f:data": {}, "f:spec": {}}


def test_an_object_beside_unknown_keys_reads_the_same() -> None:
    assert entry_with('{"f:data":{}}', more=',"newer":1').to_dict() == {
        "manager": "m",
        "fieldsV1": {"f:data": {}},
        "newer": 1,
    }


def test_null_fields_read_as_empty_and_are_not_encoded() -> None:
    entry = entry_with("null")

    assert entry.to_dict() == {"manager": "m"}
    assert entry == ManagedFieldsEntry(manager="m")
    assert entry.fields_v1 == {}
    assert entry.to_dict() == {"manager": "m"}


def test_equality_compares_what_the_json_says() -> None:
    first, second = entry_with('{"a":{},"b":1}'), entry_with('{ "b": 1, "a": {} }')

    assert first == second
    assert first.fields_v1 == {"a": {}, "b": 1}
    assert first == second
    assert first != entry_with('{"a":{}}')


def test_copies_and_pickles_have_fields_of_their_own() -> None:
    entry = entry_with('{"f:data":{}}')

    for twin in (copy.deepcopy(entry), pickle.loads(pickle.dumps(entry))):
        twin.fields_v1["f:spec"] = {}
        assert entry.to_dict()["fieldsV1"] == {"f:data": {}}


def test_the_repr_shows_the_fields() -> None:
    assert repr(entry_with('{"f:data":{}}')) == (
        "ManagedFieldsEntry(fields_v1={\"f:data\":{}}, manager='m')"
    )


def test_fields_that_are_not_an_object_are_an_error_when_they_are_read() -> None:
    entry = entry_with('"text"')

    assert entry.to_dict()["fieldsV1"] == "text"
    with pytest.raises(DecodeError, match="expected an object, found str"):
        _ = entry.fields_v1


def test_fields_that_are_not_unicode_are_an_error_when_they_are_read() -> None:
    text = b'{"metadata":{"managedFields":[{"fieldsV1":{"f:\xff":{}}}]}}'
    found = ConfigMap.from_json(text)

    with pytest.raises(DecodeError, match="not JSON"):
        _ = found.metadata.managed_fields[0].fields_v1
    with pytest.raises(InvalidArgument, match="cannot encode ConfigMap: the text is not JSON"):
        found.to_dict()


def test_an_object_does_not_keep_the_text_of_its_list_in_memory() -> None:
    text = b'{"items":[' + ConfigMap.from_dict(OBJECT).to_json() + b"]}"
    references = sys.getrefcount(text)

    found = decode(ConfigMap, (split_list(text).items or [])[0])

    assert sys.getrefcount(text) == references
    assert found.metadata.managed_fields[0].fields_v1 == FIELDS


def test_fields_of_a_new_object_are_encoded() -> None:
    entry = ManagedFieldsEntry(manager="m", fields_v1={"f:data": {}})

    found = ConfigMap(metadata=ObjectMeta(managed_fields=[entry])).to_dict()

    assert found["metadata"] == {"managedFields": [{"manager": "m", "fieldsV1": {"f:data": {}}}]}
