"""Strategic merge patch, computed: from two documents and from three."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.patches import (
    PatchError,
    apply_strategic_patch,
    strategic_patch_between,
    three_way_strategic_patch,
)
from kubeloop.wire.facts import TypeFacts

Json = Any


def named(*names: str) -> list[dict[str, Json]]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, {}),
        ({"a": 1, "b": 2}, {"a": True}, {"a": True, "b": None}),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 2, "c": 1}}, {"a": {"b": 2}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
        ({"a": {}}, {"a": []}, {"a": []}),
        ({"securityContext": {"a": 1}}, {"securityContext": {"b": 1}}, {"securityContext": {"b": 1}}),
        ({"securityContext": {"a": 1}}, {"securityContext": {"a": 1}}, {}),
        ({}, {"containers": named("a")}, {"containers": named("a")}),
        ({"containers": []}, {"containers": named("a")}, {"containers": named("a")}),
        ({"containers": named("a")}, {"containers": []}, {"containers": [{"name": "a", "$patch": "delete"}]}),
        ({"containers": named("a")}, {}, {"containers": None}),
        (
            {"containers": named("a", "b")},
            {"containers": [{"name": "c"}, {"name": "b", "image": "x"}]},
            {
                "containers": [{"name": "c"}, {"name": "b", "image": "x"}, {"name": "a", "$patch": "delete"}],
                "$setElementOrder/containers": named("c", "b"),
            },
        ),
        (
            {"containers": named("a", "b")},
            {"containers": named("b", "a")},
            {"$setElementOrder/containers": named("b", "a")},
        ),
    ],
)  # fmt: skip
def test_the_difference_names_what_changed_and_the_order_of_the_list(
    old: Json, new: Json, expected: Json, pod_spec: TypeFacts
) -> None:
    """API-34: orders for changed merge lists, directives for removed elements."""
    assert strategic_patch_between(old, new, pod_spec) == expected


def test_scalars_are_added_and_deleted_by_value(metadata: TypeFacts) -> None:
    """API-32, API-34: patches of scalar lists."""
    patch = strategic_patch_between(
        {"finalizers": ["a", "b"]}, {"finalizers": ["c", "a"]}, metadata
    )

    assert patch == {
        "finalizers": ["c"],
        "$deleteFromPrimitiveList/finalizers": ["b"],
        "$setElementOrder/finalizers": ["c", "a"],
    }


def test_a_changed_union_names_the_keys_to_retain(
    deployment: TypeFacts, pod_spec: TypeFacts
) -> None:
    """API-32, API-35: the deployment's strategy and volumes."""
    old = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    new = {"spec": {"strategy": {"type": "Recreate"}}}
    volumes = (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "hostPath": {}}]},
    )

    strategy = {"type": "Recreate", "rollingUpdate": None, "$retainKeys": ["type"]}
    assert strategic_patch_between(old, new, deployment) == {"spec": {"strategy": strategy}}
    assert strategic_patch_between(*volumes, pod_spec) == {
        "volumes": [
            {"name": "v", "hostPath": {}, "emptyDir": None, "$retainKeys": ["hostPath", "name"]}
        ],
        "$setElementOrder/volumes": [{"name": "v"}],
    }


def test_a_merge_key_that_occurs_twice_makes_the_list_be_replaced(deployment: TypeFacts) -> None:
    """API-30: merging by it would melt TCP and UDP on one port into one."""

    def pod(*ports: tuple[int, str, int]) -> Json:
        listed = [{"containerPort": at, "protocol": p, "hostPort": to} for at, p, to in ports]
        return {"spec": {"template": {"spec": {"containers": [{"name": "dns", "ports": listed}]}}}}

    old = pod((53, "TCP", 1), (80, "TCP", 2), (53, "UDP", 3))
    new = pod((53, "TCP", 1), (80, "TCP", 2), (53, "UDP", 4))

    patch = strategic_patch_between(old, new, deployment)

    assert apply_strategic_patch(old, patch, deployment) == new
    assert strategic_patch_between(old, old, deployment) == {}


def test_a_replaced_list_keeps_what_the_server_has_added(deployment: TypeFacts) -> None:
    """API-34: defaults inside the elements and elements of others."""

    def status(*conditions: Json) -> Json:
        return {"status": {"conditions": list(conditions)}}

    original = status({"type": "a", "n": 1}, {"type": "a", "n": 2})
    modified = status({"type": "a", "n": 1}, {"type": "a", "n": 3})
    current = status({"type": "a", "n": 1, "t": 1}, {"type": "a", "n": 2, "t": 2}, {"type": "b"})

    patch = three_way_strategic_patch(original, modified, current, deployment)

    assert apply_strategic_patch(current, patch, deployment) == status(
        {"type": "a", "n": 1, "t": 1}, {"type": "a", "n": 3, "t": 2}, {"type": "b"}
    )


ORIGINAL: Json = {
    "metadata": {"finalizers": ["mine", "dropped"], "labels": {"app": "web", "old": "1"}},
    "spec": {
        "template": {"spec": {"containers": [{"name": "web", "image": "1"}, {"name": "gone"}]}}
    },
}
MODIFIED: Json = {
    "metadata": {"finalizers": ["mine"], "labels": {"app": "web"}},
    "spec": {
        "template": {"spec": {"containers": [{"name": "web", "image": "2"}, {"name": "new"}]}}
    },
}
CURRENT: Json = {
    "metadata": {
        "finalizers": ["theirs", "mine", "dropped"],
        "labels": {"app": "web", "old": "1", "theirs": "1"},
    },
    "spec": {
        "replicas": 3,
        "template": {
            "spec": {
                "containers": [
                    {"name": "sidecar"},
                    {"name": "web", "image": "1", "pullPolicy": "Always"},
                    {"name": "gone"},
                ]
            }
        },
    },
}


