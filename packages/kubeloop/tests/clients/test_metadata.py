"""Metadata alone."""

from __future__ import annotations

import sys

import msgspec
import pytest

from kubeloop.clients import PartialObjectMetadata
from kubeloop.clients.metadata import MetadataCodec
from kubeloop.errors import DecodeError
from kubeloop.wire.core.v1 import Pod

from .conftest import Recorder

METADATA = {"name": "web", "uid": "u", "creationTimestamp": "2030-01-01T00:00:00Z"}


async def test_the_server_is_asked_for_metadata_only() -> None:
    """DYN-11: as JSON, the only format."""
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    recorder = Recorder(
        partial | {"metadata": METADATA}, {"items": []}, partial | {"metadata": METADATA}
    )
    pods = recorder.client.metadata(Pod, namespace="shop")

    found = await pods.get("web")
    assert isinstance(found, PartialObjectMetadata)
    assert recorder.last.accept == (
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
    )
    await pods.list()
    assert recorder.last.accept == (
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    )
    await pods.patch("web", {"metadata": {"labels": {"a": "b"}}}, type="merge")
    assert "as=PartialObjectMetadata;" in recorder.last.accept


async def test_a_full_object_gives_its_metadata() -> None:
    """DYN-12, DYN-C8: a server that sends whole objects."""
    recorder = Recorder({"kind": "Pod", "apiVersion": "v1", "metadata": METADATA, "spec": {"a": 1}})

    found = await recorder.client.metadata(Pod, namespace="shop").get("web")

    assert found.metadata.name == "web"
    assert found.to_dict()["kind"] == "PartialObjectMetadata"


async def test_what_does_not_look_like_an_object_is_rejected() -> None:
    """DYN-12: if the server returns a full object instead, it is decoded as partial metadata."""
    recorder = Recorder({"kind": "Pod", "metadata": {"name": "web"}})

    with pytest.raises(DecodeError, match="not an object"):
        await recorder.client.metadata(Pod, namespace="shop").get("web")


async def test_deleting_sends_json() -> None:
    """DYN-13; there is no create and no update."""
    recorder = Recorder()
    pods = recorder.client.metadata(Pod, namespace="shop")

    await pods.delete("web", expected_uid="u")
    await pods.delete_collection(selector="a=b")

    assert recorder.body["kind"] == "DeleteOptions"
    assert not hasattr(pods, "create")
    assert not hasattr(pods, "update")


def test_metadata_keeps_nothing_of_the_text_that_it_was_decoded_from() -> None:
    managed = [{"manager": "m", "operation": "Update", "fieldsV1": {"f:spec": {}}}]
    text = msgspec.json.encode(
        {"spec": "x" * 1000, "metadata": METADATA | {"managedFields": managed}}
    )
    references = sys.getrefcount(text)

    found = MetadataCodec().decode_item(text, None)

    assert found.metadata.managed_fields[0].manager == "m"
    assert sys.getrefcount(text) == references


def test_fields_of_metadata_that_are_not_known_are_kept() -> None:
    text = msgspec.json.encode({"kind": "Pod", "metadata": METADATA | {"zzNew": 1}, "spec": {}})

    found = MetadataCodec().decode_item(text, None)

    assert found.to_dict()["metadata"]["zzNew"] == 1
