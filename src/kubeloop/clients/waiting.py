"""Waiting until an object meets a condition, or until the events of a watch meet some.

Guarantees: conditions are plain code; the wait for an object survives broken streams and
expired versions, and its timeout error says what was last seen. Conditions of events are met
in their order, an event that meets one is given to the next, and the watch is always closed.
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from kubeloop.errors import Expired, InvalidArgument, KubeError

from .lists import WatchEvent

if TYPE_CHECKING:
    from .resource import ResourceClient

__all__ = [
    "EventCondition",
    "Goal",
    "WaitTimeout",
    "WatchClosed",
    "goal_of",
    "until",
    "wait_until",
]

T = TypeVar("T")

EventCondition = Callable[[WatchEvent[T]], bool]

_RESTART_DELAY = 1.0  # a server that forgets at once is not to be stormed
_SHOWN = 300  # characters of what was last seen


@final
class WaitTimeout(KubeError, TimeoutError):
    """What was waited for did not come in time; `last_seen` tells what there was instead."""

    def __init__(self, message: str, last_seen: str) -> None:
        super().__init__(message)
        self.last_seen = last_seen


class Goal(Generic[T]):
    """What is waited for: a test, and how to tell what stands in its way."""

    def __init__(
        self,
        text: str,
        met: Callable[[T | None, dict[str, Any]], bool],
        seen: Callable[[dict[str, Any]], str],
    ) -> None:
        self.text = text
        self.met = met
        self._seen = seen

    def seen(self, data: dict[str, Any]) -> str:
        """What there is, for whoever reads the error."""
        return self._seen(data)[:_SHOWN] if data else "no such object"


def goal_of(
    *,
    condition: str = "",
    jsonpath: str = "",
    deleted: bool = False,
    function: Callable[[T], bool] | None = None,
) -> Goal[T]:
    """The goal that is meant. Raises: InvalidArgument unless exactly one is given."""
    if sum(map(bool, (condition, jsonpath, deleted, function))) != 1:
        raise InvalidArgument("wait_for: give one of condition, jsonpath, deleted and function")
    if condition:
        return _condition_goal(condition)
    if jsonpath:
        return _jsonpath_goal(jsonpath)
    if function is not None:
        return _function_goal(function)
    return _deletion_goal()


def _condition_goal(text: str) -> Goal[T]:
    name, _, wanted = text.partition("=")
    status = (wanted or "True").casefold()

    def find(data: dict[str, Any]) -> dict[str, Any]:
        conditions = _inside(data, "status").get("conditions")
        fitting = (
            each
            for each in (conditions if isinstance(conditions, list) else [])
            if isinstance(each, dict) and str(each.get("type")).casefold() == name.casefold()
        )
        return next(fitting, {})

    def met(_: T | None, data: dict[str, Any]) -> bool:
        found = find(data)
        return str(found.get("status")).casefold() == status and not _is_old(found, data)

    def seen(data: dict[str, Any]) -> str:
        found = find(data)
        if not found:
            return f"no condition {name}"
        why = ": ".join(str(each) for each in (found.get("reason"), found.get("message")) if each)
        old = ", of an older generation" if _is_old(found, data) else ""
        return f"{name}={found.get('status')}{f' ({why})' if why else ''}{old}"

    return Goal(f"condition {name}={wanted or 'True'}", met, seen)


def _is_old(condition: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether it tells about a spec that has changed since."""
    observed = condition.get("observedGeneration")
    if observed is None:
        observed = _inside(data, "status").get("observedGeneration")
    generation = _inside(data, "metadata").get("generation")
    return isinstance(observed, int) and isinstance(generation, int) and observed < generation


