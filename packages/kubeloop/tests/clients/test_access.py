"""What a client may do (`test_kubectl_verbs` compares the list with kubectl's)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kubeloop.clients import ALL_NAMESPACES, AccessRule
from kubeloop.clients.access import combine_rules
from kubeloop.errors import InvalidArgument
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.authorization.v1 import SubjectRulesReviewStatus
from kubeloop.wire.core.v1 import Namespace, Node, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.rbac.v1 import Role, RoleBinding
from kubeloop_testing import APIServer, User

ROLE = Role.from_dict(
    {
        "metadata": {"name": "reader"},
        "rules": [
            {"apiGroups": [""], "resources": ["pods", "pods/log", "nodes"], "verbs": ["get"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]},
            {
                "apiGroups": [""],
                "resources": ["configmaps"],
                "resourceNames": ["settings"],
                "verbs": ["update"],
            },
        ],
    }
)
BINDING = RoleBinding.from_dict(
    {
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}],
    }
)


@pytest.fixture
async def jane() -> AsyncIterator[Client]:
    """A client whose user has one role, in the namespace shop."""
    async with APIServer(rbac=True, tokens={"secret": User("jane")}) as server:
        async with server.client() as admin:
            await admin.resource(Namespace).create(Namespace(metadata=ObjectMeta(name="shop")))
            await admin.resource(Role, namespace="shop").create(ROLE)
            await admin.resource(RoleBinding, namespace="shop").create(BINDING)
        config = server.config.replace(token="secret", namespace="shop")
        async with Client(config) as client:
            yield client


async def test_a_question_is_answered_by_the_server(jane: Client) -> None:
    assert await jane.can_i("get", Pod)
    assert not await jane.can_i("delete", Pod)
    assert await jane.can_i("get", Pod, subresource="log")
    assert not await jane.can_i("get", Pod, subresource="exec")
    assert not await jane.can_i("get", Pod, namespace="default")
    assert not await jane.can_i("get", Pod, namespace=ALL_NAMESPACES)
    assert await jane.can_i("update", "configmaps", name="settings")
    assert not await jane.can_i("update", "configmaps", name="other")


async def test_a_resource_can_be_named_as_in_kubectl(jane: Client) -> None:
    assert await jane.can_i("patch", "deploy")
    assert await jane.can_i("patch", "deployments.apps")
    assert await jane.can_i("patch", Deployment)
    assert not await jane.can_i("impersonate", "users")  # nothing that is served
    assert not await jane.can_i("*", "*")
    assert await jane.can_i("get", "/version")
    with pytest.raises(InvalidArgument, match="use name= for an object"):
        await jane.can_i("get", "pods/web")


async def test_a_role_of_a_namespace_allows_nothing_that_has_none(jane: Client) -> None:
    assert not await jane.can_i("get", Node)


async def test_everything_that_is_allowed_is_listed(jane: Client) -> None:
    found = await jane.what_can_i()

    rules = {(rule.full_resource, rule.name): rule.verbs for rule in found.rules if not rule.url}
    assert rules["pods/log", ""] == ("get",)
    assert rules["deployments.apps", ""] == ("get", "patch")
    assert rules["configmaps", "settings"] == ("update",)
    assert any(rule.url == "/version" for rule in found.rules)


def test_rules_for_the_same_resource_are_one() -> None:
    status = SubjectRulesReviewStatus.from_dict(
        {
            "incomplete": False,
            "resourceRules": [
                {"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["a"]},
                {"verbs": ["list", "watch"], "apiGroups": [""], "resources": ["a"]},
                {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            ],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/b", "/a"]}],
        }
    )

    assert combine_rules(status) == (
        AccessRule(("*",), "*", "*"),
        AccessRule(("get", "list", "watch"), "", "a"),
        AccessRule(("get", "list"), "apps", "a"),
        AccessRule(("get",), url="/a"),
        AccessRule(("get",), url="/b"),
    )
