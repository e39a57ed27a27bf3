"""Waits until an object is in a state, or until watch events meet conditions.

Guarantees: conditions are synchronous; the wait for an object continues after broken streams and
expired versions, and its timeout error has the last state. Conditions on events are met in
order, an event that meets one is checked against the next, and the watch is always closed.
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from typing import Any, Generic, TypeVar, Unpack, final

from kubeloop.errors import Expired, InvalidArgument, KubeError

from .collection import ObjectCollection
from .lists import WatchEvent
from .options import ListOptions, Selectors
from .paging import key_of, read_page
from .watch import watch_objects

__all__ = [
    "EventCondition",
    "Goal",
    "WaitTimeout",
    "WatchClosed",
    "goal_of",
    "snapshots",
    "until",
    "wait_until",
]

T = TypeVar("T")
V = TypeVar("V")

EventCondition = Callable[[WatchEvent[T]], bool]

_RESTART_DELAY = 1.0  # if versions expire at once, do not flood the server
_SHOWN = 300  # characters of the last state in an error


@final
class WaitTimeout(KubeError, TimeoutError):
    """The object was not in the expected state in time; `last_seen` has its last state."""

    def __init__(self, message: str, last_seen: str) -> None:
        super().__init__(message)
        self.last_seen = last_seen


class Goal(Generic[T]):
    """The state to wait for: a test, and a description of the current state for errors."""

    def __init__(
        self,
        text: str,
        is_met: Callable[[T | None, dict[str, Any]], bool],
        describe: Callable[[dict[str, Any]], str],
    ) -> None:
        self.text = text
        self.is_met = is_met
        self._describe = describe

    def describe(self, data: dict[str, Any]) -> str:
        """The current state, for an error."""
        return self._describe(data)[:_SHOWN] if data else "no such object"


def goal_of(
    *,
    condition: str = "",
    jsonpath: str = "",
    deleted: bool = False,
    function: Callable[[T], bool] | None = None,
) -> Goal[T]:
    """The goal of `wait_for`. Raises: InvalidArgument unless exactly one option is set."""
    if sum(map(bool, (condition, jsonpath, deleted, function))) != 1:
        raise InvalidArgument(
            "wait_for: expected exactly one of condition, jsonpath, deleted, function"
        )
    if condition:
        return _condition_goal(condition)
    if jsonpath:
        return _jsonpath_goal(jsonpath)
    if function is not None:
        return _function_goal(function)
    return _deletion_goal()


def _condition_goal(text: str) -> Goal[T]:
    name, _, expected = text.partition("=")
    status = (expected or "True").casefold()

    def find(data: dict[str, Any]) -> dict[str, Any]:
        conditions = _section(data, "status").get("conditions")
        matching = (
            each
            for each in (conditions if isinstance(conditions, list) else [])
            if isinstance(each, dict) and str(each.get("type")).casefold() == name.casefold()
        )
        return next(matching, {})

    def is_met(_: T | None, data: dict[str, Any]) -> bool:
        found = find(data)
        return str(found.get("status")).casefold() == status and not _is_stale(found, data)

    def describe(data: dict[str, Any]) -> str:
        found = find(data)
        if not found:
            return f"no condition {name}"
        why = ": ".join(str(each) for each in (found.get("reason"), found.get("message")) if each)
        old = ", of an older generation" if _is_stale(found, data) else ""
        return f"{name}={found.get('status')}{f' ({why})' if why else ''}{old}"

    return Goal(f"condition {name}={expected or 'True'}", is_met, describe)


def _is_stale(condition: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether it is about an older generation of the spec."""
    observed = condition.get("observedGeneration")
    if observed is None:
        observed = _section(data, "status").get("observedGeneration")
    generation = _section(data, "metadata").get("generation")
    return isinstance(observed, int) and isinstance(generation, int) and observed < generation