def _inside(data: dict[str, Any], key: str) -> dict[str, Any]:
    """What stands there; a kind of somebody else's may have anything under the usual names."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _jsonpath_goal(text: str) -> Goal[T]:
    from kubeloop.jsonpath import JSONPath, JSONPathError, relaxed  # for those who wait for one

    expression, wanted = _divided(text)
    path = JSONPath(relaxed(expression), allow_missing_keys=True)

    def values(data: dict[str, Any]) -> list[str]:
        try:
            return [_shown(value) for value in path.values(data) if value is not None]
        except JSONPathError:  # a list that is still too short, say: what is not yet may come
            return []

    def met(_: T | None, data: dict[str, Any]) -> bool:
        found = values(data) if data else []
        return bool(found) if wanted is None else found == [wanted]

    def seen(data: dict[str, Any]) -> str:
        return f"{expression} is {', '.join(values(data)) or 'not there'}"

    return Goal(f"jsonpath {text}", met, seen)


def _divided(text: str) -> tuple[str, str | None]:
    """The path and the value of `{.status.phase}=Running`; no value: it is to be there."""
    if text.startswith("{") and "}" in text:
        path, _, rest = text.rpartition("}")
        if rest and not rest.startswith("="):
            raise InvalidArgument(f"wait_for jsonpath {text!r}: expected {{path}}=value")
        return f"{path}}}", rest[1:] if rest else None
    path, equals, wanted = text.partition("=")
    return path, wanted if equals else None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _function_goal(function: Callable[[T], bool]) -> Goal[T]:
    name = getattr(function, "__name__", "function")

    def met(obj: T | None, _: dict[str, Any]) -> bool:
        return obj is not None and function(obj)

    def seen(data: dict[str, Any]) -> str:
        version = _inside(data, "metadata").get("resourceVersion")
        return f"version {version}, status {data.get('status')}"

    return Goal(f"{name}()", met, seen)


def _deletion_goal() -> Goal[T]:
    first: list[str] = []

    def met(obj: T | None, data: dict[str, Any]) -> bool:
        if obj is None:
            return True
        uid = str(_inside(data, "metadata").get("uid"))
        first.append(uid)
        return uid != first[0]  # deleted while nobody looked; this is another of its name

    def seen(data: dict[str, Any]) -> str:
        metadata = _inside(data, "metadata")
        if metadata.get("deletionTimestamp"):
            return f"being deleted, finalizers {metadata.get('finalizers') or []}"
        return "there, and not being deleted"

    return Goal("deletion", met, seen)


async def wait_until(
    client: ResourceClient[T], name: str, goal: Goal[T], *, timeout: float | None
) -> T | None:
    """Follow one object until the goal is met; returns it, None when it is gone.

    Without any time it is looked at once.
    """
    collection = client._collection
    sight = _Sight(client, name, goal)
    if timeout is not None and timeout <= 0:
        if await sight.look():
            return sight.obj
    else:
        try:
            async with collection.clock.timeout(timeout) as bound:
                return await sight.follow()
        except TimeoutError:
            if not bound.expired():
                raise
    if sight.data is None:  # and to ask what its kind is called would take longer still
        what, last = f"{name} among {collection!r}", "nothing, the server has not answered"
    else:
        what, last = f"{await collection.group_resource()}/{name}", goal.seen(sight.data)
    raise WaitTimeout(
        f"wait for {goal.text} of {what}: not met within {timeout:g} s, last seen: {last}"
        " (allow more time, or look into the object)",
        last,
    )


@final
class _Sight(Generic[T]):
    """One object as it was seen last; each look says whether that is what is waited for."""

    def __init__(self, client: ResourceClient[T], name: str, goal: Goal[T]) -> None:
        self._client = client
        self._only = {"metadata.name": name}
        self._goal = goal
        self.obj: T | None = None
        self.data: dict[str, Any] | None = None  # before the first look; empty for no object
        self._version = ""  # to go on from

    async def look(self) -> bool:
        """See it as it is now."""
        page = await self._client.list(field_selector=self._only)
        self._version = page.version
        return self._see(page.items[0] if page.items else None)

    async def follow(self) -> T | None:
        """See it change until the goal is met."""
        while True:
            if await self.look():
                return self.obj
            try:
                watch = self._client.watch(
                    resource_version=self._version, field_selector=self._only
                )
                async with aclosing(watch) as events:
                    async for event in events:
                        if self._see(None if event.type == "DELETED" else event.object):
                            return self.obj
            except Expired:
                await self._client._collection.clock.sleep(_RESTART_DELAY)

    def _see(self, obj: T | None) -> bool:
        self.obj = obj
        self.data = data = {} if obj is None else self._client._form.to_dict(obj)
        return self._goal.met(obj, data)


@final
class WatchClosed(KubeError):
    """A watch ended before what was waited for had come."""


async def until(
    events: AsyncIterator[WatchEvent[T]], *conditions: EventCondition[T]
) -> WatchEvent[T] | None:
    """Follow `events` until each condition was met; returns the event that met the last.

    None without conditions. What a condition raises leaves as it came, with the event in
    its notes. Safe to cancel: the events are closed.
    Raises: WatchClosed when the events end before.
    """
    left = list(conditions)
    try:
        while left:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                raise WatchClosed(
                    f"wait for {len(left)} of {len(conditions)} conditions: the watch closed"
                    " (begin a new one, from a list)"
                ) from None
            while left and _met(left[0], event):
                del left[0]
        return event if conditions else None
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _met(condition: EventCondition[T], event: WatchEvent[T]) -> bool:
    try:
        return condition(event)
    except Exception as error:
        error.add_note(f"the last event was {event.type} of {event.object!r:.200}")
        raise
