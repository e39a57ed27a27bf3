"""Reviews that no API server sends: each gets a response, or an error with a reason."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any, Self

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.kit import running
from kubeloop.patches import apply_json_patch
from kubeloop.runtime import AdmissionRequest, WebhookServer
from kubeloop.wire.core.v1 import ConfigMap

from .test_admission import OldWebsite, a_conversion_review, a_review, an_old_site, to_new
from .websites import Website

HOOKS = [
    "/validate-example-com-v1-website",
    "/mutate-example-com-v1-website",
    "/validate--v1-configmap",
    "/mutate--v1-configmap",
    "/convert",
]


class Running:
    """A webhook server in another thread, and a plain connection to it."""

    def __init__(self) -> None:
        self.webhooks = webhooks = WebhookServer("127.0.0.1:0")

        @webhooks.mutate(Website)
        def mutate(site: Website, request: AdmissionRequest[Website]) -> None:
            request.warn(f"{request.key}")
            site.metadata.labels["seen"] = "yes"
            site.spec.replicas += 1

        @webhooks.mutate(ConfigMap)
        async def change(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> ConfigMap:
            config.data["seen"] = "yes"
            return config

        @webhooks.validate(Website)
        def check(site: Website, request: AdmissionRequest[Website]) -> None: ...

        @webhooks.validate(ConfigMap)
        def look(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None: ...

        webhooks.convert(OldWebsite, Website)(to_new)
        self._begun = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()])

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        async with running(self.webhooks):
            host, _, port = (await self.webhooks.address()).partition(":")
            self.connection = HTTPConnection(host, int(port))
            self._begun.set()
            await self._stop.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        self._begun.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    def send(self, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        self.connection.request("POST", path, body, headers)
        reply = self.connection.getresponse()
        return reply.status, reply.read()


@pytest.fixture(scope="module")
def hooks() -> Iterator[Running]:
    with Running() as running_hooks:
        yield running_hooks


@pytest.mark.parametrize("metadata", [5, [], "x", {"name": 5}, {"labels": {"a": 1}}, True])
@pytest.mark.parametrize("where", ["object", "oldObject"])
def test_invalid_metadata_is_rejected(hooks: Running, metadata: Any, where: str) -> None:
    odd = {"metadata": metadata, "spec": {}}

    status, body = hooks.send(HOOKS[0], a_review(**{where: odd}))

    assert status == 400
    assert body.startswith(b"admission review: the ")
    assert b"is not an object of the API: Expected" in body


@pytest.mark.parametrize("metadata", [5, [], {"name": 5}, {"annotations": "x"}])
def test_an_object_with_invalid_metadata_is_not_converted(hooks: Running, metadata: Any) -> None:
    before = hooks.webhooks.stats()

    status, body = hooks.send(
        "/convert", a_conversion_review(an_old_site(), {"metadata": metadata})
    )

    assert status == 400
    assert b"conversion review: the object is not an object of the API" in body
    assert hooks.webhooks.stats() == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_a_review_by_another_method_reaches_no_function(hooks: Running, method: str) -> None:
    before = hooks.webhooks.stats()

    hooks.connection.request(method, HOOKS[1], a_review())
    reply = hooks.connection.getresponse()
    reply.read()

    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
    assert hooks.webhooks.stats() == before


# --- arbitrary bodies

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, -(2**64), 10**40, 1e308, 0.1, -0.0]),
    st.text(max_size=8),
    st.sampled_from(["\ud800", "\udfff\ud800", "\x00", "\u202e", "9" * 400, "../..", "null"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=4), st.none() | st.integers() | st.text(), max_size=2),
)
REVIEWS = [
    a_review(),
    a_review(operation="UPDATE", oldObject=json.loads(a_review())["request"]["object"]),
    a_review(object={"metadata": {"name": "one", "generateName": "o"}, "data": {"a": "b"}}),
    a_review(operation="DELETE", object=None, oldObject={"metadata": {}, "data": None}),
    a_conversion_review(an_old_site(), an_old_site()),
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(child, (*path, key))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy


@st.composite
def odd_reviews(draw: st.DrawFn) -> bytes:
    """A review of which some fields are replaced, missing, or duplicated."""
    review = json.loads(draw(st.sampled_from(REVIEWS)))
    depth = draw(st.sampled_from([0, 3, 4]))  # deep inside, the review itself stays one
    for _ in range(draw(st.integers(1, 3))):
        places = [path for path in _places(review) if len(path) >= depth] or [()]
        review = _with(review, draw(st.sampled_from(places)), draw(ODD))
    body = json.dumps(review).encode()
    match draw(st.integers(0, 9)):
        case 0:
            return body[: draw(st.integers(0, len(body)))]
        case 1:
            at = draw(st.integers(0, len(body)))
            return body[:at] + draw(st.binary(max_size=4)) + body[at:]
        case 2:
            return body.replace(b'"object"', b'"object": 1, "object"')
    return body


ANY_REVIEW = st.one_of(*[odd_reviews()] * 5, st.binary(max_size=60))


@settings(max_examples=400, deadline=None)
@given(path=st.sampled_from(HOOKS), body=ANY_REVIEW)
def test_every_body_gets_a_response_or_an_error_with_a_reason(
    hooks: Running, path: str, body: bytes
) -> None:
    before = hooks.webhooks.stats()

    status, reply = hooks.send(path, body)

    assert status in {200, 400}, reply
    if status == 400:
        assert b"review: " in reply
        assert hooks.webhooks.stats() == before
    else:
        _check_response(json.loads(body), msgspec.json.decode(reply)["response"])


def _check_response(review: Any, response: Any) -> None:
    """The response has the uid of the request, and its patch applies to the object."""
    assert response["uid"] == review["request"]["uid"]
    if "allowed" not in response:  # a conversion
        assert response["result"]["status"] in {"Success", "Failure"}
        return
    assert "the webhook failed" not in response.get("status", {}).get("message", "")
    if "patch" in response:
        about = review["request"].get("object")
        patch = json.loads(base64.b64decode(response["patch"]))
        apply_json_patch(about if about is not None else review["request"]["oldObject"], patch)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"not gzip", {"Content-Encoding": "gzip"}),
        (b"not deflate", {"Content-Encoding": "deflate"}),
        (b"[" * 100_000, {}),
        (b'{"request": ' * 100_000, {}),
        (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", {}),
        (a_review(object={"spec": json.loads("[" * 900 + "]" * 900)}), {}),
        (a_review(), {"Content-Type": "text/plain; charset=nonsense"}),
    ],
    ids=["gzip", "deflate", "brackets", "requests", "deep", "deep object", "charset"],
)
def test_unusual_encodings_and_depths_get_a_response(
    hooks: Running, body: bytes, headers: dict[str, str]
) -> None:
    status, _ = hooks.send(HOOKS[1], body, **headers)

    assert status in {200, 400}
