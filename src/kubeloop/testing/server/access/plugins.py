"""The admission plugins of kube-apiserver that are enabled by default, except webhooks.

| plugin | where |
|---|---|
| NamespaceLifecycle | `admission_chain` |
| DefaultTolerationSeconds | `kinds.rules.tolerations` |
| LimitRanger | `kinds.core.limit_admission` |
| TaintNodesByCondition | `kinds.core.node` |
| Priority, RuntimeClass | pods, here |
| PodTopologyLabels | pods, here and in `verbs.bindings` |
| DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize | here |
| DefaultIngressClass | here |
| PodSecurity | `pod_security_plugin` |
| CertificateApproval, CertificateSigning | `certificate_plugins` |
| CertificateSubjectRestriction, ClusterTrustBundleAttest | `certificate_plugins` |

Guarantees: objects are never changed in place; a kind without plugins costs one lookup.
See also: when they run (`verbs.writing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, final

from ..controllers.namespaces import NAMESPACES
from ..controllers.protection import PROTECTION
from ..kinds.core.limit_admission import check_limits, with_default_limits
from ..kinds.rules.tolerations import with_default_tolerations
from ..kinds.rules.value_rules import parse_quantity
from ..request.calls import Call
from ..statuses import StatusError, forbidden
from ..storage.store import Entry, Object, Store
from ..values.json_values import map_field, value_at
from ..verbs.bindings import topology_labels
from . import pod_security_plugin
from .security import Security

__all__ = ["Plugins"]

_PODS: Final = ("", "pods")
_CLAIMS: Final = ("", "persistentvolumeclaims")
_PRIORITIES: Final = ("scheduling.k8s.io", "priorityclasses")
_LIMIT_RANGES: Final = ("", "limitranges")
_RUNTIMES: Final = ("node.k8s.io", "runtimeclasses")
_STORAGE_CLASSES: Final = ("storage.k8s.io", "storageclasses")
_INGRESS_CLASSES: Final = ("networking.k8s.io", "ingressclasses")
_SIGNING_REQUESTS: Final = ("certificates.k8s.io", "certificatesigningrequests")
_TRUST_BUNDLES: Final = ("certificates.k8s.io", "clustertrustbundles")
_DEFAULT_CLASSES: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
# Fields that a class sets or checks.
_BY_CLASS: Final = frozenset(
    {"priorityClassName", "priority", "preemptionPolicy", "runtimeClassName"}
)
_POD_PARTS: Final = ("", "ephemeralcontainers", "resize")

_Mutation: TypeAlias = Callable[[Call, Object], Object]
_Validation: TypeAlias = Callable[[Call, Object, Object | None], list[str]]


@final
class Plugins:
    """Changes and checks writes by the objects in the store."""

    def __init__(self, store: Store, security: Security) -> None:
        self._store = store
        self._security = security
        # The default priority class, as of a version of its collection.
        self._default_priority: tuple[int, Object] = (-1, {})
        self._mutations: dict[tuple[str, str], _Mutation] = {
            _PODS: self._admit_pod,
            _CLAIMS: self._admit_claim,
            ("", "persistentvolumes"): _protect,
            ("networking.k8s.io", "ingresses"): self._admit_ingress,
            ("storage.k8s.io", "volumeattributesclasses"): _protect,
        }
        self._validations: dict[tuple[str, str], _Validation] = {
            NAMESPACES: self._check_namespace,
            _PODS: self._check_pod,
            _CLAIMS: self._check_claim,
            _PRIORITIES: self._check_priority_class,
            _SIGNING_REQUESTS: self._check_certificates,
            _TRUST_BUNDLES: self._check_certificates,
        }

    def mutate(self, call: Call, obj: Object) -> Object:
        """A new object after the mutating plugins. Raises `StatusError` 403."""
        change = self._mutations.get(call.served.storage)
        return obj if change is None else change(call, obj)

    def validate(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """The warnings of the validating plugins. Raises `StatusError`."""
        check = self._validations.get(call.served.storage)
        if check is None and call.served.strategy.pod_template:
            check = self._check_controller
        return [] if check is None else check(call, obj, old)

    # --- pods

    def _admit_pod(self, call: Call, pod: Object) -> Object:
        if self._store.collection(_LIMIT_RANGES).entries:
            pod = with_default_limits(pod, self._store.objects)
        node = value_at(pod, "spec", "nodeName")
        if node:
            pod = self._with_topology(pod, node)
        # Most pods name no class at all: they pass in less than a microsecond.
        if _BY_CLASS.isdisjoint(pod.get("spec") or ()) and not self._default_priority_class():
            return pod
        pod = map_field(pod, "spec", lambda spec: self._with_priority(call, pod, spec))
        if value_at(pod, "spec", "runtimeClassName") is None:
            return pod
        return map_field(pod, "spec", lambda spec: self._with_runtime_class(call, pod, spec))

    def _with_topology(self, pod: Object, node: str) -> Object:
        labels = topology_labels(self._store, node)
        if not labels:
            return pod
        meta = pod["metadata"]
        own = {**(meta.get("labels") or {}), **labels}
        return {**pod, "metadata": {**meta, "labels": own}}

    def _with_priority(self, call: Call, pod: Object, spec: Object) -> Object:
        # `admitPod` of the plugin Priority.
        name = spec.get("priorityClassName")
        if name:
            entry = self._store.get(_PRIORITIES, name)
            if entry is None:
                raise _rejected(call, pod, f"no PriorityClass with name {name} was found")
            found = entry.obj
        else:
            found = self._default_priority_class()
        value, policy = found.get("value") or 0, found.get("preemptionPolicy")
        policy = policy or "PreemptLowerPriority"
        for field, own in (("priority", value), ("preemptionPolicy", policy)):
            if spec.get(field) not in (None, own):
                what = "integer" if field == "priority" else "string"
                shown = field if field == "priority" else "PreemptionPolicy"
                why = (
                    f"the {what} value of {shown} ({spec[field]}) must not be provided in pod "
                    f"spec; priority admission controller computed {own} from the given "
                    "PriorityClass name"
                )
                raise _rejected(call, pod, why)
        if not name and not found:
            return spec  # `kinds.core.pod` sets the values of pods without a class
        return {
            **spec,
            "priorityClassName": name or found["metadata"]["name"],
            "priority": value,
            "preemptionPolicy": policy,
        }

    def _default_priority_class(self) -> Object:
        """The class of pods without one; {} if there is none."""
        collection = self._store.collection(_PRIORITIES)
        if self._default_priority[0] != collection.latest:
            objs = (each.obj for each in collection.entries.values())
            found = [each for each in objs if each.get("globalDefault")]
            lowest = min(found, key=lambda each: int(each.get("value") or 0), default={})
            self._default_priority = (collection.latest, lowest)
        return self._default_priority[1]

    def _with_runtime_class(self, call: Call, pod: Object, spec: Object) -> Object:
        # `setOverhead` and `setScheduling` of the plugin RuntimeClass.
        entry = self._store.get(_RUNTIMES, spec["runtimeClassName"])
        if entry is None:
            why = f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found'
            raise _rejected(call, pod, why)
        scheduling = entry.obj.get("scheduling") or {}
        overhead = value_at(entry.obj, "overhead", "podFixed")
        if overhead:
            _check_overhead(call, pod, overhead, spec.get("overhead") or overhead)
            spec = {**spec, "overhead": overhead}
        selector = dict(spec.get("nodeSelector") or {})
        for key, value in (scheduling.get("nodeSelector") or {}).items():
            if selector.setdefault(key, value) != value:
                why = (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {selector[key]}"
                )
                raise _rejected(call, pod, why)
        if selector:
            spec = {**spec, "nodeSelector": selector}
        if not scheduling:
            return spec
        # DefaultTolerationSeconds runs before this plugin.
        spec = with_default_tolerations(spec)
        own = spec["tolerations"]
        more = [each for each in scheduling.get("tolerations") or () if each not in own]
        return {**spec, "tolerations": [*own, *more]} if more else spec

    def _check_pod(self, call: Call, pod: Object, old: Object | None) -> list[str]:
        if call.part == "resize" or old is None:
            self._check_limits(pod, old, "pods")
        if call.part not in _POD_PARTS:
            return []
        if old is None:
            self._check_pod_overhead(call, pod)
        namespace = self._namespace(call)
        if namespace is None or not pod_security_plugin.has_policy(namespace):
            return []
        return pod_security_plugin.check_pod(namespace, pod, old)

    def _check_limits(self, obj: Object, old: Object | None, plural: str) -> None:
        is_ending = old is not None and "deletionTimestamp" in old["metadata"]
        if self._store.collection(_LIMIT_RANGES).entries and not is_ending:
            check_limits(obj, self._store.objects, plural)

    def _check_pod_overhead(self, call: Call, pod: Object) -> None:
        spec = pod.get("spec") or {}
        if not spec.get("overhead"):
            return
        name = spec.get("runtimeClassName")
        entry = self._store.get(_RUNTIMES, name) if name else None
        overhead = value_at(entry.obj, "overhead", "podFixed") if entry is not None else None
        if not overhead:
            why = (
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            )
            raise _rejected(call, pod, why)
        _check_overhead(call, pod, overhead, spec["overhead"])

    def _check_controller(self, call: Call, obj: Object, _: Object | None) -> list[str]:
        namespace = None if call.part else self._namespace(call)
        if namespace is None or not pod_security_plugin.has_policy(namespace):
            return []
        return pod_security_plugin.check_controller(
            namespace, obj, call.served.strategy.pod_template
        )

    def _check_namespace(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        if call.part:
            return []
        name = obj["metadata"]["name"]
        pods = (each.obj for each in self._store.collection(_PODS).select(name))
        return pod_security_plugin.check_labels(obj, old, pods)

    def _namespace(self, call: Call) -> Object | None:
        entry = self._store.get(NAMESPACES, call.namespace)
        return None if entry is None else entry.obj

    # --- classes

    def _admit_claim(self, call: Call, claim: Object) -> Object:
        claim = _protect(call, claim)
        spec, annotations = claim.get("spec") or {}, claim["metadata"].get("annotations") or {}
        if spec.get("storageClassName") is not None or _CLASS_ANNOTATION in annotations:
            return claim
        default = self._default_class(_STORAGE_CLASSES, _DEFAULT_CLASSES)
        return claim if not default else {**claim, "spec": {**spec, "storageClassName": default}}

    def _admit_ingress(self, _: Call, ingress: Object) -> Object:
        spec, annotations = ingress.get("spec") or {}, ingress["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations:
            return ingress
        marks = ("ingressclass.kubernetes.io/is-default-class",)
        default = self._default_class(_INGRESS_CLASSES, marks)
        if not default:
            return ingress
        return {**ingress, "spec": {**spec, "ingressClassName": default}}

    def _default_class(self, storage: tuple[str, str], annotations: Iterable[str]) -> str:
        """The newest class with the mark of a default; empty if there is none."""
        entries = self._store.collection(storage).entries.values()
        found = [each for each in entries if _is_marked(each, annotations)]
        if not found:
            return ""
        newest = max(each.metadata["creationTimestamp"] for each in found)
        return min(e.name for e in found if e.metadata["creationTimestamp"] == newest)

    def _check_claim(self, call: Call, claim: Object, old: Object | None) -> list[str]:
        if not call.part:
            self._check_limits(claim, old, "persistentvolumeclaims")
        # The plugin PersistentVolumeClaimResize.
        if old is None or call.part or not _grows(claim, old):
            return []
        if value_at(old, "status", "phase") != "Bound":
            raise _rejected(call, claim, "a claim can grow only while it is bound")
        name = _class_of(claim)
        entry = self._store.get(_STORAGE_CLASSES, name) if name == _class_of(old) else None
        if not name or entry is None or not entry.obj.get("allowVolumeExpansion"):
            raise _rejected(
                call,
                claim,
                "only dynamically provisioned pvc can be resized and the storageclass that "
                "provisions the pvc must support resize",
            )
        return []

    def _check_priority_class(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        default = self._default_priority_class() if obj.get("globalDefault") else {}
        name = value_at(default, "metadata", "name")
        if default and (old is None or name != obj["metadata"]["name"]):
            why = f"PriorityClass {name} is already marked as default. Only one default can exist"
            raise _rejected(call, obj, why)
        return []

    def _check_certificates(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        from .certificate_plugins import check_certificates

        check_certificates(self._security, call, obj, old)
        return []


def _rejected(call: Call, obj: Object, why: str) -> StatusError:
    name = obj["metadata"].get("name") or ""
    return forbidden(call.served.group, call.served.plural, name, why)


def _protect(call: Call, obj: Object) -> Object:
    # The plugin StorageObjectInUseProtection.
    meta, finalizer = obj["metadata"], PROTECTION[call.served.storage]
    found = meta.get("finalizers") or []
    if finalizer in found:
        return obj
    return {**obj, "metadata": {**meta, "finalizers": [*found, finalizer]}}


def _check_overhead(call: Call, pod: Object, defined: Object, sent: Object) -> None:
    amounts = {key: parse_quantity(value) for key, value in sent.items()}
    if amounts != {key: parse_quantity(value) for key, value in defined.items()}:
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        raise _rejected(call, pod, why)


def _is_marked(entry: Entry, annotations: Iterable[str]) -> bool:
    own = entry.metadata.get("annotations") or {}
    return any(own.get(each) == "true" for each in annotations)


def _class_of(claim: Object) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    return annotations.get(_CLASS_ANNOTATION) or value_at(claim, "spec", "storageClassName") or ""


def _grows(claim: Object, old: Object) -> bool:
    path = ("spec", "resources", "requests", "storage")
    new, before = (parse_quantity(value_at(each, *path) or "0") for each in (claim, old))
    return new is not None and before is not None and before < new
