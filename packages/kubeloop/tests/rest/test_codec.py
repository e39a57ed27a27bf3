"""Codecs: from values to bytes, and back."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.rest import Codec, JsonCodec, path_request, resource_request
from kubeloop.rest.codec import media_type_of
from kubeloop.wire import RawEvent, split_event
from kubeloop.wire.core.v1 import Pod
from tests.support.scripted_server import PODS, ScriptedServer, chunked, client_for, reply

T = TypeVar("T")


def test_json_is_asked_for_first_and_anything_second() -> None:
    """REST-44: accept header: `AcceptContentTypes` verbatim if set, else `<ContentType>, */*`."""
    assert JsonCodec().accept == "application/json, */*"
    assert JsonCodec().content_type == "application/json"


def test_models_and_plain_data_are_encoded_alike() -> None:
    """REST-23: an API object is encoded and its type set."""
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}

    assert json.loads(JsonCodec().encode(data)) == data
    assert json.loads(JsonCodec().encode(Pod.from_dict(data))) == data


def test_what_json_cannot_say_is_rejected() -> None:
    """REST-23: body accepts: string = path of a file to read."""
    with pytest.raises(InvalidArgument, match="cannot encode a body of type dict"):
        JsonCodec().encode({"a": object()})


@pytest.mark.parametrize(
    ("media_type", "reads"),
    [
        ("application/json", True),
        ("application/merge-patch+json", True),
        ("text/html", False),
        ("application/vnd.kubernetes.protobuf", False),
    ],
)
def test_the_codec_says_what_it_reads(media_type: str, reads: bool) -> None:
    """REST-47: response decoding uses the response Content-Type."""
    assert JsonCodec().reads(media_type) is reads


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("application/json", "application/json"),
        ("Application/JSON; charset=utf-8", "application/json"),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", "application/json"),
        ("", ""),
        ("text", "text"),
    ],
)
def test_a_media_type_precedes_its_parameters(header: str, found: str) -> None:
    """REST-47: response decoding uses the response Content-Type."""
    assert media_type_of(header) == found


@pytest.mark.parametrize("header", ["/", "a/", ";x=y", "a b", "a/b/c", "é/x"])
def test_what_is_not_a_media_type_is_rejected(header: str) -> None:
    """REST-47: response decoding uses the response Content-Type."""
    with pytest.raises(DecodeError):
        media_type_of(header)


class LengthFrames:
    """Frames that begin with their length, as those of protobuf do."""

    def __init__(self) -> None:
        self._held = b""
        self.mistake: DecodeError | None = None

    def feed(self, chunk: bytes) -> list[RawEvent]:
        self._held += chunk
        found = []
        while len(self._held) >= 4:
            size = int.from_bytes(self._held[:4], "big")
            if len(self._held) < 4 + size:
                break
            found.append(split_event(self._held[4 : 4 + size]))
            self._held = self._held[4 + size :]
        return found

    def close(self) -> bool:
        return not self._held


class OtherCodec:
    """JSON under another media type."""

    content_type = "application/vnd.other"
    accept = "application/vnd.other,application/json"

    def reads(self, media_type: str) -> bool:
        return media_type in {self.content_type, "application/json"}

    def encode(self, value: Any) -> bytes:
        return b"magic" + json.dumps(value).encode()

    def decode(self, type_: type[T], body: bytes) -> T:
        return JsonCodec().decode(type_, body.removeprefix(b"magic"))

    def events(self) -> LengthFrames:
        return LengthFrames()


async def test_a_codec_decides_media_types_decoding_and_framing_of_a_rest_client(
    server: ScriptedServer,
) -> None:
    """REST-45, REST-46, REST-50, REST-69: typed built-in clients prefer protobuf."""
    codec: Codec = OtherCodec()
    event = b'{"type":"ADDED","object":{}}'
    server.respond(
        reply(200, b'magic{"a":1}', content_type="application/vnd.other"),
        chunked(b"\0\0", b"\0\x1c" + event[:5], event[5:] + b"\0\0\0\x1c" + event),
    )
    async with client_for(server, codec=codec) as rest:
        answer = await rest.send(path_request("POST", "/x", body=codec.encode({"b": 2})))
        async with rest.watch(resource_request("watch", PODS)) as watch:
            types = [each.type async for each in watch]

    assert answer.decode(dict) == {"a": 1}
    assert types == ["ADDED", "ADDED"]
    assert server.received[0].header("Accept") == "application/vnd.other,application/json"
    assert server.received[0].header("Content-Type") == "application/vnd.other"
    assert server.received[0].body == b'magic{"b": 2}'


async def test_a_415_is_a_response_and_nothing_falls_back(server: ScriptedServer) -> None:
    """REST-48, REST-49: there is NO automatic fallback for protobuf on 406 or 415."""
    server.respond(reply(415))
    async with client_for(server, codec=OtherCodec()) as rest:
        for _ in range(2):
            with pytest.raises(Exception, match="415 UnsupportedMediaType"):
                await rest.send(path_request("POST", "/x", body=b""))

    assert {received.header("Content-Type") for received in server.received} == {
        "application/vnd.other"
    }
