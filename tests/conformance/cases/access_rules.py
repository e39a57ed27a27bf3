"""Roles and bindings, and reviews of tokens and of access."""

from __future__ import annotations

from typing import Any

from tests.conformance.rule_steps import Body, Step, change, create, lifecycle, rejections

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_CLUSTER_ROLES = f"{_RBAC}/clusterroles"
_CLUSTER_BINDINGS = f"{_RBAC}/clusterrolebindings"
_ROLES = f"{_RBAC}/namespaces/{{ns}}/roles"
_BINDINGS = f"{_RBAC}/namespaces/{{ns}}/rolebindings"
_AUTHORIZATION = "/apis/authorization.k8s.io/v1"
_TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_REVIEWS = f"{_AUTHORIZATION}/subjectaccessreviews"
_SELF_REVIEWS = f"{_AUTHORIZATION}/selfsubjectaccessreviews"
_LOCAL_REVIEWS = f"{_AUTHORIZATION}/namespaces/{{ns}}/localsubjectaccessreviews"
_RULES = f"{_AUTHORIZATION}/selfsubjectrulesreviews"
_JANE = {
    "Impersonate-User": "jane",
    "Impersonate-Group": "testers",
    "Impersonate-Uid": "7",
    "Impersonate-Extra-Scopes": "a",
}

_RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
_VIEW = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_USER = {"kind": "User", "name": "stranger-{ns}"}
_GET_PODS = {"verb": "get", "resource": "pods", "namespace": "{ns}"}


def _rules(*rules: Body) -> Body:
    return {"rules": list(rules)}


def _bound(*subjects: Body, **reference: str) -> Body:
    return {"roleRef": {**_VIEW, **reference}, "subjects": list(subjects)}


def _spec(**spec: Any) -> Body:
    return {"spec": spec}


def _post(path: str, *bodies: Body, user: Body | None = None) -> list[Step]:
    return [("POST", path, body, user or {}) for body in bodies]


