"""From names to resources."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubeloop.discovery import (
    AmbiguousMatch,
    DiscoveryResult,
    MapperErrors,
    NoKindMatch,
    NoResourceMatch,
    RESTMapper,
    UnionMapper,
    expand_categories,
    guess_plural,
    parse_aggregated,
)
from kubeloop.errors import KubeError
from kubeloop.meta import GroupKind, GroupResource, GroupVersionKind, GroupVersionResource

from .conftest import aggregated, group, resource


def result(*groups: dict[str, Any]) -> DiscoveryResult:
    return parse_aggregated(msgspec.json.encode(aggregated(*groups)))


WORLD = result(
    group(
        "",
        v1=[resource("pods", "Pod", short=["po"], categories=["all"]), resource("events", "Event")],
    ),
    group("apps", v1=[resource("deployments", "Deployment", short=["deploy"], categories=["all"])]),
    group("events.k8s.io", v1=[resource("events", "Event", short=["ev"])]),
    group(
        "storage.k8s.io",
        v1=[resource("storageclasses", "StorageClass", namespaced=False, short=["sc"])],
    ),
    group("autoscaling", v2=[resource("scalers", "Scaler")], v1=[resource("scalers", "Scaler")]),
)


def partial(resource: str, group: str = "", version: str = "") -> GroupVersionResource:
    return GroupVersionResource(group, version, resource)


@pytest.fixture
def mapper() -> RESTMapper:
    return RESTMapper(WORLD)


def test_a_group_version_that_failed_does_not_break_the_others() -> None:
    """MAP-1: built from groups and versioned resources."""
    partial = msgspec.structs.replace(
        WORLD,
        resources={gv: rows for gv, rows in WORLD.resources.items() if gv.group != "apps"},
    )

    mapper = RESTMapper(partial)

    assert mapper.mapping(GroupKind("", "Pod")).plural == "pods"
    with pytest.raises(NoKindMatch):
        mapper.mapping(GroupKind("apps", "Deployment"))


@pytest.mark.parametrize(
    ("kind", "plural", "namespaced"),
    [
        (GroupKind("", "Pod"), "pods", True),
        (GroupKind("", "pod"), "pods", True),
        (GroupKind("", "PodList"), "podlists", True),
        (GroupKind("", "List"), "lists", False),
        (GroupKind("apps", "List"), "lists", False),
        (GroupKind("storage.k8s.io", "StorageClass"), "storageclasses", False),
    ],
)
def test_three_kinds_are_known_for_each_resource(
    mapper: RESTMapper, kind: GroupKind, plural: str, namespaced: bool
) -> None:
    """MAP-2, DSC-C14: the kind, in lower case too, and that of lists."""
    found = mapper.mapping(kind)

    assert (found.plural, found.namespaced) == (plural, namespaced)


def test_a_missing_singular_is_the_kind_in_lower_case() -> None:
    """MAP-2; parts of resources are no resources."""
    row = resource("things", "Thing") | {"singularResource": ""}
    row["subresources"] = [
        {"subresource": "status", "responseKind": {"kind": "Thing"}, "verbs": ["get"]}
    ]
    mapper = RESTMapper(result(group("a.io", v1=[row])))

    assert mapper.singular_of("things") == "thing"
    assert mapper.resource_for(partial("thing")).resource == "things"
    with pytest.raises(NoResourceMatch):
        mapper.resource_for(partial("things/status"))


def test_core_comes_first_then_the_servers_order(mapper: RESTMapper) -> None:
    """MAP-3: events of the core group before those of events.k8s.io; v2 before v1."""
    assert mapper.resource_for(partial("events")).group == ""
    assert mapper.resource_for(partial("scalers")).version == "v2"
    assert mapper.kind_for(partial("scaler")) == GroupVersionKind("autoscaling", "v2", "Scaler")
    assert len(mapper.kinds_for(partial("scaler"))) == 2


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (partial("Deployments"), "apps/v1"),
        (partial("deployment"), "apps/v1"),
        (partial("scalers", version="v1"), "autoscaling/v1"),
        (partial("scalers", "autoscaling", "v1"), "autoscaling/v1"),
        (partial("events", "events.k8s.io"), "events.k8s.io/v1"),
        (partial("storageclass", "storage"), "storage.k8s.io/v1"),
    ],
)
def test_what_is_given_narrows_the_search(
    mapper: RESTMapper, asked: GroupVersionResource, found: str
) -> None:
    """MAP-4, DSC-C13: any case, plural or singular, a group by its beginning."""
    assert mapper.resource_for(asked).api_version == found


def test_a_group_and_a_version_together_are_exact(mapper: RESTMapper) -> None:
    """MAP-4: resource lookup is case-insensitive and accepts plural or singular."""
    with pytest.raises(NoResourceMatch, match=r"storageclasses\.v1\.storage"):
        mapper.resource_for(partial("storageclasses", "storage", "v1"))


def test_what_nothing_decides_is_ambiguous() -> None:
    """MAP-5: two resources of one group version share a singular name."""
    mapper = RESTMapper(
        result(
            group(
                "a.io",
                v1=[
                    resource("things", "Thing"),
                    resource("thingies", "Thingy") | {"singularResource": "thing"},
                ],
            )
        )
    )

    with pytest.raises(AmbiguousMatch, match="thingies") as caught:
        mapper.resource_for(partial("thing"))

    assert len(caught.value.candidates) == 2


def test_versions_that_are_asked_for_come_first(mapper: RESTMapper) -> None:
    """MAP-6: RESTMapping(kind, versions...)."""
    assert mapper.mapping(GroupKind("autoscaling", "Scaler")).version == "v2"
    assert mapper.mapping(GroupKind("autoscaling", "Scaler"), "v1").version == "v1"
    assert mapper.mapping(GroupKind("autoscaling", "Scaler"), "v9", "v1").version == "v1"
    with pytest.raises(NoKindMatch, match="v9"):
        mapper.mapping(GroupKind("autoscaling", "Scaler"), "v9")


def test_a_union_ignores_mappers_without_a_match(mapper: RESTMapper) -> None:
    """MAP-7: other errors come with what was found."""
    empty = RESTMapper(DiscoveryResult())
    union = UnionMapper(empty, mapper, mapper)

    assert union.resources_for(partial("pods")) == mapper.resources_for(partial("pods"))
    assert union.kinds_for(partial("pods")) == [GroupVersionKind("", "v1", "Pod")]
    with pytest.raises(NoKindMatch):
        union.mappings(GroupKind("gone.io", "Thing"))

    class Broken:
        def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
            raise KubeError("broken")

        kinds_for = mappings = resources_for

    with pytest.raises(MapperErrors, match="broken") as caught:
        UnionMapper(mapper, Broken()).resources_for(partial("pods"))  # type: ignore[arg-type] # see above
    assert caught.value.found == (GroupVersionResource("", "v1", "pods"),)


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Pod", "pods"),
        ("Endpoints", "endpoints"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Gateway", "gatewaies"),
    ],
)
def test_a_plural_is_guessed_by_three_rules(kind: str, plural: str) -> None:
    """MAP-8: the rules are simple, and the last guess is wrong on purpose."""
    assert guess_plural(kind) == plural


def test_a_short_name_is_expanded(mapper: RESTMapper) -> None:
    """MAP-11, DSC-C11: shortcut expander: first."""
    assert mapper.expand(partial("deploy")) == partial("deployments", "apps")
    assert mapper.expand(partial("sc", "storage")) == partial("storageclasses", "storage.k8s.io")
    assert mapper.expand(partial("nothing")) == partial("nothing")


def test_a_resource_of_that_very_name_is_not_expanded() -> None:
    """MAP-11, DSC-C11: shortcut expander: first."""
    mapper = RESTMapper(
        result(
            group("apps", v1=[resource("deployments", "Deployment", short=["deploy"])]),
            group("ci.io", v1=[resource("deploy", "Deploy")]),
        )
    )

    assert mapper.expand(partial("deploy")) == partial("deploy")
    assert mapper.expand(partial("deploy", "apps")) == partial("deployments", "apps")


def test_a_short_name_of_two_resources_uses_the_first_and_warns_once() -> None:
    """MAP-11, DSC-C12: versions of one resource are one."""
    message: list[str] = []
    mapper = RESTMapper(
        result(
            group(
                "a.io", v2=[resource("as", "A", short=["x"])], v1=[resource("as", "A", short=["x"])]
            ),
            group("b.io", v1=[resource("bs", "B", short=["x"])]),
        ),
        on_warning=message.append,
    )

    assert mapper.expand(partial("x")) == partial("as", "a.io")
    assert len(message) == 1
    assert "bs.b.io" in message[0]


def test_a_category_is_all_that_is_in_it(mapper: RESTMapper) -> None:
    """MAP-12: an unknown word is nothing; a union has each once."""
    everything = (GroupResource("", "pods"), GroupResource("apps", "deployments"))

    assert mapper.category("all") == everything
    assert mapper.category("nothing") == ()
    assert expand_categories("all", WORLD, WORLD) == everything


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("po", "pods"),
        ("pods", "pods"),
        ("Pod", "pods"),
        ("pods.v1", "pods"),
        ("deploy", "deployments"),
        ("deployments.apps", "deployments"),
        ("Deployment.v1.apps", "deployments"),
        ("deployment.v1.apps", "deployments"),
        ("storageclasses.storage.k8s.io", "storageclasses"),
        ("sc", "storageclasses"),
    ],
)
def test_whatever_a_person_would_type_is_found(mapper: RESTMapper, word: str, plural: str) -> None:
    assert mapper.find(word).plural == plural


def test_a_resource_that_is_not_served_is_not_found(mapper: RESTMapper) -> None:
    with pytest.raises(NoResourceMatch, match=r"websites\.example\.com"):
        mapper.find("websites.example.com")
