"""What a keeper takes, and what it gives back."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from bench.pods import pod as realistic_pod
from kubeloop.cache.entry import OwnerRef
from kubeloop.cache.errors import TransformFailed, UnkeyedObject
from kubeloop.cache.keeper import Keeper
from kubeloop.cache.keeping import SAMPLES, Keeping
from kubeloop.errors import ConfigError, DecodeError, InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import UNSET, Kind, Raw
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.cache.making import entry, key, pod

KEEPINGS: list[Keeping] = ["bytes", "objects", "compressed"]


def realistic(number: int) -> bytes:
    return msgspec.json.encode(realistic_pod(number))


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class Where(msgspec.Struct, frozen=True):
    """A view: the only field somebody cares for."""

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

    taken = Keeper(dict).take(text)

    assert taken.key == ObjectKey("shop", "web")
    assert (taken.version, taken.uid, taken.generation) == ("42", "u-1", 3)
    assert taken.labels == {"app": "web"}
    assert taken.deletion == "2026-01-01T00:00:00Z"
    assert taken.controller == OwnerRef("apps/v1", "ReplicaSet", "r", "u-2", controller=True)
    assert [owner.name for owner in taken.owners] == ["n", "r"]


def test_the_key_is_the_name_alone_where_there_is_no_namespace() -> None:
    """CCH-1: namespace/name, or the name."""
    node = Keeper(dict).take(b'{"metadata":{"name":"node-7"}}')

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


def test_a_key_of_three_parts_is_refused() -> None:
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
def test_an_object_without_a_name_is_refused_and_counted(text: bytes) -> None:
    """CCH-1, CCH-4: no metadata or no name is an error that says so."""
    keeper = Keeper(dict)

    with pytest.raises(UnkeyedObject, match=r"metadata\.name"):
        keeper.take(text)

    assert keeper.stats().refused == 1
    assert keeper.stats().taken == 0


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
def test_what_is_not_an_object_of_the_api_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        Keeper(dict).take(text)


@pytest.mark.parametrize("keeping", KEEPINGS)
def test_every_keeping_gives_back_the_whole_object(keeping: Keeping) -> None:
    keeper = Keeper(Pod, keeping=keeping)
    texts = [realistic(number) for number in range(SAMPLES + 8)]

    entries = [keeper.take(text) for text in texts]

    assert [keeper.give(each) for each in entries] == [Pod.from_json(text) for text in texts]
    decoded = [msgspec.json.decode(keeper.raw(each)) for each in entries]
    if keeping != "objects":
        assert decoded == [msgspec.json.decode(text) for text in texts]


def test_bytes_come_back_exactly_as_they_came() -> None:
    keeper = Keeper(Pod)
    text = b'{ "metadata" : {"name":"web"}, "newerThanUs": [1,  2] }'

    assert keeper.raw(keeper.take(Raw(text))) == text


def test_what_is_kept_as_bytes_is_not_changed_by_changing_what_was_given() -> None:
    keeper = Keeper(Pod)
    taken = keeper.take(pod("web", labels={"app": "web"}))

    keeper.give(taken).metadata.labels["app"] = "changed"

    assert keeper.give(taken).metadata.labels == {"app": "web"}
    assert not keeper.shares


def test_kept_objects_are_decoded_once_and_shared() -> None:
    keeper = Keeper(Pod, keeping="objects")
    taken = keeper.take(pod("web"))

    assert keeper.give(taken) is keeper.give(taken)
    assert keeper.shares


def test_labels_of_an_entry_cannot_be_changed() -> None:
    taken = entry("web", labels={"app": "web"})

    with pytest.raises(TypeError):
        taken.labels["app"] = "x"  # type: ignore[index] # that is the point


def test_compressed_objects_are_much_smaller() -> None:
    keeper = Keeper(Pod, keeping="compressed")
    texts = [realistic(number) for number in range(SAMPLES + 20)]

    late = [keeper.take(text) for text in texts][SAMPLES:]

    assert sum(len(each.kept) for each in late) < sum(map(len, texts[SAMPLES:])) / 5


def test_compression_survives_samples_that_train_nothing() -> None:
    keeper = Keeper(dict, keeping="compressed")

    entries = [keeper.take(b'{"metadata":{"name":"x"}}') for _ in range(SAMPLES + 5)]

    assert {keeper.raw(each) for each in entries} == {b'{"metadata":{"name":"x"}}'}


def test_compression_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(ConfigError, match=r"kubeloop\[compression\]"):
        Keeper(dict, keeping="compressed")


@pytest.mark.parametrize("of", [Pod, dict, Where, JustMetadata])
def test_an_object_is_given_as_the_type_that_was_asked_for(of: type[Any]) -> None:
    keeper = Keeper(of)

    given = keeper.give(keeper.take(pod("web", node="node-7")))

    assert type(given) is of


def test_a_view_holds_what_it_names() -> None:
    keeper = Keeper(Where)

    assert keeper.give(keeper.take(pod("web", node="node-7"))).spec.node_name == "node-7"


def test_a_dict_from_a_list_is_told_what_it_is() -> None:
    keeper = Keeper(dict, api_version="v1", kind="Pod")

    given = keeper.give(keeper.take(pod("web")))

    assert (given["apiVersion"], given["kind"]) == ("v1", "Pod")


def test_an_object_that_does_not_read_as_its_type_is_an_error_with_its_key() -> None:
    keeper = Keeper(Pod)
    taken = keeper.take(b'{"metadata":{"name":"web","namespace":"shop"},"spec":7}')

    with pytest.raises(DecodeError, match="shop/web"):
        keeper.give(taken)


def test_what_somebody_made_can_be_kept() -> None:
    keeper = Keeper(Pod)
    made = Pod.from_dict({"metadata": {"name": "web", "namespace": "shop"}})

    assert keeper.give(keeper.keep(made)) == made
    assert keeper.keep(made).key == key("web")


def test_equal_labels_owners_and_rows_are_held_once() -> None:
    keeper = Keeper(dict, paths=("spec.nodeName",))
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u"}]

    one, two = (
        keeper.take(pod(name, labels={"app": "web"}, node="n", ownerReferences=owners))
        for name in ("a", "b")
    )

    assert one.label_map is two.label_map
    assert one.owners is two.owners
    assert one.row is two.row
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
    keeper = Keeper(dict, paths=("spec.x",))

    taken = keeper.take(msgspec.json.encode({"metadata": {"name": "a"}, "spec": {"x": value}}))

    assert taken.row == (found,)


def test_a_map_at_an_index_path_is_counted_and_the_object_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = Keeper(dict, paths=("spec",))

    taken = keeper.take(pod("web", node="n"))

    assert taken.row == ((),)
    assert keeper.stats().unindexable == 1
    assert "shop/web" in caplog.text


def test_a_path_that_the_kind_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="nodeNam"):
        Keeper(Pod, paths=("spec.nodeNam",))


def test_paths_added_later_are_read_from_what_is_kept() -> None:
    keeper = Keeper(Pod)
    before = keeper.take(pod("web", node="node-7"))

    keeper.add_paths("spec.nodeName")

    values_of = keeper.values_at("spec.nodeName")
    assert values_of(before) == ("node-7",)
    assert values_of(keeper.take(pod("api", node="node-8"))) == ("node-8",)


def test_a_late_path_into_views_that_are_kept_as_objects_is_refused() -> None:
    keeper = Keeper(Where, keeping="objects")
    keeper.take(pod("web"))

    with pytest.raises(InvalidArgument, match="view"):
        keeper.add_paths("status.phase")


def test_a_transform_changes_what_is_kept_and_not_its_key() -> None:
    """CCH-8, INF-C8: the key is that of the untransformed object; version tracking works on."""
    keeper = Keeper(Pod)

    def stripped(given: Pod) -> Pod:
        given.metadata.managed_fields = []
        given.metadata.name = "other"
        return given

    changed = keeper.transformed(keeper.take(realistic(1)), stripped)

    assert keeper.give(changed).metadata.managed_fields == []
    assert changed.key.name == "service-1-7d9c6b5f4d-00001"
    assert changed.version == "1000001"


@pytest.mark.parametrize("transform", [lambda _: None, lambda _: 1 / 0, lambda _: object()])
def test_a_transform_that_fails_is_an_error_with_the_key(transform: Any) -> None:
    """CCH-8: a transform that raises, gives nothing, or gives what cannot be kept."""
    keeper = Keeper(dict)

    with pytest.raises(TransformFailed, match="shop/web"):
        keeper.transformed(entry("web"), transform)
