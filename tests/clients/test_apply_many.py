"""Applying many objects at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import Client
from kubeloop.clients.applying import in_order, objects_in, served_versions
from kubeloop.machinery import DecodeError, GroupVersion, InvalidValue
from kubeloop.testing.server.service import Service
from kubeloop.wire import dump_yaml
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.meta.v1 import ObjectMeta

from .conftest import CRD

WEBSITE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "front", "namespace": "shop"},
    "spec": {"image": "a"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "shop"}}


def test_what_others_stand_on_comes_first_and_the_rest_stays_in_order() -> None:
    order = in_order([WEBSITE, MAP, CRD, NAMESPACE])

    assert order == [3, 2, 0, 1]


def test_a_crd_says_where_it_will_be_served() -> None:
    assert served_versions(CRD) == [(GroupVersion("example.com", "v1"), "websites")]


async def test_a_manifest_in_the_wrong_order_is_applied_in_the_right_one(
    server: Service, client: Client
) -> None:
    applied = await client.apply(dump_yaml(WEBSITE, MAP, CRD, NAMESPACE), field_manager="me")

    kinds = [each["kind"] if isinstance(each, dict) else each.kind for each in applied]
    assert kinds == ["Website", "ConfigMap", "CustomResourceDefinition", "Namespace"]
    patched = [seen.resource for seen in server.faults.requests if seen.method == "PATCH"]
    assert patched == ["namespaces", "customresourcedefinitions", "websites", "configmaps"]
    found = await client.resource("example.com/v1", "Website", namespace="shop").get("front")
    assert found["metadata"]["managedFields"][0]["manager"] == "me"


async def test_applying_again_changes_nothing(client: Client) -> None:
    await client.apply(NAMESPACE)

    first = await client.apply([MAP])
    second = await client.apply([MAP])

    assert [_version(each) for each in first] == [_version(each) for each in second]


async def test_a_path_and_a_folder_are_read(client: Client, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(dump_yaml(MAP))
    (tmp_path / "a.yml").write_text(dump_yaml(NAMESPACE))
    (tmp_path / "notes.txt").write_text("not a manifest")

    assert len(await client.apply(tmp_path)) == 2
    assert len(await client.apply(str(tmp_path / "b.yaml"))) == 1
    for unreadable in (tmp_path / "gone.yaml", "a\0b.yaml"):
        with pytest.raises(InvalidValue, match="cannot be read"):
            await client.apply(unreadable)
    with pytest.raises(DecodeError):
        await client.apply("kind: Pod\n")


async def test_one_object_comes_back_as_what_it_was(client: Client) -> None:
    one = await client.apply(ConfigMap(metadata=ObjectMeta(name="m"), data={"a": "b"}))
    plain = await client.apply({**MAP, "metadata": {"name": "n"}})

    assert (one.data, one.metadata.namespace) == ({"a": "b"}, "default")
    assert plain["metadata"]["namespace"] == "default"


async def test_a_namespace_is_for_objects_that_say_none(client: Client) -> None:
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


async def test_an_owner_becomes_the_controller_of_a_copy(client: Client) -> None:
    owner = await client.apply(ConfigMap(metadata=ObjectMeta(name="owner")))
    wish = ConfigMap(metadata=ObjectMeta(name="owned"))

    owned = await client.apply(wish, owner=owner)

    assert owned.metadata.owner_references[0].uid == owner.metadata.uid
    assert owned.metadata.owner_references[0].controller
    assert wish.metadata.owner_references == []


async def test_a_dry_run_waits_for_no_crd(client: Client) -> None:
    await client.apply(CRD, dry_run=True)

    assert not [
        each
        async for each in client.resource(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition"
        ).each()
    ]


@pytest.mark.parametrize("thing", [{}, {"kind": "Pod"}, {"apiVersion": "v1"}])
async def test_an_object_that_does_not_say_what_it_is_is_refused(
    client: Client, thing: dict[str, Any]
) -> None:
    with pytest.raises(InvalidValue):
        await client.apply(thing)


def test_text_is_yaml_and_words_are_paths(tmp_path: Path) -> None:
    assert objects_in('{"apiVersion": "v1", "kind": "ConfigMap"}') != []
    with pytest.raises(InvalidValue, match="manifests"):
        objects_in("manifests")


def _version(thing: Any) -> str:
    data = thing if isinstance(thing, dict) else thing.to_dict()
    return str(data["metadata"]["resourceVersion"])


def test_bytes_are_yaml_as_text_is() -> None:
    assert objects_in(dump_yaml(WEBSITE, NAMESPACE).encode(), kinds=()) == objects_in(
        dump_yaml(WEBSITE, NAMESPACE)
    )


@pytest.mark.parametrize("given", [None, 7, [None], ["v1"]])
def test_what_is_no_object_is_refused_before_anything_is_sent(given: Any) -> None:
    with pytest.raises(InvalidValue, match=r"apply a (NoneType|int|str): expected an object"):
        objects_in(given)
