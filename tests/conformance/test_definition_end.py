"""Deletion of a custom kind: its definition is removed after its objects."""

from __future__ import annotations

from tests.conformance.raw_client import RawClient
from tests.conformance.widgets import define

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


async def test_a_deleted_definition_has_a_finalizer(api: RawClient) -> None:
    gadgets = await define(api)
    body = gadgets.new("a", spec={"size": 1})
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(api.at(gadgets.resource), body)
    before = await api.get(gadgets.path)

    await api("DELETE", gadgets.path)

    after = await api.get(gadgets.path)
    assert "finalizers" not in before.meta
    assert after.meta["finalizers"] == [CLEANUP]


async def test_no_object_of_a_terminating_kind_can_be_created(api: RawClient) -> None:
    gadgets = await define(api)
    body = gadgets.new("a", spec={"size": 1})
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await api.create(api.at(gadgets.resource), body)
    async with api.watch(api.at(gadgets.resource), resourceVersion="0") as watch:
        await api("DELETE", gadgets.path)
        await watch.until(("MODIFIED", "a"))  # its objects are being deleted

        reply = await api("POST", api.at(gadgets.resource), gadgets.new("b", spec={"size": 1}))

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert "create not allowed while custom resource definition is terminating" in reply.message
