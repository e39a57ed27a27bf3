"""Rollouts of deployments, stateful sets and daemon sets: `kubectl rollout` as functions.

Guarantees: nothing is written unless it changes something; annotations, revisions and patches
are those of kubectl, so that both can be used on the same object; a wait continues after broken
connections and ends with an error that names what the new pods wait for.
See also: `rollout_decision` (when a rollout is complete).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Hashable, Iterable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, final

import msgspec

from kubeloop.errors import Forbidden, InvalidArgument, KubeError
from kubeloop.kit import Clock, cancel_and_wait
from kubeloop.meta import is_controlled_by
from kubeloop.selectors import selector_from_wire
from kubeloop.wire import Resource, format_time
from kubeloop.wire.core.v1 import PodTemplateSpec

from .collection import ObjectCollection
from .resource import ResourceClient
from .rollout_decision import (
    REVISION,
    RolloutProblem,
    RolloutStatus,
    Workload,
    pod_problems,
    revision_number,
    rollout_status,
)
from .wait import WaitTimeout, snapshots

if TYPE_CHECKING:
    from kubeloop.wire.apps.v1 import ControllerRevision, Deployment, ReplicaSet
    from kubeloop.wire.core.v1 import Pod

__all__ = ["Revision", "Rollout", "RolloutFailed"]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)

_CHANGE_CAUSE = "kubernetes.io/change-cause"
_RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
_DEPLOYMENT_HASH = "pod-template-hash"
_REVISION_HASH = "controller-revision-hash"
# An undo keeps these annotations of the deployment, and takes all others from the replica set.
_KEPT_ANNOTATIONS = frozenset({
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
    "kubectl.kubernetes.io/last-applied-configuration",
})  # fmt: skip


@final
class RolloutFailed(KubeError):
    """A rollout cannot complete: its deadline has passed, or the object was deleted."""

    def __init__(self, message: str, status: RolloutStatus | None) -> None:
        super().__init__(message)
        self.status = status


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A template that was rolled out: of a replica set, or of a controller revision."""

    number: int
    name: str  # of the object that has it
    change_cause: str
    created: datetime | None
    is_current: bool
    template: PodTemplateSpec

    @property
    def images(self) -> tuple[str, ...]:
        """The images of its containers."""
        return tuple(each.image or "" for each in self.template.spec.containers)


