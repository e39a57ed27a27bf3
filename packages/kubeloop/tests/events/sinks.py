"""A sink in memory, and objects that events are about."""

from __future__ import annotations

import asyncio
import copy
from typing import Any, Generic, Literal, TypeVar, final

import msgspec

from kubeloop.errors import ApiError, api_error
from kubeloop.errors import failure as status
from kubeloop.wire import Resource
from kubeloop.wire.core.v1 import Node, Pod
from kubeloop.wire.meta.v1 import ObjectMeta

E = TypeVar("E", bound=Resource)


def pod(name: str = "web", namespace: str = "shop", uid: str = "u1") -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid, resource_version="7"))


def node(name: str = "node-7") -> Node:
    return Node(metadata=ObjectMeta(name=name, uid="n1"))


def error_response(reason: str, **more: Any) -> ApiError:
    return api_error("write events", status(reason, "injected by the test", **more))


class Call(msgspec.Struct, frozen=True):
    verb: Literal["CREATE", "PATCH"]
    namespace: str
    name: str
    body: Any


@final
class Sink(Generic[E]):
    """An `EventSink` that stores events; `failures` are raised one after the other."""

    def __init__(self, like: Sink[E] | None = None, namespace: str = "") -> None:
        self.namespace = namespace
        self.calls: list[Call] = like.calls if like else []
        self.stored: dict[tuple[str, str], dict[str, Any]] = like.stored if like else {}
        self.failures: list[Exception] = like.failures if like else []
        self.gate: asyncio.Event = like.gate if like else asyncio.Event()
        if like is None:
            self.gate.set()

    def in_namespace(self, namespace: str, /) -> Sink[E]:
        return Sink(self, namespace)

    async def create(self, event: E, /) -> E:
        body = event.to_dict()
        key = (self.namespace, event.metadata.name)
        await self._count(Call("CREATE", *key, body))
        if key in self.stored:
            raise error_response("AlreadyExists")
        self.stored[key] = body
        return self._stored_copy(event)

    async def patch(self, name: str, patch: bytes, /, *, type: Literal["strategic"]) -> E:  # noqa: A002 - the Protocol's
        body = msgspec.json.decode(patch)
        key = (self.namespace, name)
        await self._count(Call("PATCH", *key, body))
        if key not in self.stored:
            raise error_response("NotFound")
        self.stored[key] |= body
        found: Any = self._class().from_dict(self.stored[key])
        return self._stored_copy(found)

    @property
    def verbs(self) -> list[str]:
        return [call.verb for call in self.calls]

    async def _count(self, call: Call) -> None:
        self.calls.append(call)
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)

    def _stored_copy(self, event: E) -> E:
        stored = copy.deepcopy(event)
        stored.metadata.resource_version = str(100 + len(self.calls))
        return stored

    def _class(self) -> Any:
        from kubeloop.wire.core.v1 import Event
        from kubeloop.wire.events.v1 import Event as NewEvent

        body = next(iter(self.stored.values()))
        return NewEvent if body["apiVersion"].startswith("events") else Event
