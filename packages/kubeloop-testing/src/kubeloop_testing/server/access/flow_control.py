"""Priority and fairness: which flow schema a request belongs to, and its priority level.

The server limits no one; it classifies, because responses name the two objects in headers.
A new cluster has the mandatory and the suggested objects of kube-apiserver
(`apis/flowcontrol/bootstrap`).

Guarantees: a request belongs to the first schema that matches, by precedence and then by name;
a schema whose priority level does not exist is ignored.
See also: `seeds` (creates the objects), `serving.http` (writes the headers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, final

from ..controllers.flow_schemas import LEVELS, SCHEMAS, dangling_condition
from ..identity import AUTHENTICATED, MASTERS, UNAUTHENTICATED, User, split_service_account
from ..request.requests import Request
from ..storage.store import Object, Store

__all__ = ["LEVELS", "SCHEMAS", "FlowControl", "flow_objects"]

Storage: TypeAlias = tuple[str, str]
_GROUP: Final = "flowcontrol.apiserver.k8s.io"
_CACHED: Final = 4096  # decisions

# --- the objects of a new cluster

# Name: shares, percentage that may be lent, and queues, hand size and length limit of each queue.
_LIMITED: Final = {
    "catch-all": (5, 0, None),
    "global-default": (20, 50, (128, 6, 50)),
    "leader-election": (10, 0, (16, 4, 50)),
    "node-high": (40, 25, (64, 6, 50)),
    "system": (30, 33, (64, 6, 50)),
    "workload-high": (40, 50, (128, 6, 50)),
    "workload-low": (100, 90, (128, 6, 50)),
}


def _user(name: str) -> Object:
    return {"kind": "User", "user": {"name": name}}


def _group(name: str) -> Object:
    return {"kind": "Group", "group": {"name": name}}


def _resources(verbs: list[str], group: str, *resources: str, cluster: bool = False) -> Object:
    rule: Object = {"verbs": verbs, "apiGroups": [group], "resources": list(resources)}
    return {**rule, **({"clusterScope": True} if cluster else {}), "namespaces": ["*"]}


_CONTROLLER_MANAGER: Final = _user("system:kube-controller-manager")
_SCHEDULER: Final = _user("system:kube-scheduler")
_SYSTEM_ACCOUNTS: Final = {
    "kind": "ServiceAccount",
    "serviceAccount": {"namespace": "kube-system", "name": "*"},
}
_EVERYONE: Final = [_group(UNAUTHENTICATED), _group(AUTHENTICATED)]
_EVERYTHING: Final[Object] = {
    "resourceRules": [_resources(["*"], "*", "*", cluster=True)],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
_LEASES: Final = "coordination.k8s.io"
_PROBES: Final = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
# Name, precedence, level, distinguisher, subjects, what they do.
_SCHEMA_ROWS: Final[tuple[tuple[str, int, str, str, list[Object], Object], ...]] = (
    ("exempt", 1, "exempt", "", [_group(MASTERS)], _EVERYTHING),
    ("probes", 2, "exempt", "", _EVERYONE, {"nonResourceRules": [_PROBES]}),
    (
        "system-leader-election",
        100,
        "leader-election",
        "ByUser",
        [_CONTROLLER_MANAGER, _SCHEDULER, _SYSTEM_ACCOUNTS],
        {"resourceRules": [_resources(["get", "create", "update"], _LEASES, "leases")]},
    ),
    (
        "system-node-high",
        400,
        "node-high",
        "ByUser",
        [_group("system:nodes")],
        {
            "resourceRules": [
                _resources(["*"], "", "nodes", "nodes/status", cluster=True),
                _resources(["*"], _LEASES, "leases"),
            ]
        },
    ),
    ("system-nodes", 500, "system", "ByUser", [_group("system:nodes")], _EVERYTHING),
    (
        "kube-controller-manager",
        800,
        "workload-high",
        "ByNamespace",
        [_CONTROLLER_MANAGER],
        _EVERYTHING,
    ),
    ("kube-scheduler", 800, "workload-high", "ByNamespace", [_SCHEDULER], _EVERYTHING),
    (
        "kube-system-service-accounts",
        900,
        "workload-high",
        "ByNamespace",
        [_SYSTEM_ACCOUNTS],
        _EVERYTHING,
    ),
    (
        "service-accounts",
        9000,
        "workload-low",
        "ByUser",
        [_group("system:serviceaccounts")],
        _EVERYTHING,
    ),
    ("global-default", 9900, "global-default", "ByUser", _EVERYONE, _EVERYTHING),
    ("catch-all", 10000, "catch-all", "ByUser", _EVERYONE, _EVERYTHING),
)


def flow_objects(now: str) -> Iterator[tuple[Storage, Object]]:
    """The priority levels and flow schemas of a new cluster, without uid and creation time."""
    exempt = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    yield LEVELS, _new("PriorityLevelConfiguration", "exempt", {"type": "Exempt", "exempt": exempt})
    for name, (shares, lendable, queues) in _LIMITED.items():
        limited = {
            "nominalConcurrencyShares": shares,
            "limitResponse": _limit_response(queues),
            "lendablePercent": lendable,
        }
        spec = {"type": "Limited", "limited": limited}
        yield LEVELS, _new("PriorityLevelConfiguration", name, spec)
    for name, precedence, level, distinguisher, subjects, rules in _SCHEMA_ROWS:
        schema: Object = {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
        }
        if distinguisher:
            schema["distinguisherMethod"] = {"type": distinguisher}
        schema["rules"] = [{"subjects": subjects, **rules}]
        found = dangling_condition(level, exists=True, now=now)
        yield SCHEMAS, {**_new("FlowSchema", name, schema), "status": {"conditions": [found]}}


def _limit_response(queues: tuple[int, int, int] | None) -> Object:
    if queues is None:
        return {"type": "Reject"}
    number, hand, limit = queues
    queuing = {"queues": number, "handSize": hand, "queueLengthLimit": limit}
    return {"type": "Queue", "queuing": queuing}


def _new(kind: str, name: str, spec: Object) -> Object:
    annotations = {"apf.kubernetes.io/autoupdate-spec": "true"}
    meta = {"name": name, "generation": 1, "annotations": annotations}
    head = {"kind": kind, "apiVersion": f"{_GROUP}/v1", "metadata": meta}
    return {**head, "spec": spec, "status": {}}


# --- classification


@final
class FlowControl:
    """Finds the flow schema of requests, and remembers its decisions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._versions = (-1, -1)
        self._schemas: list[tuple[Object, Mapping[str, str]]] = []
        self._decisions: dict[tuple[Any, ...], Mapping[str, str]] = {}

    def headers(self, request: Request) -> Mapping[str, str]:
        """The headers that name the flow schema and the priority level of a request."""
        self._update()
        user, path = request.user, request.resource
        if user is None:
            return {}
        what: tuple[str, ...]
        if path is not None and path.plural:
            what = (path.group, path.plural, path.subresource, path.namespace, request.verb)
        else:
            what = (request.path, request.method)
        key = (user.name, user.groups, what)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= _CACHED:
                self._decisions.clear()
            found = self._decisions[key] = self._find(user, request)
        return found

    def _update(self) -> None:
        """Read the objects again if one of them has changed."""
        store = self._store
        versions = (store.collection(SCHEMAS).latest, store.collection(LEVELS).latest)
        if versions == self._versions:
            return
        self._versions = versions
        self._decisions.clear()
        levels = {e["metadata"]["name"]: e["metadata"]["uid"] for e in store.objects(*LEVELS)}
        found = sorted(store.objects(*SCHEMAS), key=_precedence)
        self._schemas = [
            (schema, _headers(schema, levels[level]))
            for schema in found
            if (level := schema["spec"]["priorityLevelConfiguration"]["name"]) in levels
        ]

    def _find(self, user: User, request: Request) -> Mapping[str, str]:
        for schema, headers in self._schemas:
            rules = schema["spec"].get("rules") or ()
            if any(_matches(rule, user, request) for rule in rules):
                return headers
        return {}