def test_the_three_way_patch_keeps_the_changes_of_others(deployment: TypeFacts) -> None:
    """API-34: changes against what stands, deletions against the last wish."""
    patch = three_way_strategic_patch(ORIGINAL, MODIFIED, CURRENT, deployment)

    result = apply_strategic_patch(CURRENT, patch, deployment)

    assert result == {
        "metadata": {
            "finalizers": ["theirs", "mine"],
            "labels": {"app": "web", "theirs": "1"},
        },
        "spec": {
            "replicas": 3,
            "template": {
                "spec": {
                    "containers": [
                        {"name": "sidecar"},
                        {"name": "web", "image": "2", "pullPolicy": "Always"},
                        {"name": "new"},
                    ]
                }
            },
        },
    }
    assert three_way_strategic_patch(MODIFIED, MODIFIED, result, deployment) == {}


def test_changes_beside_each_other_are_no_conflict(deployment: TypeFacts) -> None:
    """API-34: two-way and three-way patches."""
    patch = three_way_strategic_patch(ORIGINAL, MODIFIED, CURRENT, deployment, overwrite=False)

    assert patch == three_way_strategic_patch(ORIGINAL, MODIFIED, CURRENT, deployment)


@pytest.mark.parametrize(
    ("original", "modified", "current", "path"),
    [
        ({"a": 1}, {"a": 2}, {"a": 3}, "/a"),
        ({"a": 1}, {"a": 1}, {"a": 3}, "/a"),
        ({"a": 1}, {}, {"a": 3}, "/a"),
        ({}, {"a": {"b": 1}}, {"a": {"b": 2}}, "/a/b"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": 3}}, "/a/b"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {}, "/a"),
        ({"a": [1]}, {"a": [2]}, {"a": [3]}, "/a"),
        ({"securityContext": {"a": 1}}, {"securityContext": {"b": 1}}, {"securityContext": {"c": 1}}, "/securityContext"),
        (
            {"containers": [{"name": "x"}, {"name": "a", "image": "1"}]},
            {"containers": [{"name": "x"}, {"name": "a", "image": "2"}]},
            {"containers": [{"name": "x"}, {"name": "a", "image": "3"}]},
            "/containers/0/image",
        ),
        (
            {"containers": [{"name": "a", "image": "1"}]},
            {"containers": []},
            {"containers": [{"name": "a", "image": "3"}]},
            "/containers/0",
        ),
        (
            {"containers": [{"name": "a"}, {"name": "a"}]},
            {"containers": [{"name": "a", "image": "2"}, {"name": "a"}]},
            {"containers": [{"name": "a", "image": "3"}, {"name": "a"}]},
            "/containers",
        ),
    ],
)  # fmt: skip
def test_changes_of_the_same_field_conflict_unless_one_overwrites(
    original: Json, modified: Json, current: Json, path: str, pod_spec: TypeFacts
) -> None:
    """API-34: with overwrite off, conflicting changes are an error."""
    patch = three_way_strategic_patch(original, modified, current, pod_spec)
    result = apply_strategic_patch(current, patch, pod_spec)
    assert three_way_strategic_patch(modified, modified, result, pod_spec) == {}

    with pytest.raises(PatchError, match="another client has changed this") as error:
        three_way_strategic_patch(original, modified, current, pod_spec, overwrite=False)

    assert error.value.failure == "conflict"
    assert error.value.path == path


def test_an_element_of_others_needs_no_patch(pod_spec: TypeFacts) -> None:
    """API-34: the order of one's own elements is as wished, so there is nothing to say."""
    wish = {"containers": named("a", "b")}
    current = {"containers": named("s", "a", "t", "b")}

    assert three_way_strategic_patch(wish, wish, current, pod_spec) == {}


def test_a_null_in_modified_deletes_what_others_have_set(pod_spec: TypeFacts) -> None:
    """API-33, API-34: null deletes a key."""
    assert three_way_strategic_patch({}, {"a": None, "b": None}, {"a": 1}, pod_spec) == {"a": None}


@pytest.mark.parametrize(
    "bad",
    [
        {"containers": [{"image": "x"}]},
        {"containers": [{"name": "a"}, "b"]},
        {"containers": ["b"]},
        {"containers": [["b"]]},
        {"a": {"$patch": "delete"}},
        {"a": [{"$retainKeys": []}]},
        {"$setElementOrder/containers": []},
        [],
    ],
)
def test_a_difference_that_a_patch_cannot_express_is_rejected(
    bad: Json, pod_spec: TypeFacts
) -> None:
    """API-30: among others an element without the merge key."""
    with pytest.raises(PatchError):
        strategic_patch_between({"containers": named("a")}, bad, pod_spec)


def test_deep_nesting_is_a_patch_error(deployment: TypeFacts) -> None:
    deep: Json = {}
    for _ in range(20_000):
        deep = {"spec": deep}

    with pytest.raises(PatchError) as error:
        strategic_patch_between({}, deep, deployment)

    assert error.value.failure == "limit"
