"""An HTTP client for the tests, which returns the responses of an API server unchanged.

Guarantees: uses no client of kubeloop; never retries and never interprets a response. With
`reads_protobuf` it requests protobuf wherever a test names no format; `Response.body` and events
have the same data as JSON would have.
See also: the servers (`servers`), the objects that are sent (`samples`).
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, final

import aiohttp
import msgspec
from multidict import CIMultiDictProxy
from yarl import URL

from kubeloop.wire.protobuf_codec import (
    message_reader,
    open_envelope,
    split_protobuf_event,
)

__all__ = [
    "APPLY",
    "JSON",
    "JSON_PATCH",
    "MERGE",
    "PROTOBUF",
    "STRATEGIC",
    "RawClient",
    "Response",
    "Watch",
    "data_in",
]

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_LARGE = 1024 * 1024  # bytes; aiohttp expects a larger body as a file
_TIMEOUT = 15.0  # seconds for an event that must come
# What client-go sends for built-in kinds: those without protobuf come as JSON.
_BOTH = f"{PROTOBUF},{JSON}"


def data_in(body: bytes) -> dict[str, Any]:
    """The JSON data of an object or a list in an envelope of protobuf."""
    found = open_envelope(body)
    data = message_reader(dict, api_version=found.api_version, kind=found.kind)
    object_ = {"kind": found.kind, "apiVersion": found.api_version, **data.decode(found.message)}
    if not found.api_version:
        del object_["apiVersion"]  # the resources of the core group
    if found.kind.endswith("List"):
        object_.setdefault("items", [])  # JSON always has them
    return object_


@final
class Response:
    """The code, the headers and the body of a response."""

    def __init__(self, code: int, headers: CIMultiDictProxy[str], raw: bytes) -> None:
        self.code = code
        self.headers = headers
        self.raw = raw

    @property
    def is_protobuf(self) -> bool:
        return self.headers.get("Content-Type", "").startswith(PROTOBUF)

    @property
    def body(self) -> Any:
        return data_in(self.raw) if self.is_protobuf else msgspec.json.decode(self.raw)

    @property
    def meta(self) -> dict[str, Any]:
        return dict(self.body.get("metadata") or {})

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.body.get("spec") or {})

    @property
    def items(self) -> list[dict[str, Any]]:
        return list(self.body["items"] or [])

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.items]

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def details(self) -> dict[str, Any]:
        return dict(self.body.get("details") or {})

    @property
    def causes(self) -> list[tuple[str, str]]:
        """Field and reason of every cause, sorted: the server guarantees no order."""
        causes = self.details.get("causes", [])
        return sorted((each.get("field", ""), each.get("reason", "")) for each in causes)

    @property
    def warnings(self) -> list[str]:
        """The texts of the Warning headers, without code, agent and quotes."""
        found = [text.split(" ", 2)[2] for text in self.headers.getall("Warning", [])]
        return [text[1:-1].replace('\\"', '"').replace("\\\\", "\\") for text in found]

    def __repr__(self) -> str:
        return f"Response({self.code}, {self.raw[:1500].decode(errors='replace')})"


@final
class Watch:
    """A running watch, read one event at a time."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.code = response.status
        self._response = response
        self._is_protobuf = response.headers.get("Content-Type", "").startswith(PROTOBUF)

    async def next(self) -> dict[str, Any]:
        """The next event; an error if none comes in time."""
        async with asyncio.timeout(_TIMEOUT):
            event = await self._next()
        assert event is not None, "the watch has ended"
        return event

    async def _next(self) -> dict[str, Any] | None:
        """The next event; None at the end."""
        content = self._response.content
        if not self._is_protobuf:
            line = await content.readline()
            event: dict[str, Any] | None = msgspec.json.decode(line) if line else None
            return event
        try:
            size = int.from_bytes(await content.readexactly(4), "big")
        except asyncio.IncompleteReadError as end:
            if end.partial:
                raise  # within a frame
            return None
        type_, message = split_protobuf_event(await content.readexactly(size))
        return {"type": type_, "object": data_in(message)}

    async def take(self, count: int) -> list[dict[str, Any]]:
        return [await self.next() for _ in range(count)]

    async def until(self, *expected: tuple[str, str], within: float = 45.0) -> list[dict[str, Any]]:
        """All events until every expected type and name has been seen.

        With a long deadline, because controllers may take their time.
        """
        seen: list[dict[str, Any]] = []
        left = set(expected)
        async with asyncio.timeout(within):
            while left:
                event = await self._next()
                assert event is not None, f"the watch has ended before {sorted(left)}"
                seen.append(event)
                left.discard((seen[-1]["type"], seen[-1]["object"]["metadata"].get("name", "")))
        return seen

    async def types_and_names(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        return [
            (event["type"], event["object"]["metadata"].get("name", ""))
            for event in await self.take(count)
        ]

    async def rest(self) -> list[dict[str, Any]]:
        """Every event until the server ends the watch."""
        found = []
        async with asyncio.timeout(_TIMEOUT):
            while (event := await self._next()) is not None:
                found.append(event)
        return found


@final
class RawClient:
    """Sends requests to one server, with a default namespace.

    In paths and queries `{ns}` is replaced by the namespace. `as_user` and `as_groups`
    impersonate. With `reads_protobuf` a request without an `Accept` header has one.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        namespace: str,
        *,
        reads_protobuf: bool = False,
    ) -> None:
        self._session = session
        self.url = url
        self.namespace = namespace
        self._reads_protobuf = reads_protobuf

    def reading(self, format_: str) -> RawClient:
        """The same client with another format: "json" or "protobuf"."""
        return RawClient(
            self._session, self.url, self.namespace, reads_protobuf=format_ == "protobuf"
        )

    def in_namespace(self, namespace: str) -> RawClient:
        """The same client with another default namespace."""
        return RawClient(self._session, self.url, namespace, reads_protobuf=self._reads_protobuf)

    def at(self, resource: str, *rest: str) -> str:
        """The path of `configmaps` or `apps/v1/deployments` in the namespace."""
        *version, plural = resource.split("/")
        root = f"/apis/{'/'.join(version)}" if version else "/api/v1"
        return "/".join([f"{root}/namespaces/{self.namespace}/{plural}", *rest])

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        as_user: str = "",
        as_groups: tuple[str, ...] = (),
        allow_redirects: bool = True,
    ) -> Response:
        request = self._request(
            method,
            path,
            body,
            query=query,
            headers=headers,
            user=as_user,
            groups=as_groups,
            allow_redirects=allow_redirects,
        )
        async with request as response:
            return Response(response.status, response.headers, await response.read())

    def _request(
        self,
        method: str,
        path: str,
        body: Any,
        *,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        user: str = "",
        groups: tuple[str, ...] = (),
        allow_redirects: bool = True,
    ) -> Any:
        raw = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        head = [("Content-Type", JSON)] if raw is not None else []
        own = dict(headers or {})
        if self._reads_protobuf:
            own.setdefault("Accept", _BOTH)
        head = [pair for pair in head if pair[0] not in own] + list(own.items())
        head += [("Impersonate-User", user)] if user else []
        head += [("Impersonate-Group", group) for group in groups]
        return self._session.request(
            method,
            URL(self.url + path.replace("{ns}", self.namespace), encoded=True),
            data=io.BytesIO(raw) if raw is not None and len(raw) > _LARGE else raw,
            headers=head,
            params=_pairs(query or {}, self.namespace),
            allow_redirects=allow_redirects,
        )

    def connect(self, path: str) -> Any:
        """A WebSocket."""
        return self._session.ws_connect(URL(self.url + path, encoded=True))

    async def get(self, path: str, **query: Any) -> Response:
        return await self("GET", path, query=query)

    async def create(self, path: str, body: Any, **query: Any) -> Response:
        """Create an object; an error unless it succeeds."""
        reply = await self("POST", path, body, query=query)
        assert reply.code == 201, reply
        return reply

    async def patch(self, path: str, body: Any, media: str = MERGE, **query: Any) -> Response:
        return await self("PATCH", path, body, query=query, headers={"Content-Type": media})

    async def apply(self, path: str, body: Any, manager: str = "tester", **query: Any) -> Response:
        return await self.patch(path, body, APPLY, fieldManager=manager, **query)

    @asynccontextmanager
    async def watch(
        self, path: str, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> AsyncIterator[Watch]:
        query = {"watch": "1", **query}
        async with self._request("GET", path, None, query=query, headers=headers) as response:
            yield Watch(response)
            response.close()


def _pairs(query: Mapping[str, Any], namespace: str) -> list[tuple[str, str]]:
    """The parameters of a query; `limit_` is `limit`, and a list is sent once for each value."""
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        for each in value if isinstance(value, list) else [value]:
            text = str(each).lower() if isinstance(each, bool) else str(each)
            found.append((name.rstrip("_"), text.replace("{ns}", namespace)))
    return found
