"""Applies manifests of many objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import APIClient, ApplyErrors, apply_order, manifest_entries
from kubeloop.clients.manifests import served_versions
from kubeloop.errors import (
    AlreadyOwned,
    BadRequest,
    ConnectError,
    DecodeError,
    Forbidden,
    Invalid,
    InvalidArgument,
    StreamBroken,
    api_error,
    failure,
)
from kubeloop.meta import GroupVersion, set_controller
from kubeloop.wire import dump_yaml
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing.server.service import Service

from .conftest import CRD, Recorder

WEBSITE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "front", "namespace": "shop"},
    "spec": {"image": "a"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "shop"}}


def test_dependencies_come_first_and_the_rest_stays_in_order() -> None:
    order = apply_order(dict(enumerate([WEBSITE, MAP, CRD, NAMESPACE])))

    assert order == [3, 2, 0, 1]


def test_a_crd_says_where_it_will_be_served() -> None:
    assert served_versions(CRD) == [(GroupVersion("example.com", "v1"), "websites")]


async def test_a_manifest_in_the_wrong_order_is_applied_in_the_right_one(
    server: Service, client: APIClient
) -> None:
    applied = await client.apply(dump_yaml(WEBSITE, MAP, CRD, NAMESPACE), field_manager="me")

    kinds = [each["kind"] if isinstance(each, dict) else each.kind for each in applied]
    assert kinds == ["Website", "ConfigMap", "CustomResourceDefinition", "Namespace"]
    patched = [seen.resource for seen in server.faults.requests if seen.method == "PATCH"]
    assert patched == ["namespaces", "customresourcedefinitions", "websites", "configmaps"]
    found = await client.resource("example.com/v1", "Website", namespace="shop").get("front")
    assert found["metadata"]["managedFields"][0]["manager"] == "me"


async def test_an_equal_apply_is_sent_and_changes_nothing(
    client: APIClient, server: Service
) -> None:
    """Who owns a field is not in a cache, so no apply can be left out."""
    await client.apply(NAMESPACE)
    before = len([*server.faults.requests])

    applied = [await client.apply(MAP) for _ in range(3)]

    assert [seen.verb for seen in [*server.faults.requests][before:]] == ["patch"] * 3
    assert len({_version(each) for each in applied}) == 1


async def test_a_path_and_a_folder_are_read(client: APIClient, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(dump_yaml(MAP))
    (tmp_path / "a.yml").write_text(dump_yaml(NAMESPACE))
    (tmp_path / "notes.txt").write_text("not a manifest")

    assert len(await client.apply(tmp_path)) == 2
    assert len(await client.apply(str(tmp_path / "b.yaml"))) == 1
    for unreadable in (tmp_path / "gone.yaml", "a\0b.yaml"):
        with pytest.raises(InvalidArgument, match="cannot read it"):
            await client.apply(unreadable)
    with pytest.raises(DecodeError):
        await client.apply("kind: Pod\n")


async def test_one_object_comes_back_as_what_it_was(client: APIClient) -> None:
    one = await client.apply(ConfigMap(metadata=ObjectMeta(name="m"), data={"a": "b"}))
    plain = await client.apply({**MAP, "metadata": {"name": "n"}})

    assert (one.data, one.metadata.namespace) == ({"a": "b"}, "default")
    assert plain["metadata"]["namespace"] == "default"


async def test_a_namespace_is_for_objects_that_say_none(client: APIClient) -> None:
    await client.apply(Namespace(metadata=ObjectMeta(name="shop")))

    given, own = await client.apply(
        [
            ConfigMap(metadata=ObjectMeta(name="m")),
            {**MAP, "metadata": {"name": "n", "namespace": "default"}},
        ],
        namespace="shop",
    )

    assert isinstance(given, ConfigMap)
    assert isinstance(own, dict)
    assert (given.metadata.namespace, own["metadata"]["namespace"]) == ("shop", "default")


async def test_an_owner_becomes_the_controller_of_a_copy(client: APIClient) -> None:
    owner = await client.apply(ConfigMap(metadata=ObjectMeta(name="owner")))
    desired = ConfigMap(metadata=ObjectMeta(name="owned"))

    owned = await client.apply(desired, owner=owner)

    assert owned.metadata.owner_references[0].uid == owner.metadata.uid
    assert owned.metadata.owner_references[0].controller
    assert desired.metadata.owner_references == []


async def test_a_dry_run_waits_for_no_crd(client: APIClient) -> None:
    await client.apply(CRD, dry_run=True)

    assert not [
        each
        async for each in client.resource(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition"
        ).each()
    ]


@pytest.mark.parametrize("thing", [{}, {"kind": "Pod"}, {"apiVersion": "v1"}])
async def test_an_object_that_does_not_say_what_it_is_is_rejected(
    client: APIClient, thing: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        await client.apply(thing)


def _version(thing: Any) -> str:
    data = thing if isinstance(thing, dict) else thing.to_dict()
    return str(data["metadata"]["resourceVersion"])


def test_bytes_are_yaml_as_text_is() -> None:
    text = dump_yaml(WEBSITE, NAMESPACE)

    assert manifest_entries(text.encode()) == manifest_entries(text)
    assert [entry.source for entry in manifest_entries(text)] == [
        "YAML document 1",
        "YAML document 2",
    ]


@pytest.mark.parametrize("given", [None, 7, [None], ["v1"], [MAP, 7]])
def test_what_is_not_an_object_is_rejected_before_anything_is_sent(given: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"apply a (NoneType|int|str): expected an object"):
        manifest_entries(given)


# --- what cannot be read


def fault_in(given: Any) -> str:
    (entry,) = manifest_entries(given)
    assert isinstance(entry.content, InvalidArgument)
    return str(entry.content)


def test_text_is_yaml_and_words_are_paths(tmp_path: Path) -> None:
    assert (
        len(
            manifest_entries('{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}')
        )
        == 1
    )
    assert fault_in("manifests") == "apply manifests: cannot read it: No such file or directory"
    assert fault_in("a\0b.yaml").startswith("apply 'a\\x00b.yaml': cannot read it: ")
    assert fault_in(tmp_path) == (
        f"apply {tmp_path}: no manifest in this folder (expected .yaml, .yml, .json)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1 kind: Secret data: hunter2",
        "hunter2" * 2000,
        "stringData: hunter2 " * 2000,
    ],
)
def test_a_text_of_one_line_that_is_no_path_is_an_error_that_does_not_show_it(text: str) -> None:
    fault = fault_in(text)

    assert fault.startswith(f"apply a text of one line with {len(text)} characters: cannot read it")
    assert fault.endswith("(a manifest must end with a newline, or it counts as a path)")
    assert "hunter2" not in fault


async def test_a_long_text_of_one_line_is_a_kubeloop_error_and_nothing_is_sent(
    server: Service, client: APIClient
) -> None:
    server.faults.clear_record()

    with pytest.raises(InvalidArgument, match="a text of one line"):
        await client.apply("apiVersion: v1 kind: ConfigMap " * 500)

    assert not server.faults.requests


@pytest.mark.parametrize("content", [dump_yaml(KUSTOMIZATION), "resources: [map.yaml]\n"])
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_says_what_to_do(tmp_path: Path, name: str, content: str) -> None:
    folder = tmp_path / "my shop"
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / "map.yaml").write_text(dump_yaml(MAP))

    for given in (folder, folder / name):
        assert fault_in(given) == (
            f"apply {given}: a kustomization must be built first"
            f" (kubectl kustomize '{folder}' | kubeloop apply -f -)"
        )


def test_a_kustomization_among_other_documents_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(dump_yaml(KUSTOMIZATION))

    assert "kubectl kustomize DIR | kubeloop apply -f -" in fault_in(tmp_path / "all.yaml")


def test_a_folder_of_manifests_may_be_called_as_a_kustomization(tmp_path: Path) -> None:
    (tmp_path / "Kustomization").mkdir()
    (tmp_path / "map.yaml").write_text(dump_yaml(MAP))

    [entry] = manifest_entries(tmp_path)

    assert isinstance(entry.content, ConfigMap)


def test_a_file_that_cannot_be_read_does_not_keep_the_others_back(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").mkdir()
    (tmp_path / "b.yaml").symlink_to(tmp_path / "gone")
    (tmp_path / "c.yaml").write_text("kind: [")
    (tmp_path / "d.yaml").write_text(dump_yaml(MAP))

    *faults, good = manifest_entries(tmp_path)

    assert isinstance(good.content, ConfigMap)
    assert [str(fault.content).split(": ")[0] for fault in faults] == [
        f"apply {tmp_path}/a.yaml",
        f"apply {tmp_path}/b.yaml",
        f"{tmp_path}/c.yaml, line 2, column 1",
    ]


BAD: list[Any] = [
    {},
    {"apiVersion": "v1"},
    {"apiVersion": ["v1"], "kind": "Pod"},
    {"apiVersion": "v1", "kind": {"a": 1}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": 5},
    {"apiVersion": "v1", "kind": "Pod", "metadata": []},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a"}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}},
    Namespace(),
]


async def test_objects_that_do_not_say_what_they_are_are_named_one_by_one(
    client: APIClient,
) -> None:
    with pytest.raises(ApplyErrors) as caught:
        await client.apply([*BAD, {**MAP, "metadata": {"name": "good"}}])

    head, *lines = str(caught.value).splitlines()
    assert head == f"apply: {len(BAD)} errors, 1 of {len(BAD) + 1} objects applied:"
    assert [line.partition(":")[0] for line in lines] == [
        f"apply object {number}" for number in range(1, len(BAD) + 1)
    ]
    assert await client.resource(ConfigMap).exists("good")


@pytest.mark.parametrize(
    "metadata",
    [{"namespace": 5}, {"namespace": ["a"]}, {"namespace": {}, "ownerReferences": 5}]
    + [{"ownerReferences": value} for value in (5, "ab", [None], [["a"]], {"a": 1})],
)
async def test_metadata_of_the_wrong_type_is_a_kubeloop_error(
    client: APIClient, metadata: dict[str, Any]
) -> None:
    owner = await client.apply(ConfigMap(metadata=ObjectMeta(name="owner")))

    with pytest.raises((InvalidArgument, BadRequest)):
        await client.apply({**MAP, "metadata": {"name": "a", **metadata}}, owner=owner)


# --- several faults


NO_OBJECT = "[1, 2]"
WRONG_TYPE = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: 5}"
UNKNOWN = "{apiVersion: example.com/v1, kind: Nothing, metadata: {name: c}}"
REFUSED = "{apiVersion: v1, kind: ConfigMap, metadata: {name: Not A Name}}"


async def test_every_fault_is_reported_and_what_is_good_is_applied(client: APIClient) -> None:
    good = [dump_yaml({**MAP, "metadata": {"name": name}}) for name in ("a", "z")]
    text = "---\n".join(
        f"{each}\n" for each in (good[0], NO_OBJECT, WRONG_TYPE, UNKNOWN, REFUSED, good[1])
    )

    with pytest.raises(ApplyErrors) as caught:
        await client.apply(text)

    error = caught.value
    assert [_name(each) for each in error.applied] == ["a", "z"]
    assert [type(each) for each in error.errors[:2]] == [DecodeError, DecodeError]
    assert isinstance(error.errors[3], Invalid)
    head, *lines = str(error).splitlines()
    assert head == "apply: 4 errors, 2 of 6 objects applied:"
    assert [line.split(":")[0] for line in lines[:2]] == ["YAML document 2", "YAML document 3"]
    assert len(lines) == 4
    assert {each.metadata.name for each in await client.resource(ConfigMap).list()} >= {"a", "z"}


async def test_a_single_fault_of_a_single_object_is_raised_itself(client: APIClient) -> None:
    with pytest.raises(Invalid):
        await client.apply(REFUSED)
    with pytest.raises(DecodeError, match="YAML document 1: expected an object"):
        await client.apply(NO_OBJECT + "\n")


async def test_json_documents_that_follow_each_other_are_applied(client: APIClient) -> None:
    text = "".join(
        f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}}}}' for name in "ab"
    )

    assert [_name(each) for each in await client.apply(text)] == ["a", "b"]


async def test_a_server_that_cannot_be_reached_is_not_tried_for_each_object() -> None:
    recorder = Recorder({**MAP, "metadata": {"name": "a"}}, StreamBroken("cut"))
    things = [{**MAP, "metadata": {"name": name}} for name in "abcd"]

    with pytest.raises(ApplyErrors, match="1 error, 1 of 4 objects applied:\ncut") as caught:
        await recorder.client.apply(things)
    assert (len(recorder.requests), len(caught.value.applied)) == (2, 1)

    recorder = Recorder(ConnectError("refused"))
    with pytest.raises(ConnectError):  # there is nothing else to say
        await recorder.client.apply(things)


async def test_a_namespace_that_is_forbidden_does_not_keep_the_rest_back() -> None:
    forbidden = api_error("PATCH namespaces/shop", failure("Forbidden", "no"))
    recorder = Recorder(forbidden, MAP)

    with pytest.raises(ApplyErrors) as caught:
        await recorder.client.apply([MAP, NAMESPACE])

    assert [type(each) for each in caught.value.errors] == [Forbidden]
    assert [_name(each) for each in caught.value.applied] == ["m"]


async def test_an_object_with_another_owner_is_one_fault_among_others(client: APIClient) -> None:
    owner = await client.apply(ConfigMap(metadata=ObjectMeta(name="owner")))
    other = await client.apply(ConfigMap(metadata=ObjectMeta(name="other")))
    owned = ConfigMap(metadata=ObjectMeta(name="owned", namespace="default"))
    set_controller(owned, other)

    with pytest.raises(ApplyErrors) as caught:
        await client.apply([owned, ConfigMap(metadata=ObjectMeta(name="free"))], owner=owner)

    assert [type(each) for each in caught.value.errors] == [AlreadyOwned]
    assert [_name(each) for each in caught.value.applied] == ["free"]


def _name(thing: Any) -> str:
    data = thing if isinstance(thing, dict) else thing.to_dict()
    return str(data["metadata"]["name"])
