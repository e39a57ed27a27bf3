"""Strategic merge patch: what holds for all documents and patches."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeloop.patches import (
    PatchError,
    apply_strategic_patch,
    strategic_patch_between,
    three_way_strategic_patch,
)
from kubeloop.patches.values import equal
from kubeloop.wire.facts import TypeFacts

Json = Any

scalars = st.booleans() | st.integers(0, 2) | st.sampled_from(["x", "y"])
names = st.sampled_from("abcde")
free = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)


def objects(
    optional: dict[str, st.SearchStrategy[Json]], **required: st.SearchStrategy[Json]
) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


def unique(key: str, element: st.SearchStrategy[Json]) -> Any:
    return st.lists(element, max_size=4, unique_by=lambda item: item[key])


ports = unique("containerPort", objects({"x": free}, containerPort=st.integers(0, 4)))
env = unique("name", objects({"value": scalars, "from": free}, name=names))
containers = unique(
    "name", objects({"env": env, "ports": ports, "image": scalars, "resources": free}, name=names)
)
volumes = unique("name", objects({"emptyDir": free, "hostPath": free}, name=names))
pods = objects(
    {
        "containers": containers,
        "volumes": volumes,
        "tolerations": st.lists(free, max_size=3),
        "securityContext": st.dictionaries(names, free, max_size=2),
        "other": free,
    }
)
meta = objects(
    {
        "finalizers": st.lists(names, max_size=4, unique=True),
        "labels": st.dictionaries(names, st.sampled_from("xy"), max_size=3),
    }
)
deployments = objects(
    {
        "metadata": meta,
        "spec": objects(
            {
                "template": objects({"metadata": meta, "spec": pods}),
                "strategy": st.dictionaries(names, free, max_size=2),
                "replicas": st.integers(0, 3),
            }
        ),
        "free": free,
    }
)


@given(old=deployments, new=deployments)
def test_the_difference_applied_to_the_old_gives_the_new(
    old: Json, new: Json, deployment: TypeFacts
) -> None:
    """API-34: the order of lists included."""
    before = repr((old, new))

    patch = strategic_patch_between(old, new, deployment)

    assert equal(apply_strategic_patch(old, patch, deployment), new)
    assert repr((old, new)) == before


@given(document=deployments)
def test_a_document_does_not_differ_from_itself(document: Json, deployment: TypeFacts) -> None:
    """API-34: equal inputs give `{}`."""
    assert strategic_patch_between(document, copy.deepcopy(document), deployment) == {}


@given(original=deployments, modified=deployments)
def test_without_other_changes_the_three_way_patch_is_the_two_way_patch(
    original: Json, modified: Json, deployment: TypeFacts
) -> None:
    """API-34: and nothing can conflict."""
    three = three_way_strategic_patch(
        original, modified, copy.deepcopy(original), deployment, overwrite=False
    )

    assert three == strategic_patch_between(original, modified, deployment)


@given(original=pods, modified=pods, current=pods)
def test_after_the_patch_every_modified_field_is_set(
    original: Json, modified: Json, current: Json, pod_spec: TypeFacts
) -> None:
    """API-34: two-way and three-way patches."""
    before = repr((original, modified, current))

    patch = three_way_strategic_patch(original, modified, current, pod_spec)
    result = apply_strategic_patch(current, patch, pod_spec)

    # Wishing again for the same asks for nothing more.
    assert three_way_strategic_patch(modified, modified, result, pod_spec) == {}
    assert repr((original, modified, current)) == before


@given(old=deployments, new=deployments)
def test_a_patch_shares_nothing_with_the_documents(
    old: Json, new: Json, deployment: TypeFacts
) -> None:
    before = repr((old, new))

    spoil(three_way_strategic_patch(old, new, {}, deployment))
    spoil(strategic_patch_between(old, new, deployment))

    assert repr((old, new)) == before


def spoil(value: Json) -> None:
    match value:
        case dict():
            for item in value.values():
                spoil(item)
            value["spoiled"] = True
        case list():
            for item in value:
                spoil(item)
            value.append("spoiled")


KEYS = [
    "spec",
    "template",
    "metadata",
    "containers",
    "volumes",
    "env",
    "finalizers",
    "name",
    "keyless",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/finalizers",
    "$deleteFromPrimitiveList/finalizers",
]
leaves = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "delete", "replace"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
patches = st.dictionaries(st.sampled_from(KEYS), values, max_size=5)


@given(document=patches, patch=patches)
def test_any_patch_is_applied_or_rejected_and_the_inputs_are_unchanged(
    document: Json, patch: Json, deployment: TypeFacts, pod_spec: TypeFacts
) -> None:
    before = repr((document, patch))

    for facts in (deployment, pod_spec):
        try:
            result = apply_strategic_patch(document, patch, facts)
        except PatchError:
            continue
        for value in result.values():
            if isinstance(value, list):
                value.append("touched")
            if isinstance(value, dict):
                value["touched"] = True

    assert repr((document, patch)) == before
