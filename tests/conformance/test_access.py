"""Authorization: roles, bindings, impersonation, access reviews."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.differences import differs
from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map
from tests.conformance.servers import Server

Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"
ROLES = f"{RBAC}/v1/roles"
BINDINGS = f"{RBAC}/v1/rolebindings"
REVIEWS = "/apis/authorization.k8s.io/v1"


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> Object:
    return {
        "verbs": verbs.split(","),
        "resources": resources.split(","),
        "apiGroups": [group],
        **more,
    }


def subject(kind: str, name: str, **more: str) -> Object:
    group = {} if kind == "ServiceAccount" else {"apiGroup": RBAC}
    return {"kind": kind, "name": name, **group, **more}


async def grant(api: RawClient, *rules: Object, to: Object | None = None) -> None:
    """A role with these rules in the namespace, for jane unless `to` is another subject."""
    to = to or subject("User", "jane")
    await api.create(api.at(ROLES), {"metadata": {"name": "some"}, "rules": list(rules)})
    await bind(api, to, kind="Role", name="some")
    while not await seen(api, rules[0], to):  # kube-apiserver caches roles with a watch
        pass


async def bind(api: RawClient, to: Object, *, kind: str, name: str) -> None:
    role = {"apiGroup": RBAC, "kind": kind, "name": name}
    body = {"metadata": {"name": "some"}, "roleRef": role, "subjects": [to]}
    await api.create(api.at(BINDINGS), body)


async def seen(api: RawClient, first: Object, to: Object) -> bool:
    """Whether the first rule of a grant is in force."""
    name = to["name"]
    if to["kind"] == "ServiceAccount":
        name = f"system:serviceaccount:{to['namespace']}:{name}"
    resource, _, part = first["resources"][0].partition("/")
    attributes = {
        "namespace": api.namespace,
        "verb": first["verbs"][0],
        "group": first["apiGroups"][0],
        "resource": resource,
        "subresource": part,
        "name": (first.get("resourceNames") or [""])[0],
    }
    who = {"groups": [name]} if to["kind"] == "Group" else {"user": name}
    body = {"spec": {"resourceAttributes": attributes, **who}}
    reply = await api.create(f"{REVIEWS}/subjectaccessreviews", body)
    return bool(reply.body["status"]["allowed"])


async def allowed(api: RawClient, verb: str, resource: str, user: str) -> bool:
    attributes = {"namespace": api.namespace, "verb": verb, "resource": resource}
    body = {"spec": {"resourceAttributes": attributes, "user": user}}
    reply = await api.create(f"{REVIEWS}/subjectaccessreviews", body)
    return bool(reply.body["status"]["allowed"])


async def test_a_user_without_rights_is_rejected(api: RawClient) -> None:
    reply = await api("GET", api.at("configmaps"), as_user="jane")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert reply.message == (
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
        f'in the namespace "{api.namespace}"'
    )
    assert reply.details == {"kind": "configmaps"}


async def test_a_rejection_names_the_object(api: RawClient) -> None:
    reply = await api("GET", api.at("apps/v1/deployments", "web"), as_user="jane")

    assert reply.message == (
        'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments" in '
        f'API group "apps" in the namespace "{api.namespace}"'
    )
    assert reply.details == {"name": "web", "group": "apps", "kind": "deployments"}


async def test_a_rejection_at_cluster_scope_names_the_scope(api: RawClient) -> None:
    reply = await api("GET", "/api/v1/nodes", as_user="jane")

    assert reply.message == (
        'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the '
        "cluster scope"
    )


async def test_a_rejection_names_the_subresource(api: RawClient) -> None:
    reply = await api("GET", api.at("pods", "web", "log"), as_user="jane")

    assert reply.code == 403
    assert 'cannot get resource "pods/log"' in reply.message


async def test_a_rejection_of_a_path_names_the_path(api: RawClient) -> None:
    reply = await api("GET", "/metrics", as_user="jane")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert reply.message == 'forbidden: User "jane" cannot get path "/metrics"'


async def test_authorization_comes_before_existence(api: RawClient) -> None:
    missing = await api("GET", api.at("configmaps", "nope"), as_user="jane")
    strange = await api("GET", "/apis/nope.example.com/v1/things", as_user="jane")

    assert (missing.code, strange.code) == (403, 403)


@pytest.mark.parametrize(
    ("method", "verb"),
    [("POST", "create"), ("GET", "list"), ("DELETE", "deletecollection")],
)
async def test_a_request_to_a_collection_needs_its_verb(
    api: RawClient, method: str, verb: str
) -> None:
    reply = await api(method, api.at("configmaps"), {}, as_user="jane")

    assert (reply.code, f'cannot {verb} resource "configmaps"' in reply.message) == (403, True)


@pytest.mark.parametrize(
    ("method", "verb"),
    [("PUT", "update"), ("GET", "get"), ("DELETE", "delete"), ("PATCH", "patch")],
)
async def test_a_request_to_an_object_needs_its_verb(
    api: RawClient, method: str, verb: str
) -> None:
    reply = await api(method, api.at("configmaps", "a"), {}, as_user="jane")

    assert (reply.code, f'cannot {verb} resource "configmaps"' in reply.message) == (403, True)


async def test_a_watch_needs_its_verb(api: RawClient) -> None:
    reply = await api("GET", api.at("configmaps"), query={"watch": 1}, as_user="jane")

    assert (reply.code, 'cannot watch resource "configmaps"' in reply.message) == (403, True)


async def test_a_role_allows_its_subject(api: RawClient) -> None:
    await grant(api, rule("list,create", "configmaps"))

    created = await api("POST", api.at("configmaps"), config_map("a"), as_user="jane")
    listed = await api("GET", api.at("configmaps"), as_user="jane")

    assert (created.code, listed.names) == (201, ["a"])


async def test_a_role_allows_no_other_user(api: RawClient) -> None:
    await grant(api, rule("list", "configmaps"))

    assert (await api("GET", api.at("configmaps"), as_user="john")).code == 403


async def test_a_role_applies_to_its_namespace_only(api: RawClient) -> None:
    await grant(api, rule("list", "configmaps"))

    other = await api("GET", "/api/v1/namespaces/default/configmaps", as_user="jane")
    everywhere = await api("GET", "/api/v1/configmaps", as_user="jane")

    assert (other.code, everywhere.code) == (403, 403)


async def test_a_role_may_name_objects(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a"))
    await api.create(api.at("configmaps"), config_map("b"))
    await grant(api, rule("get", "configmaps", resourceNames=["a"]))

    named = await api("GET", api.at("configmaps", "a"), as_user="jane")
    other = await api("GET", api.at("configmaps", "b"), as_user="jane")

    assert (named.code, other.code) == (200, 403)


async def test_a_list_of_one_named_object_is_covered_by_its_name(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a"))
    await grant(api, rule("list", "configmaps", resourceNames=["a"]))

    query = {"fieldSelector": "metadata.name=a"}
    named = await api("GET", api.at("configmaps"), query=query, as_user="jane")
    all_of_them = await api("GET", api.at("configmaps"), as_user="jane")

    assert (named.code, all_of_them.code) == (200, 403)


async def test_a_subresource_needs_its_own_permission(api: RawClient) -> None:
    await grant(api, rule("get", "pods"))

    assert (await api("GET", api.at("pods", "web"), as_user="jane")).code == 404
    assert (await api("GET", api.at("pods", "web", "status"), as_user="jane")).code == 403


async def test_a_subresource_of_every_resource_may_be_granted(api: RawClient) -> None:
    await grant(api, rule("get", "pods/status"))

    assert (await api("GET", api.at("pods", "web", "status"), as_user="jane")).code == 404
    assert (await api("GET", api.at("pods", "web"), as_user="jane")).code == 403


async def test_a_star_grants_all_resources_of_a_group(api: RawClient) -> None:
    await grant(api, rule("get", "*"))

    assert (await api("GET", api.at("pods", "web"), as_user="jane")).code == 404
    assert (await api("GET", api.at("pods", "web", "status"), as_user="jane")).code == 404
    assert (await api("GET", api.at("apps/v1/deployments", "web"), as_user="jane")).code == 403


async def test_a_role_may_be_bound_to_a_group(api: RawClient) -> None:
    await grant(api, rule("list", "configmaps"), to=subject("Group", "readers"))

    reply = await api("GET", api.at("configmaps"), as_user="jane", as_groups=("readers",))

    assert reply.code == 200


async def test_a_role_may_be_bound_to_a_service_account(api: RawClient) -> None:
    account = subject("ServiceAccount", "robot", namespace=api.namespace)
    await grant(api, rule("list", "configmaps"), to=account)

    user = f"system:serviceaccount:{api.namespace}:robot"
    reply = await api("GET", api.at("configmaps"), as_user=user)

    assert reply.code == 200


async def test_a_cluster_role_may_be_bound_in_a_namespace(api: RawClient) -> None:
    name = f"{api.namespace}-readers"
    rules = [rule("list", "configmaps"), rule("list", "nodes")]
    path = f"/apis/{RBAC}/v1/clusterroles"
    await api.create(path, {"metadata": {"name": name}, "rules": rules})
    await bind(api, subject("User", "jane"), kind="ClusterRole", name=name)
    while not await allowed(api, "list", "configmaps", "jane"):
        pass

    maps = await api("GET", api.at("configmaps"), as_user="jane")
    nodes = await api("GET", "/api/v1/nodes", as_user="jane")

    assert (maps.code, nodes.code) == (200, 403)


async def test_a_binding_to_a_missing_role_grants_nothing(api: RawClient) -> None:
    await bind(api, subject("User", "jane"), kind="Role", name="nope")

    assert (await api("GET", api.at("configmaps"), as_user="jane")).code == 403


async def test_a_user_cannot_grant_permissions_they_do_not_have(api: RawClient) -> None:
    await grant(api, rule("create", "roles", RBAC))
    body = {"metadata": {"name": "more"}, "rules": [rule("get", "secrets")]}

    reply = await api("POST", api.at(ROLES), body, as_user="jane")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert "is attempting to grant RBAC permissions not currently held" in reply.message


async def test_a_user_cannot_bind_a_role_they_do_not_have(api: RawClient) -> None:
    await grant(api, rule("create", "rolebindings", RBAC))
    binding = {
        "metadata": {"name": "admins"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [subject("User", "jane")],
    }

    reply = await api("POST", api.at(BINDINGS), binding, as_user="jane")

    assert (reply.code, reply.reason) == (403, "Forbidden")


async def test_every_user_may_read_discovery_and_health(api: RawClient) -> None:
    for path in ("/version", "/healthz", "/apis", "/api/v1", "/openapi/v3"):
        assert (await api("GET", path, as_user="jane")).code == 200, path


# --- impersonation


async def test_the_impersonated_user_is_authorized(api: RawClient) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    reply = await api(
        "POST",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        body,
        as_user="jane",
        as_groups=("readers",),
        headers={"Impersonate-Extra-scopes": "view"},
    )

    assert reply.code == 201
    assert reply.body["status"]["userInfo"] == {
        "username": "jane",
        "groups": ["readers", "system:authenticated"],
        "extra": {"scopes": ["view"]},
    }


async def test_an_impersonated_service_account_has_its_groups(api: RawClient) -> None:
    user = "system:serviceaccount:shop:robot"

    reply = await api("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, as_user=user)

    assert reply.body["status"]["userInfo"]["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:shop",
        "system:authenticated",
    ]


async def test_impersonation_needs_a_permission(api: RawClient, server: Server) -> None:
    jane = RawClient(await server.session("jane"), server.url, api.namespace)

    reply = await jane("GET", api.at("configmaps"), as_user="john")

    assert (reply.code, reply.reason) == (403, "Forbidden")
    assert 'User "jane" cannot impersonate' in reply.message


@differs("narrow impersonation")
async def test_a_rejected_impersonation_names_the_narrow_verb(
    api: RawClient, server: Server
) -> None:
    jane = RawClient(await server.session("jane"), server.url, api.namespace)

    reply = await jane("GET", api.at("configmaps"), as_user="john")

    assert "cannot impersonate-on:user-info:list resource" in reply.message


async def test_groups_are_not_impersonated_without_a_user(api: RawClient) -> None:
    reply = await api("GET", api.at("configmaps"), as_groups=("readers",))

    assert reply.code in {400, 403, 500}
    assert "without impersonating a user" in reply.message


# --- reviews


async def test_a_self_review_can_be_allowed(api: RawClient) -> None:
    attributes = {"namespace": api.namespace, "verb": "get", "resource": "pods"}
    body = {"spec": {"resourceAttributes": attributes}}

    reply = await api.create(f"{REVIEWS}/selfsubjectaccessreviews", body)

    assert reply.body["status"]["allowed"] is True


async def test_a_self_review_can_be_denied(api: RawClient) -> None:
    attributes = {"namespace": api.namespace, "verb": "get", "resource": "pods"}
    body = {"spec": {"resourceAttributes": attributes}}

    reply = await api("POST", f"{REVIEWS}/selfsubjectaccessreviews", body, as_user="jane")

    assert (reply.code, reply.body["status"]) == (201, {"allowed": False})


async def test_a_review_of_another_user_is_decided_by_roles(api: RawClient) -> None:
    await grant(api, rule("get", "configmaps"))

    assert await allowed(api, "get", "configmaps", "jane")
    assert not await allowed(api, "delete", "configmaps", "jane")


async def test_a_local_review_is_created_in_its_namespace(api: RawClient) -> None:
    attributes = {"namespace": api.namespace, "verb": "get", "resource": "pods"}
    body = {"spec": {"user": "jane", "resourceAttributes": attributes}}

    reply = await api.create(api.at("authorization.k8s.io/v1/localsubjectaccessreviews"), body)

    assert reply.body["status"]["allowed"] is False


async def test_a_review_of_a_path(api: RawClient) -> None:
    body = {
        "spec": {
            "user": "jane",
            "groups": ["system:authenticated"],
            "nonResourceAttributes": {"path": "/healthz", "verb": "get"},
        }
    }

    reply = await api.create(f"{REVIEWS}/subjectaccessreviews", body)

    assert reply.body["status"]["allowed"] is True


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"user": "jane"},
        {"resourceAttributes": {"verb": "get"}},
        {
            "user": "jane",
            "resourceAttributes": {"verb": "get"},
            "nonResourceAttributes": {"path": "/"},
        },
    ],
    ids=["empty", "no-attributes", "no-user", "two-attributes"],
)
async def test_a_review_without_a_question_is_rejected(api: RawClient, spec: Object) -> None:
    reply = await api("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec})

    assert (reply.code, reply.reason) == (422, "Invalid")


async def test_a_rules_review_lists_the_permissions_of_the_user(api: RawClient) -> None:
    await grant(api, rule("get,list", "configmaps", resourceNames=["a"]))

    reply = await api(
        "POST",
        f"{REVIEWS}/selfsubjectrulesreviews",
        {"spec": {"namespace": api.namespace}},
        as_user="jane",
    )

    assert reply.code == 201
    expected = {
        "verbs": ["get", "list"],
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": ["a"],
    }
    assert expected in reply.body["status"]["resourceRules"]
