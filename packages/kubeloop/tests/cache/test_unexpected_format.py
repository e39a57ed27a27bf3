"""A cache never syncs empty because of a response that it cannot read at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.cache import ReflectorState
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.rest import IncomingResponse, JsonCodec, Request, RESTClient, SendRequest
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing import APIServer
from tests.support.scripted_server import client_for, eventually, serving

PROTOBUF = "application/vnd.kubernetes.protobuf"


class OddCodec:
    """JSON in requests, and another format in responses."""

    content_type = "application/json"

    def __init__(self, accept: str) -> None:
        self.accept = accept
        self._json = JsonCodec()
        self.encode, self.decode, self.events = (
            self._json.encode,
            self._json.decode,
            self._json.events,
        )

    def reads(self, media_type: str) -> bool:
        return self._json.reads(media_type) or media_type == PROTOBUF


@pytest.mark.parametrize(
    "accept",
    [
        PROTOBUF,
        f"{PROTOBUF}, application/json",
        f"application/json, {PROTOBUF};q=0.1",
        "application/yaml",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json, application/json; as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ],
)
async def test_a_client_refuses_a_codec_that_requests_another_format(accept: str) -> None:
    async with serving() as server, client_for(server, codec=OddCodec(accept)) as rest:
        with pytest.raises(InvalidArgument, match="read and write JSON"):
            Client(rest=rest)


@pytest.mark.parametrize("accept", ["", "application/json", "*/*", "application/json;q=1, */*"])
async def test_a_client_accepts_a_codec_for_json(accept: str) -> None:
    async with serving() as server, client_for(server, codec=OddCodec(accept)) as rest:
        assert Client(rest=rest).rest is rest


def requesting(accept: str, *, streams: bool) -> Any:
    """A hook that requests another format than the client, as a proxy might."""

    async def hook(request: Request, send: SendRequest) -> IncomingResponse:
        if not streams and ("sendInitialEvents", "true") in request.params:
            request = request.replace(params=(("sendInitialEvents", "no"),))  # rejected
        return await send(request.replace(accept=accept))

    return hook


@pytest.mark.parametrize("streams", [True, False], ids=["streams", "lists"])
@pytest.mark.parametrize("accept", [PROTOBUF, "application/json;as=Table;g=meta.k8s.io;v=v1"])
async def test_an_informer_does_not_sync_with_what_it_cannot_read(
    accept: str, streams: bool
) -> None:
    async with APIServer() as server:
        async with server.client() as client:
            for name in ("a", "b"):
                await client.apply(
                    ConfigMap.from_dict({"metadata": {"name": name, "namespace": "default"}})
                )
        hooks = [requesting(accept, streams=streams)]
        async with RESTClient(server.config, hooks=hooks, clock=ManualClock()) as rest:
            informer = Client(rest=rest).informer(ConfigMap, namespace="default")
            task = asyncio.create_task(informer.run())
            await eventually(lambda: informer.stats().reflector.state is ReflectorState.WAITING)
            stats = informer.stats().reflector
            task.cancel()
            await asyncio.wait([task])

    assert (stats.version, len(informer.lister)) == ("", 0)
    assert not informer.has_synced
