"""The tables of the API: which resources there are, and how their fields merge."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import pytest

from kubeloop.wire import (
    NO_FACTS,
    UNSET,
    FieldFacts,
    InvalidArgument,
    Model,
    Resource,
    class_for,
    facts_of,
    resource_for,
    resource_of,
    resources,
)
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.autoscaling.v1 import Scale
from kubeloop.wire.core.v1 import Node, Pod, PodList
from tests.wire.random_json import every_kind


class Port(Model):
    name: str
    number: int = 80


class WebsiteSpec(Model):
    ports: Annotated[list[Port], FieldFacts(list_type="map", list_map_keys=("name",))] = UNSET


class Website(Resource, group="example.com", version="v1", plural="websites", short_names=("web",)):
    spec: WebsiteSpec
    status: dict[str, str] = UNSET


def test_every_group_version_is_there() -> None:
    assert len({(info.group, info.version) for info in resources()}) == 33


def test_a_resource_has_all_its_names_and_verbs() -> None:
    info = resource_of(Deployment)

    assert info.api_version == "apps/v1"
    assert (info.plural, info.singular, info.kind) == ("deployments", "deployment", "Deployment")
    assert (info.short_names, info.categories, info.namespaced) == (("deploy",), ("all",), True)
    assert [part.name for part in info.subresources] == ["scale", "status"]
    assert info.subresources[0].kind == "Scale"
    assert "watch" in info.verbs


def test_a_cluster_scoped_kind_is_not_namespaced() -> None:
    assert not resource_of(Node).namespaced


def test_every_resource_has_a_class() -> None:
    kinds = every_kind()

    assert len(kinds) == len(resources())
    for cls in kinds:
        assert resource_of(cls).kind == cls().kind


def test_a_kind_that_is_not_built_in_has_no_row() -> None:
    assert resource_for("example.com", "v1", "Website") is None
    assert class_for("example.com", "v1", "Website") is None
    assert class_for("apps", "v1", "ObjectMeta") is None
    assert class_for("", "v1", "Container") is None


def test_a_users_kind_is_a_full_citizen() -> None:
    info = resource_of(Website)

    assert (info.group, info.version, info.plural, info.kind) == (
        "example.com",
        "v1",
        "websites",
        "Website",
    )
    assert info.short_names == ("web",)
    assert [part.name for part in info.subresources] == ["status"]
    assert Website(spec=WebsiteSpec()).api_version == "example.com/v1"


def test_a_class_that_is_no_resource_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="PodList"):
        resource_of(PodList)

    class Nameless(Resource):
        pass

    with pytest.raises(InvalidArgument, match="Nameless"):
        resource_of(Nameless)


def test_a_kind_of_a_subresource_is_known() -> None:
    assert Scale().api_version == "autoscaling/v1"


@pytest.mark.parametrize(
    ("path", "strategy", "key"),
    [
        ("spec.containers", "merge", "name"),
        ("spec.initContainers", "merge", "name"),
        ("spec.volumes", "merge", "name"),
        ("spec.containers.env", "merge", "name"),
        ("spec.containers.volumeMounts", "merge", "mountPath"),
        ("spec.containers.ports", "merge", "containerPort"),
        ("spec.hostAliases", "merge", "ip"),
        ("spec.imagePullSecrets", "merge", "name"),
        ("status.conditions", "merge", "type"),
        ("metadata.ownerReferences", "merge", "uid"),
        ("metadata.finalizers", "merge", ""),
        ("spec.tolerations", "", ""),
    ],
)
def test_merge_rules_are_those_of_the_api(path: str, strategy: str, key: str) -> None:
    """API-35: merge keys of built-in types."""
    facts = facts_of(Pod)
    *parents, last = path.split(".")
    for step in parents:
        inside = facts.inside(step)
        assert inside is not None
        facts = inside  # type: ignore[assignment] # a TypeFacts is all we ask for

    found = facts.field(last)

    assert (next(iter(found.patch_strategies), ""), found.patch_merge_key) == (strategy, key)


def test_volumes_keep_only_the_keys_they_name() -> None:
    """API-35: volumes also use retainKeys."""
    spec = facts_of(Pod).inside("spec")

    assert spec is not None
    assert spec.field("volumes").patch_strategies == ("merge", "retainKeys")


def test_unknown_fields_have_no_rules() -> None:
    assert facts_of(Pod).field("spec") == NO_FACTS
    assert facts_of(Pod).field("zzNew") == NO_FACTS
    assert facts_of(Pod).inside("zzNew") is None
    assert facts_of(Pod).inside("kind") is None


def test_a_users_class_carries_its_rules_in_its_annotations() -> None:
    spec = facts_of(Website).inside("spec")

    assert spec is not None
    assert spec.field("ports").list_map_keys == ("name",)
    assert Website.from_dict({"spec": {"ports": [{"name": "a"}]}}).spec.ports[0].number == 80


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("imported", "loaded"),
    [
        ("kubeloop.wire", {"meta_v1"}),
        ("kubeloop.wire.core.v1", {"core_v1", "meta_v1"}),
        ("kubeloop.wire.coordination.v1", {"coordination_v1", "meta_v1"}),
    ],
)
def test_nothing_is_imported_before_it_is_used(imported: str, loaded: set[str]) -> None:
    program = (
        f"import sys, {imported}; "
        "print(*[name.rpartition('.')[2] for name in sys.modules if '._generated.' in name])"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert set(found.stdout.split()) == loaded