@final
class Rollout:
    """The rollout of one object: `client.apps_v1.deployments("shop").rollout("web")`.

    ```python
    web = client.apps_v1.deployments("shop").rollout("web")
    await web.restart()
    async for status in web.progress(timeout=120):
        print(status)
    ```
    """

    def __init__(self, objects: ObjectCollection[Any], name: str) -> None:
        self._objects = objects
        self._client = ResourceClient(objects)
        self._kind = objects.codec.object_type.__name__
        self._name = name

    def __repr__(self) -> str:
        return f"Rollout({self._kind} {self._name})"

    # --- watching

    async def status(self) -> RolloutStatus:
        """How far the rollout is, with the problems of its new pods. Safe to cancel.

        Raises: NotFound; InvalidArgument for an update strategy other than `RollingUpdate`.
        """
        obj: Workload = await self._client.get(self._name)
        status = rollout_status(obj)
        if status.is_complete:
            return status
        problems = _PodProblems(self._objects, obj)
        found: Mapping[Hashable, _PodState] = {}
        async with aclosing(problems.follow()) as changes:
            found = await anext(changes, found)
        return rollout_status(obj, await problems.current(obj, found))

    async def progress(
        self, *, timeout: float | None = None
    ) -> AsyncGenerator[RolloutStatus, None]:
        """The status, and each change of it, until the rollout is complete.

        The last status is complete. If you leave early, close it (`contextlib.aclosing`).
        Raises: RolloutFailed when the progress deadline has passed or the object was deleted;
        WaitTimeout after `timeout` seconds; NotFound; InvalidArgument for an update strategy
        other than `RollingUpdate`.
        """
        obj: Workload | None = await self._client.get(self._name)
        assert obj is not None
        uid, last = obj.metadata.uid, None
        selector = {"metadata.name": self._name}
        problems = _PodProblems(self._objects, obj)
        found: Mapping[Hashable, _PodState] = {}
        merged = _Merged(self._clock, timeout)
        try:
            while obj is not None and obj.metadata.uid == uid:
                status = rollout_status(obj, await problems.current(obj, found))
                if status.state == "failed":
                    raise RolloutFailed(f"rollout of {self._text(obj)}: {status}", status)
                if status != last:
                    yield (last := status)
                if status.is_complete:
                    return
                if not merged.sources:
                    merged.add("object", snapshots(self._objects, _itself, field_selector=selector))
                    merged.add("pods", problems.follow())
                match await merged.next():
                    case "object", changed:
                        obj = next(iter(changed.values()), None)
                    case "pods", changed:
                        found = changed
                    case _:
                        raise WaitTimeout(
                            f"wait for the rollout of {self._text(obj)}: not complete within"
                            f" {timeout:g} s, last seen: {status} (use a longer timeout, or undo"
                            " the change)",
                            str(status),
                        )
        finally:
            await merged.aclose()
        raise RolloutFailed(f"rollout of {self._kind} {self._name}: it has been deleted", last)

    async def wait(self, *, timeout: float | None = 600.0) -> RolloutStatus:
        """Wait until the rollout is complete. Raises as `progress`. Safe to cancel."""
        async with aclosing(self.progress(timeout=timeout)) as statuses:
            async for status in statuses:
                last = status
        return last

    # --- changing

    async def restart(self, *, dry_run: bool = False) -> None:
        """Replace all pods, as `kubectl rollout restart`.

        Raises: NotFound; InvalidArgument for a paused deployment, which would not start. A
        cancelled call may have started it.
        """
        obj: Workload = await self._client.get(self._name)
        if self._kind == "Deployment" and _is_paused(obj):
            raise InvalidArgument(
                f"restart {self._text(obj)}: can't restart paused deployment"
            ).with_hint("resume it first")
        now = self._clock.time().astimezone(UTC)
        stamp = format_time(now.replace(microsecond=0))
        if obj.spec.template.metadata.annotations.get(_RESTARTED_AT) == stamp:
            stamp = now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        template = {"metadata": {"annotations": {_RESTARTED_AT: stamp}}}
        await self._client.patch(
            self._name, {"spec": {"template": template}}, type="strategic", dry_run=dry_run
        )

    async def pause(self, *, dry_run: bool = False) -> bool:
        """Stop the rollout of a deployment after its current pods; False if it is paused already.

        Raises: NotFound; InvalidArgument for other kinds. A cancelled call may have paused it.
        """
        return await self._set_paused(paused=True, dry_run=dry_run)

    async def resume(self, *, dry_run: bool = False) -> bool:
        """Continue the rollout of a paused deployment; False if it is not paused.

        Raises: NotFound; InvalidArgument for other kinds. A cancelled call may have resumed it.
        """
        return await self._set_paused(paused=False, dry_run=dry_run)

    async def history(self) -> list[Revision]:
        """The templates that can be restored, oldest first. Raises: NotFound. Safe to cancel."""
        obj: Workload = await self._client.get(self._name)
        return await self._revisions(obj)

    async def undo(self, *, to_revision: int = 0, dry_run: bool = False) -> Revision | None:
        """Restore the template of the previous revision, or of `to_revision`.

        Returns the revision; None if the object has its template already.
        Raises: NotFound; InvalidArgument when there is no such revision, or the deployment is
        paused. A cancelled call may have restored it.
        """
        obj: Workload = await self._client.get(self._name)
        target = _revision_to_restore(await self._revisions(obj), to_revision, self._text(obj))
        if self._kind == "Deployment" and _is_paused(obj):
            raise InvalidArgument(
                f"undo {self._text(obj)}: you cannot rollback a paused deployment"
            ).with_hint("resume it first")
        if target.template == obj.spec.template:
            return None
        if self._kind == "Deployment":
            await self._restore_deployment(target, dry_run=dry_run)
        else:
            template = {**target.template.to_dict(), "$patch": "replace"}
            patch = {"spec": {"template": template}}
            await self._client.patch(self._name, patch, type="strategic", dry_run=dry_run)
        return target

    # --- internal

    @property
    def _clock(self) -> Clock:
        return self._objects.clock

    def _text(self, obj: Workload) -> str:
        return f"{self._kind} {self._name} in {obj.metadata.namespace}"

    async def _set_paused(self, *, paused: bool, dry_run: bool) -> bool:
        if self._kind != "Deployment":
            raise InvalidArgument(
                f"{'pause' if paused else 'resume'} {self._kind} {self._name}: only deployments"
                " can be paused"
            )
        if _is_paused(await self._client.get(self._name)) == paused:
            return False
        await self._client.patch(
            self._name, {"spec": {"paused": paused}}, type="merge", dry_run=dry_run
        )
        return True

    async def _revisions(self, obj: Workload) -> list[Revision]:
        if self._kind == "Deployment":
            from kubeloop.wire.apps.v1 import ReplicaSet

            sets = await _controlled(self._objects, ReplicaSet, obj)
            return _revisions_of_deployment(obj, sets)  # type: ignore[arg-type] # by its kind
        from kubeloop.wire.apps.v1 import ControllerRevision

        return _revisions_of_set(await _controlled(self._objects, ControllerRevision, obj))

    async def _restore_deployment(self, target: Revision, *, dry_run: bool) -> None:
        from kubeloop.wire.apps.v1 import ReplicaSet

        source = await self._objects.of_kind(ReplicaSet).get(target.name)

        def restore(deployment: Deployment) -> None:
            kept = deployment.metadata.annotations
            deployment.spec.template = target.template
            deployment.metadata.annotations = {
                key: value for key, value in kept.items() if key in _KEPT_ANNOTATIONS
            } | {
                key: value
                for key, value in source.metadata.annotations.items()
                if key not in _KEPT_ANNOTATIONS
            }

        await self._client.modify(self._name, restore, dry_run=dry_run)