def _precedence(schema: Object) -> tuple[int, str]:
    return schema["spec"].get("matchingPrecedence") or 0, schema["metadata"]["name"]


def _headers(schema: Object, level: str) -> Mapping[str, str]:
    return {
        "X-Kubernetes-Pf-Flowschema-Uid": schema["metadata"]["uid"],
        "X-Kubernetes-Pf-Prioritylevel-Uid": level,
    }


def _matches(rule: Object, user: User, request: Request) -> bool:
    # matchesPolicyRule of apiserver/pkg/util/flowcontrol.
    if not any(_is_subject(each, user) for each in rule.get("subjects") or ()):
        return False
    path = request.resource
    if path is None or not path.plural:
        return any(_allows_path(e, request) for e in rule.get("nonResourceRules") or ())
    return any(_allows_resource(e, request) for e in rule.get("resourceRules") or ())


def _is_subject(subject: Object, user: User) -> bool:
    match subject.get("kind"):
        case "User":
            return _has([(subject.get("user") or {}).get("name")], user.name)
        case "Group":
            name = (subject.get("group") or {}).get("name")
            return name == "*" or name in user.groups
        case "ServiceAccount":
            wanted, account = subject.get("serviceAccount") or {}, split_service_account(user.name)
            if account is None or account[0] != wanted.get("namespace"):
                return False
            return _has([wanted.get("name")], account[1])
    return False


def _allows_resource(rule: Object, request: Request) -> bool:
    path = request.resource
    assert path is not None  # checked by the caller
    resource = f"{path.plural}/{path.subresource}" if path.subresource else path.plural
    return (
        _has(rule.get("verbs"), request.verb or request.method.lower())
        and _has(rule.get("apiGroups"), path.group)
        and _has(rule.get("resources"), resource)
        and (
            _has(rule.get("namespaces"), path.namespace)
            if path.namespace
            else bool(rule.get("clusterScope"))
        )
    )


def _allows_path(rule: Object, request: Request) -> bool:
    if not _has(rule.get("verbs"), request.method.lower()):
        return False
    # matchPolicyRuleNonResourceURL: a path is a prefix, with or without `/*` at its end.
    urls: list[str] = rule.get("nonResourceURLs") or []
    return any(
        url in {"*", request.path}
        or request.path.startswith(f"{url.removesuffix('*').removesuffix('/')}/")
        for url in urls
    )


def _has(allowed: Iterable[str | None] | None, value: str) -> bool:
    names = list(allowed or ())
    return "*" in names or value in names