def _section(data: dict[str, Any], key: str) -> dict[str, Any]:
    """The object at `key`; custom kinds may have other types there."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _jsonpath_goal(text: str) -> Goal[T]:
    from kubeloop.jsonpath import JSONPath, JSONPathError, relaxed  # only needed here

    expression, expected = _split_jsonpath(text)
    path = JSONPath(relaxed(expression), allow_missing_keys=True)

    def values(data: dict[str, Any]) -> list[str]:
        try:
            return [_value_text(value) for value in path.values(data) if value is not None]
        except JSONPathError:  # such as an index beyond the end of a list, which may grow
            return []

    def is_met(_: T | None, data: dict[str, Any]) -> bool:
        found = values(data) if data else []
        return bool(found) if expected is None else found == [expected]

    def describe(data: dict[str, Any]) -> str:
        return f"{expression} is {', '.join(values(data)) or 'missing'}"

    return Goal(f"jsonpath {text}", is_met, describe)


def _split_jsonpath(text: str) -> tuple[str, str | None]:
    """The path and the value of `{.status.phase}=Running`; without a value it must exist."""
    if text.startswith("{") and "}" in text:
        path, _, rest = text.rpartition("}")
        if rest and not rest.startswith("="):
            raise InvalidArgument(f"wait_for jsonpath {text!r}: expected {{path}}=value")
        return f"{path}}}", rest[1:] if rest else None
    path, equals, expected = text.partition("=")
    return path, expected if equals else None


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _function_goal(function: Callable[[T], bool]) -> Goal[T]:
    name = getattr(function, "__name__", "function")

    def is_met(obj: T | None, _: dict[str, Any]) -> bool:
        return obj is not None and function(obj)

    def describe(data: dict[str, Any]) -> str:
        version = _section(data, "metadata").get("resourceVersion")
        return f"version {version}, status {data.get('status')}"

    return Goal(f"{name}()", is_met, describe)


def _deletion_goal() -> Goal[T]:
    first_uid: str | None = None

    def is_met(obj: T | None, data: dict[str, Any]) -> bool:
        nonlocal first_uid
        if obj is None:
            return True
        uid = str(_section(data, "metadata").get("uid"))
        if first_uid is None:
            first_uid = uid
        return uid != first_uid  # deleted and created again in a watch gap

    def describe(data: dict[str, Any]) -> str:
        metadata = _section(data, "metadata")
        if metadata.get("deletionTimestamp"):
            return f"being deleted, finalizers {metadata.get('finalizers') or []}"
        return "it exists, and is not being deleted"

    return Goal("deletion", is_met, describe)


async def wait_until(
    objects: ObjectCollection[T], name: str, goal: Goal[T], *, timeout: float | None
) -> T | None:
    """Watch one object until the goal is met; returns it, None if it was deleted.

    With a timeout of 0 or less it is read once.
    """
    collection = objects.collection
    watcher = _ObjectWatcher(objects, name, goal)
    if timeout is not None and timeout <= 0:
        if await watcher.read():
            return watcher.obj
    else:
        try:
            async with collection.clock.timeout(timeout) as bound:
                return await watcher.watch()
        except TimeoutError:
            if not bound.expired():
                raise
    if watcher.data is None:  # to look up the name of its resource would take even longer
        what, last = f"{name} ({collection!r})", "nothing, the server did not respond"
    else:
        what, last = f"{await collection.group_resource()}/{name}", goal.describe(watcher.data)
    raise WaitTimeout(
        f"wait for {goal.text} of {what}: not met within {timeout:g} s, last seen: {last}"
        " (use a longer timeout, or inspect the object)",
        last,
    )


@final
class _ObjectWatcher(Generic[T]):
    """The last state of one object, and whether it meets the goal."""

    def __init__(self, objects: ObjectCollection[T], name: str, goal: Goal[T]) -> None:
        self._objects = objects
        self._selector = {"metadata.name": name}
        self._goal = goal
        self.obj: T | None = None
        # None before the first read, empty if there is no object.
        self.data: dict[str, Any] | None = None
        self._version = ""  # to watch from

    async def read(self) -> bool:
        """Read its current state."""
        options = ListOptions.of(field_selector=self._selector)
        page = await read_page(self._objects.collection, self._objects.codec, options)
        self._version = page.version
        return self._update(page.items[0] if page.items else None)

    async def watch(self) -> T | None:
        """Watch it until the goal is met."""
        while True:
            if await self.read():
                return self.obj
            try:
                watch = watch_objects(
                    self._objects, resource_version=self._version, field_selector=self._selector
                )
                async with aclosing(watch) as events:
                    async for event in events:
                        if self._update(None if event.type == "DELETED" else event.object):
                            return self.obj
            except Expired:
                await self._objects.clock.sleep(_RESTART_DELAY)

    def _update(self, obj: T | None) -> bool:
        self.obj = obj
        self.data = data = {} if obj is None else self._objects.codec.to_dict(obj)
        return self._goal.is_met(obj, data)


async def snapshots(
    objects: ObjectCollection[T],
    project: Callable[[T], V | None],
    **selectors: Unpack[Selectors],
) -> AsyncGenerator[Mapping[Hashable, V], None]:
    """What `project` returns for the selected objects: now, and after each change.

    By namespace and name, without those for which it returns None. The mapping is the same one
    each time. It continues after broken streams and expired versions. Close it if you leave early.
    """
    found: dict[Hashable, V] = {}

    def put(obj: T, *, exists: bool) -> None:
        key = key_of(obj)
        value = project(obj) if exists else None
        if value is None:
            found.pop(key, None)
        else:
            found[key] = value

    while True:
        page = await read_page(objects.collection, objects.codec, ListOptions.of(**selectors))
        found.clear()
        for obj in page:
            put(obj, exists=True)
        yield found
        watch = watch_objects(objects, resource_version=page.version, **selectors)
        try:
            async with aclosing(watch) as events:
                async for event in events:
                    put(event.object, exists=event.type != "DELETED")
                    yield found
        except Expired:
            await objects.clock.sleep(_RESTART_DELAY)


@final
class WatchClosed(KubeError):
    """A watch ended before all conditions were met."""


async def until(
    events: AsyncIterator[WatchEvent[T]], *conditions: EventCondition[T]
) -> WatchEvent[T] | None:
    """Read `events` until each condition was met in turn; returns the event that met the last.

    Returns None without conditions. An exception of a condition gets a note with the event.
    Safe to cancel: the events are closed. To wait for the state of one object, use
    `ResourceClient.wait_for`.
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
                    " (list, and start a new watch)"
                ) from None
            while left and _is_met(left[0], event):
                del left[0]
        return event if conditions else None
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _is_met(condition: EventCondition[T], event: WatchEvent[T]) -> bool:
    try:
        return condition(event)
    except Exception as error:
        error.add_note(f"the last event was {event.type} of {event.object!r:.200}")
        raise
