"""The scale subresource of any resource (client-go: `scale.ScalesGetter`).

Guarantees: results are always autoscaling/v1; an update is sent in the version that discovery
names for the resource.
See also: `subresources` (the scale of a known kind).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, final

from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupResource, GroupVersionKind, GroupVersionResource
from kubeloop.rest import RequestSender, Response
from kubeloop.wire import ResourceInfo

from .collection import Collection, ObjectCollection
from .object_codecs import DictCodec, PatchBody, PatchType, body_of, patch_text, patch_type_of
from .wait import WaitTimeout, snapshots

if TYPE_CHECKING:
    from kubeloop.discovery import DeferredMapper, Discovery
    from kubeloop.wire.autoscaling.v1 import Scale

__all__ = ["ScaleClient", "is_scaled", "scale_from", "scale_to", "wait_scaled"]

_PLAIN = GroupVersionKind("autoscaling", "v1", "Scale")
# These have the selector as a map, and as text in another field.
_OLDER = {
    GroupVersionKind("apps", "v1beta1", "Scale"),
    GroupVersionKind("apps", "v1beta2", "Scale"),
    GroupVersionKind("extensions", "v1beta1", "Scale"),
}
# Kinds that count their ready pods.
_WORKLOADS = {
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "ReplicationController"),
}


def scale_to(scale: Scale, kind: GroupVersionKind) -> dict[str, Any]:
    """A scale converted to `kind`. Raises: InvalidArgument for a kind that is not a scale."""
    data = scale.to_dict()
    if kind == _PLAIN:
        return data
    _check_known(kind)
    status = dict(data.get("status") or {})
    text = status.pop("selector", "")
    if text:
        status["targetSelector"] = text
        pairs = _equalities(text)
        if pairs is not None:
            status["selector"] = pairs
    if status:
        data["status"] = status
    return {**data, "apiVersion": kind.api_version, "kind": kind.kind}


def scale_from(data: dict[str, Any]) -> Scale:
    """A scale of any known version as autoscaling/v1. Raises: InvalidArgument, DecodeError."""
    from kubeloop.wire.autoscaling.v1 import Scale

    kind = GroupVersionKind.of(data.get("apiVersion") or "", data.get("kind") or "")
    if kind == _PLAIN:
        return Scale.from_dict(data)
    _check_known(kind)
    status = dict(data.get("status") or {})
    pairs = status.pop("selector", None) or {}
    text = status.pop("targetSelector", "") or ",".join(
        f"{key}={value}" for key, value in sorted(pairs.items())
    )
    if text:
        status["selector"] = text
    converted = {**data, "apiVersion": _PLAIN.api_version, "kind": _PLAIN.kind}
    if status:
        converted["status"] = status
    return Scale.from_dict(converted)


def is_scaled(scale: Scale, obj: dict[str, Any]) -> bool:
    """Whether `obj` has as many pods as its scale asks for; those of a built-in kind are ready."""
    replicas = scale.spec.replicas or 0
    if (scale.status.replicas or 0) != replicas:
        return False
    status, metadata = obj.get("status") or {}, obj.get("metadata") or {}
    observed, generation = status.get("observedGeneration"), metadata.get("generation")
    if isinstance(observed, int) and isinstance(generation, int) and observed < generation:
        return False
    if (obj.get("apiVersion"), obj.get("kind")) not in _WORKLOADS:
        return True  # what its pods are is not known
    return (status.get("readyReplicas") or 0) == replicas


async def wait_scaled(
    scales: ObjectCollection[Scale], name: str, replicas: int, *, timeout: float | None
) -> Scale:
    """Wait until an object has as many replicas, or another writer has asked for other ones."""
    parents = ObjectCollection(scales.collection.at_subresource(""), DictCodec())
    changes = snapshots(parents, lambda obj: obj, field_selector={"metadata.name": name})
    scale: Scale | None = None
    try:
        async with scales.clock.timeout(timeout) as bound, aclosing(changes):
            async for found in changes:
                scale = await scales.get(name)
                obj = next(iter(found.values()), {})
                if (scale.spec.replicas or 0) != replicas or is_scaled(scale, obj):
                    return scale
    except TimeoutError:
        if not bound.expired():
            raise
    has = "nothing, the server did not respond"
    if scale is not None:
        has = f"{scale.status.replicas or 0} replicas, of which some may not be ready"
    raise WaitTimeout(
        f"scale {name} to {replicas}: not done within {timeout or 0:g} s, last seen: {has} (use a"
        " longer timeout, or inspect its pods)",
        has,
    )


def _check_known(kind: GroupVersionKind) -> None:
    if kind not in _OLDER:
        raise InvalidArgument(f"{kind} is not a known scale (expected autoscaling/v1)")


def _equalities(text: str) -> dict[str, str] | None:
    """The selector as a map, if it has only equalities."""
    parts = [part.partition("=") for part in text.split(",")]
    if any(not equals or "!" in key or " " in key for key, equals, _ in parts):
        return None
    return {key: value.removeprefix("=") for key, _, value in parts}


@final
class ScaleClient:
    """Scales by resource: `client.scales.get(GroupResource("apps", "deployments"), "shop", "web")`.

    An empty namespace is for cluster-scoped resources.
    """

    def __init__(
        self,
        rest: RequestSender,
        mapper: DeferredMapper,
        discovery: Discovery,
    ) -> None:
        self._rest = rest
        self._mapper = mapper
        self._discovery = discovery
        self._kinds: dict[GroupVersionResource, GroupVersionKind] = {}

    async def get(self, resource: GroupResource, namespace: str, name: str) -> Scale:
        """The scale of an object. Raises: NotFound, NoResourceMatch. Safe to cancel."""
        at = await self._resolve(resource)
        return _scale_in(
            await self._collection(at, namespace).send("get", name=name, subresource="scale")
        )

    async def update(
        self, resource: GroupResource, namespace: str, scale: Scale, *, dry_run: bool = False
    ) -> Scale:
        """Replace the scale of an object.

        Raises: Conflict, InvalidArgument when the resource has no scale.
        A cancelled call may have changed it.
        """
        at = await self._resolve(resource)
        kind = await self._kind_at(at)
        response = await self._collection(at, namespace).send(
            "update",
            name=scale.metadata.name,
            subresource="scale",
            body=body_of(scale_to(scale, kind)),
            params={"dryRun": "All"} if dry_run else None,
        )
        return _scale_in(response)

    async def patch(
        self,
        resource: GroupVersionResource,
        namespace: str,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's word
    ) -> Scale:
        """Change fields of a scale. A cancelled call may have changed it."""
        response = await self._collection(resource, namespace).send(
            "patch",
            name=name,
            subresource="scale",
            body=patch_text(patch, type),
            content_type=patch_type_of(type),
        )
        return _scale_in(response)

    async def _resolve(self, resource: GroupResource) -> GroupVersionResource:
        return await self._mapper.resource_for(resource.with_version(""))

    async def _kind_at(self, at: GroupVersionResource) -> GroupVersionKind:
        """The kind of the scale subresource, from discovery."""
        if at not in self._kinds:
            rows = await self._discovery.resources(at.group_version)
            found = next((row for row in rows if row.name == f"{at.resource}/scale"), None)
            if found is None:
                raise InvalidArgument(f"scale {at}: the resource has no scale subresource")
            self._kinds[at] = found.kind_at(at.group_version)
        return self._kinds[at]

    def _collection(self, at: GroupVersionResource, namespace: str) -> Collection:
        info = ResourceInfo(
            group=at.group,
            version=at.version,
            plural=at.resource,
            kind="",
            singular="",
            namespaced=bool(namespace),
        )
        return Collection(self._rest, info, namespace=namespace)


def _scale_in(response: Response) -> Scale:
    return scale_from(response.decode(dict[str, Any]))