def _itself(obj: T) -> T:
    return obj


def _is_paused(obj: Any) -> bool:
    return bool(obj.spec.paused)


# --- revisions


def _revisions_of_deployment(obj: Deployment, sets: Iterable[ReplicaSet]) -> list[Revision]:
    current = revision_number(obj.metadata.annotations)
    found = []
    for each in sets:
        number = revision_number(each.metadata.annotations)
        # A copy without the label that the controller adds.
        template = PodTemplateSpec.from_dict(each.spec.template.to_dict())
        template.metadata.labels = {
            key: value for key, value in template.metadata.labels.items() if key != _DEPLOYMENT_HASH
        }
        found.append(
            Revision(
                number=number,
                name=each.metadata.name,
                change_cause=each.metadata.annotations.get(_CHANGE_CAUSE, ""),
                created=each.metadata.creation_timestamp,
                is_current=number == current,
                template=template,
            )
        )
    return sorted(found, key=lambda revision: revision.number)


def _revisions_of_set(history: Iterable[ControllerRevision]) -> list[Revision]:
    ordered = sorted(history, key=lambda each: each.revision or 0)
    newest = ordered[-1].revision if ordered else None
    found = []
    for each in ordered:
        # A strategic merge patch that replaces the template.
        template = dict((each.data.get("spec") or {}).get("template") or {})
        template.pop("$patch", None)
        found.append(
            Revision(
                number=each.revision or 0,
                name=each.metadata.name,
                change_cause=each.metadata.annotations.get(_CHANGE_CAUSE, ""),
                created=each.metadata.creation_timestamp,
                is_current=each.revision == newest,
                template=PodTemplateSpec.from_dict(template),
            )
        )
    return found


def _revision_to_restore(history: list[Revision], number: int, text: str) -> Revision:
    if number < 0:
        raise InvalidArgument(f"undo {text}: revision {number} is negative (0 is the previous one)")
    if number:
        for each in history:
            if each.number == number:
                return each
        known = ", ".join(str(each.number) for each in history) or "none"
        raise InvalidArgument(
            f"undo {text}: unable to find specified revision {number} in history (there are:"
            f" {known})"
        )
    if len(history) < 2:
        raise InvalidArgument(f"undo {text}: no last revision to roll back to")
    return history[-2]


# --- pods and other objects of a workload


async def _controlled(objects: ObjectCollection[Any], kind: type[R], obj: Workload) -> list[R]:
    """The objects of a kind that `obj` selects and controls."""
    of_kind = ResourceClient(objects.of_kind(kind))
    selected = await of_kind.list_all(selector=_selector(obj))
    return [each for each in selected if is_controlled_by(each, obj)]


def _selector(obj: Workload) -> str:
    return str(selector_from_wire(obj.spec.selector))


class _PodState(msgspec.Struct, frozen=True):
    """The problems of one pod, and the label that tells its template."""

    hash: str
    problems: tuple[RolloutProblem, ...]


