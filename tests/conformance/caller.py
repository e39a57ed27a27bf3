"""Speaks plain HTTP to an API server and hands back what it said.

Promises: no client of ours is involved; nothing is retried, guessed or forgiven.
Elsewhere: which server answers (`servers`), what is sent (`samples`).
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

__all__ = ["APPLY", "JSON", "JSON_PATCH", "MERGE", "STRATEGIC", "Caller", "Reply", "Watch"]

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_LARGE = 1024 * 1024  # bytes; aiohttp wants more than that as a file
_PATIENCE = 15.0  # seconds for an event that must come: only a wait in vain is that long


@final
class Reply:
    """An answer: its code, its headers and its body."""

    def __init__(self, code: int, headers: CIMultiDictProxy[str], raw: bytes) -> None:
        self.code = code
        self.headers = headers
        self.raw = raw

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.raw)

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
        """Field and reason of every cause, sorted: their order is nobody's promise."""
        said = self.details.get("causes", [])
        return sorted((each.get("field", ""), each.get("reason", "")) for each in said)

    @property
    def warnings(self) -> list[str]:
        """The texts of the Warning headers, without code, agent and quotes."""
        found = [text.split(" ", 2)[2] for text in self.headers.getall("Warning", [])]
        return [text[1:-1].replace('\\"', '"').replace("\\\\", "\\") for text in found]

    def __repr__(self) -> str:
        return f"Reply({self.code}, {self.raw[:1500].decode(errors='replace')})"


@final
class Watch:
    """A running watch, read one event at a time."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.code = answer.status
        self._answer = answer

    async def next(self) -> dict[str, Any]:
        """The next event; it is an error when none comes."""
        async with asyncio.timeout(_PATIENCE):
            line = await self._answer.content.readline()
        assert line, "the watch has ended"
        event: dict[str, Any] = msgspec.json.decode(line)
        return event

    async def take(self, count: int) -> list[dict[str, Any]]:
        return [await self.next() for _ in range(count)]

    async def until(self, *wanted: tuple[str, str], within: float = 45.0) -> list[dict[str, Any]]:
        """All events up to the one with which every wanted type and name has been seen.

        For what controllers do, in their own time: the deadline is only there to end a wait
        that is in vain.
        """
        seen: list[dict[str, Any]] = []
        left = set(wanted)
        async with asyncio.timeout(within):
            while left:
                line = await self._answer.content.readline()
                assert line, f"the watch has ended before {sorted(left)}"
                seen.append(msgspec.json.decode(line))
                left.discard((seen[-1]["type"], seen[-1]["object"]["metadata"].get("name", "")))
        return seen

    async def story(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        return [
            (event["type"], event["object"]["metadata"].get("name", ""))
            for event in await self.take(count)
        ]

    async def rest(self) -> list[dict[str, Any]]:
        """Every event until the server ends the watch."""
        async with asyncio.timeout(_PATIENCE):
            raw = await self._answer.read()
        return [msgspec.json.decode(line) for line in raw.splitlines()]


@final
class Caller:
    """Calls one server, by default about one namespace.

    In paths and queries `{ns}` stands for the namespace. `as_user` and `as_groups`
    impersonate.
    """

    def __init__(self, session: aiohttp.ClientSession, url: str, namespace: str) -> None:
        self._session = session
        self._url = url
        self.namespace = namespace

    def in_namespace(self, namespace: str) -> Caller:
        """The same caller about another namespace."""
        return Caller(self._session, self._url, namespace)

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
    ) -> Reply:
        request = self._request(
            method, path, body, query=query, headers=headers, user=as_user, groups=as_groups
        )
        async with request as answer:
            return Reply(answer.status, answer.headers, await answer.read())

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
    ) -> Any:
        raw = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        head = [("Content-Type", JSON)] if raw is not None else []
        given = dict(headers or {})
        head = [pair for pair in head if pair[0] not in given] + list(given.items())
        head += [("Impersonate-User", user)] if user else []
        head += [("Impersonate-Group", group) for group in groups]
        return self._session.request(
            method,
            URL(self._url + path.replace("{ns}", self.namespace), encoded=True),
            data=io.BytesIO(raw) if raw is not None and len(raw) > _LARGE else raw,
            headers=head,
            params=_pairs(query or {}, self.namespace),
        )

    async def get(self, path: str, **query: Any) -> Reply:
        return await self("GET", path, query=query)

    async def create(self, path: str, body: Any, **query: Any) -> Reply:
        """Create, and insist on it."""
        reply = await self("POST", path, body, query=query)
        assert reply.code == 201, reply
        return reply

    async def patch(self, path: str, body: Any, sort: str = MERGE, **query: Any) -> Reply:
        return await self("PATCH", path, body, query=query, headers={"Content-Type": sort})

    async def apply(self, path: str, body: Any, manager: str = "tester", **query: Any) -> Reply:
        return await self.patch(path, body, APPLY, fieldManager=manager, **query)

    @asynccontextmanager
    async def watch(
        self, path: str, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> AsyncIterator[Watch]:
        query = {"watch": "1", **query}
        async with self._request("GET", path, None, query=query, headers=headers) as answer:
            yield Watch(answer)
            answer.close()


def _pairs(query: Mapping[str, Any], namespace: str) -> list[tuple[str, str]]:
    """The query as it is sent; `limit_` is `limit`, and a list is sent once for each value."""
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        for each in value if isinstance(value, list) else [value]:
            text = str(each).lower() if isinstance(each, bool) else str(each)
            found.append((name.rstrip("_"), text.replace("{ns}", namespace)))
    return found
