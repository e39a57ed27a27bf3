"""Encoding and decoding entries, in every storage format."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from bench.pods import pod as realistic_pod
from kubeloop.cache import EntryCodec, OwnerRef, StorageFormat, TransformFailed, UnkeyedObject
from kubeloop.cache.storage import SAMPLES
from kubeloop.errors import ConfigError, DecodeError, InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import UNSET, Kind, Raw
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.cache.objects import entry, key, pod

FORMATS: list[StorageFormat] = ["bytes", "objects", "compressed"]


def realistic(number: int) -> bytes:
    return msgspec.json.encode(realistic_pod(number))


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class Where(msgspec.Struct, frozen=True):
    """A struct with one field."""

    spec: Spec = Spec()


class JustMetadata(Kind):
    """What is left of any object in a metadata-only cache."""

    metadata: ObjectMeta = UNSET


def test_an_entry_holds_the_standard_fields() -> None:
    text = pod(
        "web",
        version="42",
        uid="u-1",
        labels={"app": "web"},
        generation=3,
        deletionTimestamp="2026-01-01T00:00:00Z",
        ownerReferences=[
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-0"},
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "r",
                "uid": "u-2",
                "controller": True,
            },
        ],
    )

    taken = EntryCodec(dict).parse(text)

    assert taken.key == ObjectKey("shop", "web")
    assert (taken.version, taken.uid, taken.generation) == ("42", "u-1", 3)
    assert taken.labels == {"app": "web"}
    assert taken.deletion_timestamp == "2026-01-01T00:00:00Z"
    assert taken.controller == OwnerRef("apps/v1", "ReplicaSet", "r", "u-2", controller=True)
    assert [owner.name for owner in taken.owners] == ["n", "r"]


def test_the_key_is_the_name_alone_where_there_is_no_namespace() -> None:
    """CCH-1: namespace/name, or the name."""
    node = EntryCodec(dict).parse(b'{"metadata":{"name":"node-7"}}')

    assert str(node.key) == "node-7"
    assert str(entry("web").key) == "shop/web"


@pytest.mark.parametrize(
    ("text", "found"),
    [("web", ("", "web")), ("shop/web", ("shop", "web")), ("/web", ("", "web"))],
    ids=["CCH-3 one part", "CCH-3 two parts", "CCH-3 empty namespace"],
)
def test_a_written_key_is_split_at_its_slash(text: str, found: tuple[str, str]) -> None:
    """CCH-3: splitting a key."""
    assert ObjectKey.parse(text) == ObjectKey(*found)


def test_a_key_of_three_parts_is_rejected() -> None:
    """CCH-3: more than two parts are an error."""
    with pytest.raises(InvalidArgument, match="more than one"):
        ObjectKey.parse("a/b/c")


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b'{"metadata":null}',
        b'{"metadata":{}}',
        b'{"metadata":{"name":""}}',
        b'{"metadata":{"name":7}}',
    ],
)
def test_an_object_without_a_name_is_rejected_and_counted(text: bytes) -> None:
    """CCH-1, CCH-4: no metadata or no name is an error that says so."""
    codec = EntryCodec(dict)

    with pytest.raises(UnkeyedObject, match=r"metadata\.name"):
        codec.parse(text)

    assert codec.stats().rejected == 1
    assert codec.stats().encoded == 0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b'{"metadata":{"name":"web"',
        b'{"metadata":{"name":"web","labels":["a"]}}',
        b'{"metadata":{"name":"web","labels":{"a":0}}}',
        b'{"metadata":{"name":"web","labels":{"a":["b"]}}}',
        b'{"metadata":{"name":"web","resourceVersion":7}}',
        b'{"metadata":{"name":"web","ownerReferences":[7]}}',
        b'{"metadata":{"name":"web","namespace":7}}',
    ],
)
def test_json_that_is_not_an_object_of_the_api_is_rejected(text: bytes) -> None:
    with pytest.raises(DecodeError):
        EntryCodec(dict).parse(text)


@pytest.mark.parametrize("store_as", FORMATS)
def test_every_storage_format_returns_the_whole_object(store_as: StorageFormat) -> None:
    codec = EntryCodec(Pod, store_as=store_as)
    texts = [realistic(number) for number in range(SAMPLES + 8)]

    entries = [codec.parse(text) for text in texts]

    assert [codec.decode(each) for each in entries] == [Pod.from_json(text) for text in texts]
    decoded = [msgspec.json.decode(codec.raw(each)) for each in entries]
    if store_as != "objects":
        assert decoded == [msgspec.json.decode(text) for text in texts]


def test_bytes_are_returned_exactly_as_the_server_sent_them() -> None:
    codec = EntryCodec(Pod)
    text = b'{ "metadata" : {"name":"web"}, "newerThanUs": [1,  2] }'

    assert codec.raw(codec.parse(Raw(text))) == text


def test_changing_a_decoded_object_does_not_change_stored_bytes() -> None:
    codec = EntryCodec(Pod)
    taken = codec.parse(pod("web", labels={"app": "web"}))

    codec.decode(taken).metadata.labels["app"] = "changed"

    assert codec.decode(taken).metadata.labels == {"app": "web"}
    assert not codec.shares_objects


def test_stored_objects_are_decoded_once_and_shared() -> None:
    codec = EntryCodec(Pod, store_as="objects")
    taken = codec.parse(pod("web"))

    assert codec.decode(taken) is codec.decode(taken)
    assert codec.shares_objects


def test_labels_of_an_entry_cannot_be_changed() -> None:
    taken = entry("web", labels={"app": "web"})

    with pytest.raises(TypeError):
        taken.labels["app"] = "x"  # type: ignore[index] # that is the point


def test_compressed_objects_are_much_smaller() -> None:
    codec = EntryCodec(Pod, store_as="compressed")
    texts = [realistic(number) for number in range(SAMPLES + 20)]

    late = [codec.parse(text) for text in texts][SAMPLES:]

    assert sum(len(each.content) for each in late) < sum(map(len, texts[SAMPLES:])) / 5


def test_compression_works_with_samples_that_cannot_be_trained_on() -> None:
    codec = EntryCodec(dict, store_as="compressed")

    entries = [codec.parse(b'{"metadata":{"name":"x"}}') for _ in range(SAMPLES + 5)]

    assert {codec.raw(each) for each in entries} == {b'{"metadata":{"name":"x"}}'}


def test_compression_without_its_library_names_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(ConfigError, match=r"kubeloop\[compression\]"):
        EntryCodec(dict, store_as="compressed")


@pytest.mark.parametrize("of", [Pod, dict, Where, JustMetadata])
def test_an_object_is_decoded_as_the_requested_type(of: type[Any]) -> None:
    codec = EntryCodec(of)

    given = codec.decode(codec.parse(pod("web", node="node-7")))

    assert type(given) is of


def test_a_struct_has_the_fields_that_it_names() -> None:
    codec = EntryCodec(Where)

    assert codec.decode(codec.parse(pod("web", node="node-7"))).spec.node_name == "node-7"


def test_a_dict_from_a_list_gets_its_kind_and_api_version() -> None:
    codec = EntryCodec(dict, api_version="v1", kind="Pod")

    given = codec.decode(codec.parse(pod("web")))

    assert (given["apiVersion"], given["kind"]) == ("v1", "Pod")


def test_an_object_that_is_not_valid_as_its_type_is_an_error_with_its_key() -> None:
    codec = EntryCodec(Pod)
    taken = codec.parse(b'{"metadata":{"name":"web","namespace":"shop"},"spec":7}')

    with pytest.raises(DecodeError, match="shop/web"):
        codec.decode(taken)


def test_an_object_of_the_caller_can_be_encoded() -> None:
    codec = EntryCodec(Pod)
    made = Pod.from_dict({"metadata": {"name": "web", "namespace": "shop"}})

    assert codec.decode(codec.encode(made)) == made
    assert codec.encode(made).key == key("web")


def test_equal_labels_owners_and_indexed_values_are_shared() -> None:
    codec = EntryCodec(dict, paths=("spec.nodeName",))
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u"}]

    one, two = (
        codec.parse(pod(name, labels={"app": "web"}, node="n", ownerReferences=owners))
        for name in ("a", "b")
    )

    assert one.label_map is two.label_map
    assert one.owners is two.owners
    assert one.indexed_values is two.indexed_values
    assert one.key.namespace is two.key.namespace


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, ()),
        ("x", ("x",)),
        (7, ("7",)),
        (True, ("true",)),
        (False, ("false",)),
        (["a", "b", "a", 1], ("a", "b", "1")),
        ([], ()),
    ],
)
def test_an_index_path_reads_texts_numbers_and_lists(value: object, found: tuple[str, ...]) -> None:
    codec = EntryCodec(dict, paths=("spec.x",))

    taken = codec.parse(msgspec.json.encode({"metadata": {"name": "a"}, "spec": {"x": value}}))

    assert taken.indexed_values == (found,)


def test_a_map_at_an_index_path_is_counted_and_the_object_is_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    codec = EntryCodec(dict, paths=("spec",))

    taken = codec.parse(pod("web", node="n"))

    assert taken.indexed_values == ((),)
    assert codec.stats().unindexable == 1
    assert "shop/web" in caplog.text


def test_a_path_that_the_kind_does_not_have_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="nodeNam"):
        EntryCodec(Pod, paths=("spec.nodeNam",))


def test_paths_added_later_are_read_from_stored_content() -> None:
    codec = EntryCodec(Pod)
    before = codec.parse(pod("web", node="node-7"))

    codec.add_paths("spec.nodeName")

    values_of = codec.values_at("spec.nodeName")
    assert values_of(before) == ("node-7",)
    assert values_of(codec.parse(pod("api", node="node-8"))) == ("node-8",)


def test_a_late_path_into_structs_that_are_stored_as_objects_is_rejected() -> None:
    codec = EntryCodec(Where, store_as="objects")
    codec.parse(pod("web"))

    with pytest.raises(InvalidArgument, match="fields of the struct"):
        codec.add_paths("status.phase")


def test_a_transform_changes_the_content_and_not_the_key() -> None:
    """CCH-8, INF-C8: the key is that of the original object; versions are tracked."""
    codec = EntryCodec(Pod)

    def strip(pod: Pod) -> Pod:
        pod.metadata.managed_fields = []
        pod.metadata.name = "other"
        return pod

    changed = codec.transform(codec.parse(realistic(1)), strip)

    assert codec.decode(changed).metadata.managed_fields == []
    assert changed.key.name == "service-1-7d9c6b5f4d-00001"
    assert changed.version == "1000001"


@pytest.mark.parametrize("transform", [lambda _: None, lambda _: 1 / 0, lambda _: object()])
def test_a_transform_that_fails_is_an_error_with_the_key(transform: Any) -> None:
    """CCH-8: a transform that raises, returns nothing, or returns what cannot be encoded."""
    codec = EntryCodec(dict)

    with pytest.raises(TransformFailed, match="shop/web"):
        codec.transform(entry("web"), transform)


# --- dropped fields

MANAGED = ("metadata.managedFields",)


@pytest.mark.parametrize("store_as", FORMATS)
def test_a_dropped_field_is_in_nothing_that_is_read(store_as: StorageFormat) -> None:
    codec = EntryCodec(Pod, store_as=store_as, paths=("spec.nodeName",), drop=MANAGED)
    kept = EntryCodec(Pod, store_as=store_as, paths=("spec.nodeName",))

    for number in range(SAMPLES + 2):  # more than a compressed cache needs for its dictionary
        text = realistic(number)
        found, whole = codec.parse(text), kept.parse(text)
        expected = kept.decode(whole)
        expected.metadata.managed_fields = UNSET

        assert codec.decode(found) == expected
        assert b"managedFields" not in codec.raw(found)
        assert found.indexed_values == whole.indexed_values
        assert (found.key, found.version, found.labels) == (whole.key, whole.version, whole.labels)


def test_only_the_dropped_bytes_are_missing() -> None:
    codec = EntryCodec(Pod, drop=MANAGED)
    text = pod("web", managedFields=[{"manager": "m"}])

    assert codec.raw(codec.parse(text)) == pod("web")


def test_an_unusual_object_drops_the_field_as_well() -> None:
    codec = EntryCodec(dict, drop=MANAGED)
    text = b'{"metadata":{"name":"a","generation":"x","managedFields" : [1]}}'

    assert codec.raw(codec.parse(text)) == b'{"metadata":{"name":"a","generation":"x"}}'


def test_a_key_function_and_a_dropped_field_go_together() -> None:
    codec = EntryCodec(dict, drop=MANAGED).with_key(lambda found: found["metadata"]["uid"])

    found = codec.parse(pod("a", uid="u", managedFields=[]))

    assert found.key == ObjectKey("", "u")
    assert "managedFields" not in codec.decode(found)["metadata"]


def test_a_transform_may_add_what_is_dropped() -> None:
    codec = EntryCodec(dict, drop=("metadata.annotations",))

    def annotate(found: dict[str, Any]) -> dict[str, Any]:
        assert "annotations" not in found["metadata"]
        found["metadata"]["annotations"] = {"by": "us"}
        return found

    entry = codec.transform(codec.parse(pod("a", annotations={"by": "them"})), annotate)

    assert codec.decode(entry)["metadata"]["annotations"] == {"by": "us"}


@pytest.mark.parametrize(
    ("drop", "why"),
    [
        (("metadata.mangedFields",), "no field 'mangedFields'"),
        (("metadata",), "read metadata.name: the cache drops metadata"),
        (("metadata.labels['app']",), "read metadata.labels"),
        (("kind",), "read kind"),
        ("metadata.managedFields", "give a tuple"),
    ],
)
def test_a_field_that_does_not_exist_or_is_needed_cannot_be_dropped(drop: Any, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why):
        EntryCodec(Pod, drop=drop)


@pytest.mark.parametrize("path", ["status.phase", "status"])
def test_a_dropped_field_cannot_be_indexed(path: str) -> None:
    codec = EntryCodec(Pod, drop=("status.phase",))

    with pytest.raises(InvalidArgument, match=f"index by {path}: the cache drops status.phase"):
        codec.add_paths(path)