@final
class _PodProblems:
    """The problems of the pods that have the current template of an object."""

    def __init__(self, objects: ObjectCollection[Any], obj: Workload) -> None:
        from kubeloop.wire.core.v1 import Pod

        self._objects = objects
        self._pods = objects.of_kind(Pod)
        self._selector = _selector(obj)  # immutable
        self._hash: tuple[object, str] | None = None  # with the revision that it is of

    async def follow(self) -> AsyncGenerator[Mapping[Hashable, _PodState], None]:
        """The pods with problems: now, and after each change; ends if they cannot be read."""
        source = snapshots(self._pods, _state_of, selector=self._selector)
        try:
            async with aclosing(source) as changes:
                async for found in changes:
                    yield found
        except Forbidden:
            return  # the rollout itself can be followed

    async def current(
        self, obj: Workload, found: Mapping[Hashable, _PodState]
    ) -> tuple[RolloutProblem, ...]:
        """The problems of the pods with the current template of `obj`."""
        # Before the change of the spec is observed, all pods are old ones.
        if not found or not rollout_status(obj).observed:
            return ()
        label = await self._current_hash(obj)
        return tuple(
            problem
            for pod in found.values()
            for problem in pod.problems
            if not label or pod.hash == label
        )

    async def _current_hash(self, obj: Workload) -> str:
        """The label of the pods with the current template; empty if it is unknown."""
        revision = (obj.metadata.annotations.get(REVISION), obj.status.observed_generation)
        if self._hash is None or self._hash[0] != revision:
            self._hash = revision, await self._read_hash(obj)
        return self._hash[1]

    async def _read_hash(self, obj: Workload) -> str:
        if obj.kind == "StatefulSet":
            return str(obj.status.update_revision or "")  # type: ignore[union-attr] # by its kind
        if obj.kind == "Deployment":
            from kubeloop.wire.apps.v1 import ReplicaSet

            number = revision_number(obj.metadata.annotations)
            for each in await _controlled(self._objects, ReplicaSet, obj):
                if revision_number(each.metadata.annotations) == number:
                    return each.metadata.labels.get(_DEPLOYMENT_HASH, "")
            return ""
        from kubeloop.wire.apps.v1 import ControllerRevision

        history = await _controlled(self._objects, ControllerRevision, obj)
        newest = max(history, key=lambda each: each.revision or 0, default=None)
        return "" if newest is None else newest.metadata.labels.get(_REVISION_HASH, "")


def _state_of(pod: Pod) -> _PodState | None:
    problems = pod_problems(pod)
    if not problems:
        return None
    labels = pod.metadata.labels
    return _PodState(labels.get(_DEPLOYMENT_HASH) or labels.get(_REVISION_HASH, ""), problems)


# --- several iterators at once


@final
class _Merged:
    """The next item of any of several iterators, or None when the timeout has passed.

    For a generator, which cannot have a block of tasks: it may be resumed by another task.
    """

    def __init__(self, clock: Clock, timeout: float | None) -> None:
        self.sources: dict[str, AsyncGenerator[Any, None]] = {}
        self._next: dict[asyncio.Task[Any], str] = {}
        self._expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._timer = None if timeout is None else clock.timer(max(timeout, 0.0), self._expire)

    def _expire(self) -> None:
        if not self._expired.done():
            self._expired.set_result(None)

    def add(self, name: str, source: AsyncGenerator[Any, None]) -> None:
        self.sources[name] = source
        self._advance(name)

    def _advance(self, name: str) -> None:
        task = asyncio.create_task(_next_item(self.sources[name]), name=name)
        self._next[task] = name

    async def next(self) -> tuple[str, Any] | None:
        """The name of an iterator and its item; an iterator that has ended is ignored."""
        while not self._expired.done():
            await asyncio.wait([*self._next, self._expired], return_when=asyncio.FIRST_COMPLETED)
            for task in [each for each in self._next if each.done()]:
                name = self._next.pop(task)
                item = task.result()
                if item is not None:
                    self._advance(name)
                    return name, item
        return None

    async def aclose(self) -> None:
        """End the tasks and close the iterators."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._next:
            with contextlib.suppress(KubeError):  # its item is not needed any more
                await cancel_and_wait(task)
        for source in self.sources.values():
            await source.aclose()


async def _next_item(source: AsyncGenerator[T, None]) -> T | None:
    return await anext(source, None)