CASES: dict[str, list[Step]] = {
    "a sparse cluster role": lifecycle(_CLUSTER_ROLES, {}),
    "a cluster role": lifecycle(
        _CLUSTER_ROLES,
        _rules(_RULE, {"verbs": ["get"], "nonResourceURLs": ["/healthz"]}),
        change(_CLUSTER_ROLES, _rules()),
        change(_CLUSTER_ROLES, {"rules": [{}]}),
    ),
    "an aggregated cluster role": lifecycle(
        _CLUSTER_ROLES,
        {
            "aggregationRule": {
                "clusterRoleSelectors": [{"matchLabels": {"never-{ns}.example.com/a": "true"}}]
            }
        },
        change(_CLUSTER_ROLES, {"aggregationRule": {"clusterRoleSelectors": []}}),
        change(
            _CLUSTER_ROLES,
            {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a b": ""}}]}},
        ),
    ),
    "wrong cluster roles": rejections(
        _CLUSTER_ROLES,
        _rules({}),
        _rules({"verbs": ["get"]}),
        _rules({"verbs": ["get"], "apiGroups": [""]}),
        _rules({**_RULE, "nonResourceURLs": ["/a"]}),
        {"aggregationRule": {}},
    ),
    "wrong roles": rejections(
        _ROLES,
        _rules({}),
        _rules({"verbs": ["get"], "nonResourceURLs": ["/a"]}),
        {"metadata": {"name": "a/b"}},
        {"metadata": {"name": ".."}},
    ),
    "a role with a name of its own": lifecycle(_ROLES, {}, name="Any:Name {ns}")[:1],
    "a role binding": lifecycle(
        _BINDINGS,
        _bound(_USER, {"kind": "ServiceAccount", "name": "a", "namespace": "{ns}"}),
        change(_BINDINGS, {"roleRef": {"name": "edit"}}),
        change(_BINDINGS, {"subjects": None}),
        change(_BINDINGS, {"subjects": [{"kind": "Group", "name": "g"}]}),
    ),
    "a cluster role binding": lifecycle(
        _CLUSTER_BINDINGS,
        _bound(_USER),
        change(_CLUSTER_BINDINGS, {"roleRef": {"name": "edit"}}),
        change(_CLUSTER_BINDINGS, {"subjects": [{"kind": "x"}]}),
    ),
    "wrong role bindings": rejections(
        _BINDINGS,
        {},
        _bound(kind="Pod"),
        _bound(name=""),
        _bound(name="a/b"),
        _bound(apiGroup="example.com"),
        _bound({"kind": "User"}),
        _bound({"kind": "User", "name": "a", "apiGroup": "x"}),
        _bound({"kind": "Group", "name": "", "apiGroup": ""}),
        _bound({"kind": "ServiceAccount", "name": "a"}),
        _bound({"kind": "ServiceAccount", "name": "A_b", "namespace": "{ns}"}),
        _bound({"kind": "ServiceAccount", "name": "a", "namespace": "{ns}", "apiGroup": "x"}),
        _bound({"kind": "Crowd", "name": "a"}),
    ),
    "wrong cluster role bindings": rejections(
        _CLUSTER_BINDINGS,
        {},
        _bound(kind="Role"),
        _bound({"kind": "ServiceAccount", "name": "a"}),
    ),
    "reviews of one's own access": _post(
        _SELF_REVIEWS,
        {},
        _spec(),
        _spec(resourceAttributes=_GET_PODS),
        _spec(nonResourceAttributes={"path": "/apis", "verb": "get"}),
        _spec(resourceAttributes=_GET_PODS, nonResourceAttributes={"path": "/", "verb": "get"}),
        {"metadata": {"name": "a"}, **_spec(resourceAttributes=_GET_PODS)},
        user=_JANE,
    ),
    "reviews of another's access": _post(
        _REVIEWS,
        {},
        _spec(user="jane"),
        _spec(resourceAttributes=_GET_PODS),
        _spec(user="jane", resourceAttributes=_GET_PODS),
        _spec(groups=["system:masters"], resourceAttributes=_GET_PODS),
        _spec(user="jane", groups=["a"], uid="7", extra={"b": ["c"]}, resourceAttributes={}),
        _spec(user="jane", nonResourceAttributes={}),
        _spec(
            user="jane",
            resourceAttributes={**_GET_PODS, "fieldSelector": {"rawSelector": "a=b"}},
        ),
        _spec(
            user="jane",
            resourceAttributes={**_GET_PODS, "labelSelector": {"rawSelector": "a in ("}},
        ),
        _spec(
            user="jane",
            resourceAttributes={
                **_GET_PODS,
                "labelSelector": {
                    "requirements": [{"key": "a", "operator": "In", "values": ["b"]}],
                    "rawSelector": "a=b",
                },
            },
        ),
        _spec(
            user="jane",
            resourceAttributes={
                **_GET_PODS,
                "fieldSelector": {"requirements": [{"key": "", "operator": "Near"}]},
            },
        ),
    ),
    "reviews of access in a namespace": _post(
        _LOCAL_REVIEWS,
        {},
        _spec(user="jane", resourceAttributes=_GET_PODS),
        _spec(user="jane", resourceAttributes={"verb": "get", "resource": "pods"}),
        _spec(user="jane", resourceAttributes={**_GET_PODS, "namespace": "other"}),
        _spec(user="jane", nonResourceAttributes={"path": "/", "verb": "get"}),
        {"metadata": {"namespace": "other"}, **_spec(user="jane", resourceAttributes=_GET_PODS)},
    ),
    "a granted access is explained": [
        create(_ROLES, _rules(_RULE), "reader"),
        create(
            _BINDINGS,
            _bound({"kind": "User", "name": "jane"}, kind="Role", name="reader"),
            "readers",
        ),
    ],
    "reviews of one's own rules": _post(_RULES, {}, _spec(), user=_JANE),
    "the attributes of a user": [
        *_post(_SELF, {}, {"metadata": {"name": "a"}}, user=_JANE),
        *_post(_SELF, {}, user={"Impersonate-User": "jane"}),
        *_post(_SELF, {}, user={"Impersonate-User": "system:serviceaccount:a:b"}),
    ],
    "reviews of tokens": _post(
        _TOKEN_REVIEWS,
        {},
        _spec(token=""),
        _spec(token="x"),
        _spec(token="x", audiences=["a"]),
        {"metadata": {"name": "a"}, **_spec(token="x")},
    ),
}
