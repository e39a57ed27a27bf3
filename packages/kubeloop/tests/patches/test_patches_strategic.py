"""Strategic merge patch, applied: merge keys, directives, order."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.patches import PatchError, apply_strategic_patch
from kubeloop.wire.facts import TypeFacts

Json = Any


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def test_matched_elements_merge_and_the_others_stay(deployment: TypeFacts) -> None:
    """API-30, API-C9: adding variable B to a container keeps A and the other containers."""
    spec = {"containers": [{"name": "a", "env": [{"name": "A", "value": "1"}]}, {"name": "b"}]}
    change = {"containers": [{"name": "a", "env": [{"name": "B", "value": "2"}]}]}

    result = apply_strategic_patch(
        {"spec": {"template": {"spec": spec}}}, {"spec": {"template": {"spec": change}}}, deployment
    )

    a, b = result["spec"]["template"]["spec"]["containers"]
    assert a["env"] == [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]
    assert b == {"name": "b"}


@pytest.mark.parametrize(
    ("field", "key", "values"),
    [
        ("containers", "name", ("a", "b")),
        ("initContainers", "name", ("a", "b")),
        ("volumes", "name", ("a", "b")),
        ("imagePullSecrets", "name", ("a", "b")),
        ("hostAliases", "ip", ("10.0.0.1", "10.0.0.2")),
    ],
)
def test_elements_are_matched_by_the_merge_key_of_their_list(
    field: str, key: str, values: tuple[Json, Json], pod_spec: TypeFacts
) -> None:
    """API-35: merge keys of built-in types."""
    one, two = values
    document = {field: [{key: one, "x": 1}, {key: two}]}

    result = apply_strategic_patch(document, {field: [{key: one, "y": 2}]}, pod_spec)

    assert result == {field: [{key: one, "x": 1, "y": 2}, {key: two}]}


def test_a_list_without_rules_is_replaced(pod_spec: TypeFacts) -> None:
    """API-29, API-35: tolerations are replaced."""
    document = {"tolerations": [{"key": "a"}], "unknown": [1, 2]}

    result = apply_strategic_patch(
        document, {"tolerations": [{"key": "b"}], "unknown": [3]}, pod_spec
    )

    assert result == {"tolerations": [{"key": "b"}], "unknown": [3]}


@pytest.mark.parametrize(
    ("server", "patch", "expected"),
    [
        ("ab", "c", "cab"),  # V-1, API-C10
        ("abc", "b", "abc"),
        ("abc", "ca", "bca"),
        ("abcd", "db", "acdb"),
        ("abcd", "xb", "xabcd"),
        ("abcd", "bx", "abxcd"),
        ("abcd", "cxa", "bcxad"),
        ("", "ba", "ba"),
        ("ab", "", "ab"),
    ],
)
def test_patched_elements_keep_the_order_of_the_patch_and_new_ones_go_first(
    server: str, patch: str, expected: str, pod_spec: TypeFacts, metadata: TypeFacts
) -> None:
    """API-30, V-1: for objects and for scalars alike."""
    objects = apply_strategic_patch(
        {"containers": named(*server)}, {"containers": named(*patch)}, pod_spec
    )
    scalars = apply_strategic_patch(
        {"finalizers": list(server)}, {"finalizers": list(patch)}, metadata
    )

    assert objects == {"containers": named(*expected)}
    assert scalars == {"finalizers": list(expected)}


@pytest.mark.parametrize(
    ("server", "patch", "order", "expected"),
    [
        ("ab", "c", "abc", "abc"),  # V-1, API-C10
        ("ab", "", "ba", "ba"),
        ("asb", "", "ab", "asb"),
        ("asb", "", "ba", "sba"),
        ("sab", "x", "axb", "saxb"),
        ("ab", "x", "x", "xab"),
        ("abc", "bx", "abx", "abxc"),
        ("ab", "", "zz", "ab"),
        ("ab", "c", "", "abc"),
    ],
)
def test_the_order_directive_orders_what_it_names_and_the_rest_keeps_its_place(
    *, server: str, patch: str, order: str, expected: str, pod_spec: TypeFacts, metadata: TypeFacts
) -> None:
    """API-32, V-1: `$setElementOrder`."""
    objects = apply_strategic_patch(
        {"containers": named(*server)},
        {"containers": named(*patch), "$setElementOrder/containers": named(*order)},
        pod_spec,
    )
    scalars = apply_strategic_patch(
        {"finalizers": list(server)},
        {"finalizers": list(patch), "$setElementOrder/finalizers": list(order)},
        metadata,
    )

    assert objects == {"containers": named(*expected)}
    assert scalars == {"finalizers": list(expected)}


def test_the_order_directive_works_without_a_list_of_changes(pod_spec: TypeFacts) -> None:
    """API-32: `$setElementOrder` and lists of scalars."""
    patch = {"$setElementOrder/containers": named("b", "a")}

    result = apply_strategic_patch({"containers": named("a", "b")}, patch, pod_spec)

    assert result == {"containers": named("b", "a")}
    assert apply_strategic_patch({}, patch, pod_spec) == {}


def test_the_changes_have_to_follow_the_order_directive(pod_spec: TypeFacts) -> None:
    """API-32: an ordered sub-sequence, delete directives excepted."""
    document = {"containers": named("a", "b", "c")}
    order = named("a", "b")
    deletion = {"name": "c", "$patch": "delete"}

    for changes in (named("b", "a"), named("c")):
        with pytest.raises(PatchError, match="disagree") as error:
            apply_strategic_patch(
                document,
                {"containers": changes, "$setElementOrder/containers": order},
                pod_spec,
            )
        assert error.value.path == "/containers"
    result = apply_strategic_patch(
        document, {"containers": [deletion], "$setElementOrder/containers": order}, pod_spec
    )
    assert result == {"containers": named("a", "b")}


def test_only_a_delete_directive_may_be_missing_from_the_order(pod_spec: TypeFacts) -> None:
    """API-32: `$setElementOrder` and lists of scalars."""
    changes = [{"name": "c", "$patch": "replace"}]

    with pytest.raises(PatchError, match="disagree"):
        apply_strategic_patch(
            {"containers": named("a")},
            {"containers": changes, "$setElementOrder/containers": named("a")},
            pod_spec,
        )


@pytest.mark.parametrize(
    ("server", "added", "order", "expected"),
    [
        ("xs", "n", "n", "sn"),
        ("xsy", "n", "n", "syn"),
        ("xs", "nm", "nm", "snm"),
        ("sx", "n", "n", "sn"),
        ("xsa", "n", "na", "sna"),
    ],
)
def test_a_new_element_at_the_index_of_a_deleted_one_follows_the_rest(
    *, server: str, added: str, order: str, expected: str, pod_spec: TypeFacts
) -> None:
    """API-32: seen on the server, where the order directive and a delete directive meet."""
    changes = [{"name": "x", "$patch": "delete"}, *named(*added)]

    result = apply_strategic_patch(
        {"containers": named(*server)},
        {"containers": changes, "$setElementOrder/containers": named(*order)},
        pod_spec,
    )

    assert result == {"containers": named(*expected)}


def test_a_delete_directive_removes_all_elements_it_matches(pod_spec: TypeFacts) -> None:
    """API-31, API-C10: and an unknown name is a no-op."""
    document = {"containers": [{"name": "x", "n": 1}, {"name": "a"}, {"name": "x", "n": 2}]}
    delete = [{"name": "x", "$patch": "delete"}, {"name": "absent", "$patch": "delete"}]

    result = apply_strategic_patch(document, {"containers": delete}, pod_spec)

    assert result == {"containers": named("a")}


def test_a_replace_directive_in_a_list_replaces_the_list(pod_spec: TypeFacts) -> None:
    """API-31: `$patch` directives."""
    document = {"containers": named("a", "b")}
    patch = {"containers": [{"name": "z"}, {"$patch": "replace"}, {"name": "a", "x": 1}]}

    result = apply_strategic_patch(document, patch, pod_spec)

    assert result == {"containers": [{"name": "z"}, {"name": "a", "x": 1}]}


def test_directives_replace_and_empty_objects(deployment: TypeFacts) -> None:
    """API-31: `$patch` directives."""
    document = {"spec": {"a": 1, "b": {"c": 1}}, "status": {"x": 1}, "kind": "D"}
    patch = {
        "spec": {"$patch": "replace", "b": {"d": 1, "e": None}},
        "status": {"$patch": "delete", "y": 1},
    }

    result = apply_strategic_patch(document, patch, deployment)

    assert result == {"spec": {"b": {"d": 1}}, "status": {}, "kind": "D"}
    assert apply_strategic_patch(document, {"$patch": "replace", "k": 1}, deployment) == {"k": 1}
    assert apply_strategic_patch(document, {"$patch": "delete"}, deployment) == {}


def test_a_directive_inside_a_new_value_is_ignored(deployment: TypeFacts) -> None:
    """API-31: as the server has it, the content stays and only the directive is gone."""
    limits = {"$patch": "replace", "cpu": "1", "memory": None}
    spec = {"containers": [{"name": "new", "resources": {"limits": limits}}]}
    document = {"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": []}}}}

    added = apply_strategic_patch(document, {"spec": {"template": {"spec": spec}}}, deployment)
    replaced = apply_strategic_patch(
        document, {"$patch": "replace", "metadata": {"$patch": "delete", "name": "b"}}, deployment
    )

    (container,) = added["spec"]["template"]["spec"]["containers"]
    assert container == {"name": "new", "resources": {"limits": {"cpu": "1"}}}
    assert replaced == {"metadata": {"name": "b"}}


def test_a_new_value_has_no_directives_and_no_nulls(deployment: TypeFacts) -> None:
    """API-33: a null deletes, also where there is nothing to delete."""
    patch = {
        "spec": {
            "template": {
                "spec": {
                    "$setElementOrder/containers": named("a"),
                    "containers": [{"name": "a", "x": None}, {"name": "b", "$patch": "delete"}],
                    "securityContext": {"$patch": "delete"},
                    "$retainKeys": ["containers"],
                }
            }
        },
        "absent": None,
    }

    result = apply_strategic_patch({}, patch, deployment)

    assert result == {"spec": {"template": {"spec": {"containers": named("a")}}}}


def test_a_new_list_keeps_elements_with_the_same_merge_key(deployment: TypeFacts) -> None:
    """API-30: there is nothing to merge them with, as TCP and UDP on one port show."""
    ports = [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]
    document = {"spec": {"template": {"spec": {"containers": named("dns")}}}}
    container = {"name": "dns", "ports": ports}

    result = apply_strategic_patch(
        document, {"spec": {"template": {"spec": {"containers": [container]}}}}, deployment
    )

    assert result["spec"]["template"]["spec"]["containers"] == [container]


def test_null_deletes_and_a_change_of_type_replaces(deployment: TypeFacts) -> None:
    """API-33: a null value deletes the key."""
    document = {"a": 1, "b": {"c": 1}, "d": [1], "e": {"f": 1}, "g": None}
    patch = {"a": None, "b": 1, "d": {"x": 1, "y": None}, "e": [1], "g": {"h": 1}, "z": None}

    result = apply_strategic_patch(document, patch, deployment)

    assert result == {"b": 1, "d": {"x": 1}, "e": [1], "g": {"h": 1}}


def test_a_field_whose_strategy_is_replace_is_replaced(pod_spec: TypeFacts) -> None:
    """API-29: fields without a merge strategy."""
    result = apply_strategic_patch(
        {"securityContext": {"a": 1}}, {"securityContext": {"b": 1}}, pod_spec
    )

    assert result == {"securityContext": {"b": 1}}


def test_values_are_deleted_from_a_list_of_scalars(metadata: TypeFacts) -> None:
    """API-32: `$deleteFromPrimitiveList`, together with additions and an order."""
    document = {"finalizers": ["a", "b", "c"]}
    patch = {
        "$deleteFromPrimitiveList/finalizers": ["b", "absent"],
        "$setElementOrder/finalizers": ["c", "d", "a"],
        "finalizers": ["d"],
    }

    assert apply_strategic_patch(document, patch, metadata) == {"finalizers": ["c", "d", "a"]}
    assert apply_strategic_patch({}, {"$deleteFromPrimitiveList/x": ["b"]}, metadata) == {}
    assert apply_strategic_patch({}, {"$deleteFromPrimitiveList/finalizers": "b"}, metadata) == {}


def test_a_merge_list_of_scalars_holds_every_value_once(metadata: TypeFacts) -> None:
    """API-30: a union; true is not 1."""
    document = {"finalizers": ["a", "b", "a"]}

    result = apply_strategic_patch(document, {"finalizers": ["b", "b"]}, metadata)
    numbers = apply_strategic_patch({"finalizers": [1]}, {"finalizers": [True]}, metadata)

    assert result == {"finalizers": ["a", "b"]}
    assert repr(numbers) == repr({"finalizers": [True, 1]})


def test_retain_keys_removes_every_key_it_does_not_list(deployment: TypeFacts) -> None:
    """API-32, API-35: how a deployment's strategy changes its type."""
    document = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"type": "Recreate", "$retainKeys": ["type"]}}}

    result = apply_strategic_patch(document, patch, deployment)

    assert result == {"spec": {"strategy": {"type": "Recreate"}}}


def test_retain_keys_has_to_list_whatever_the_patch_sets(deployment: TypeFacts) -> None:
    """API-32: null keys need not be listed."""
    document = {"spec": {"strategy": {"type": "A", "x": 1}}}

    fine = {"spec": {"strategy": {"x": None, "$retainKeys": ["type"]}}}
    assert apply_strategic_patch(document, fine, deployment) == {
        "spec": {"strategy": {"type": "A"}}
    }
    with pytest.raises(PatchError, match="not listed in") as error:
        apply_strategic_patch(
            document, {"spec": {"strategy": {"y": 1, "$retainKeys": ["type"]}}}, deployment
        )
    assert error.value.path == "/spec/strategy"


@pytest.mark.parametrize(
    ("document", "patch", "path"),
    [
        pytest.param({}, {"$patch": "merge"}, "", id="API-31 merge in an object"),
        pytest.param({}, {"$patch": 1}, "", id="API-31 no directive"),
        pytest.param({"containers": []}, {"containers": [{"name": "a", "$patch": "merge"}]}, "/containers/0", id="API-31 merge in a list"),
        pytest.param({"containers": []}, {"containers": [{"name": "a", "$patch": None}]}, "/containers/0", id="API-31 null"),
        pytest.param({"containers": []}, {"containers": [{"$patch": "delete"}]}, "/containers/0", id="API-31 delete what"),
        pytest.param({"containers": []}, {"containers": [{"x": 1}]}, "/containers", id="API-30 no key in the patch"),
        pytest.param({"containers": [{"x": 1}]}, {"containers": [{"name": "a"}]}, "/containers", id="API-30 no key in the document"),
        pytest.param({"containers": []}, {"containers": [{"name": {}}]}, "/containers", id="API-30 an object as key"),
        pytest.param({"containers": []}, {"containers": ["a"]}, "/containers", id="API-30 scalars for objects"),
        pytest.param({"containers": [{"name": "a"}]}, {"containers": ["a"]}, "/containers", id="API-30 mixture"),
        pytest.param({}, {"$retainKeys": "x"}, "", id="API-32 retainKeys"),
        pytest.param({}, {"$setElementOrder/containers": {}}, "", id="API-32 order"),
        pytest.param({"tolerations": []}, {"$setElementOrder/tolerations": []}, "/tolerations", id="API-32 order of a list that is replaced"),
        pytest.param({"containers": {}}, {"$setElementOrder/containers": []}, "/containers", id="API-32 order of no list"),
        pytest.param({}, {"containers": None, "$setElementOrder/containers": []}, "/containers", id="API-32 order of nothing"),
        pytest.param({}, {"$deleteFromPrimitiveList/x": None}, "", id="API-32 delete null"),
        pytest.param({"containers": [{"name": "a"}]}, {"$deleteFromPrimitiveList/containers": ["a"]}, "/containers", id="API-32 delete scalars from objects"),
    ],
)  # fmt: skip
def test_an_invalid_patch_is_rejected_with_its_path(
    document: Json, patch: Json, path: str, pod_spec: TypeFacts
) -> None:
    with pytest.raises(PatchError) as error:
        apply_strategic_patch(document, patch, pod_spec)

    assert (error.value.path, error.value.failure) == (path, "malformed")


def test_objects_are_not_merged_by_no_key(deployment: TypeFacts) -> None:
    """API-30: merge lists of objects need a merge key."""
    with pytest.raises(PatchError, match="without a merge key"):
        apply_strategic_patch({"keyless": [{}]}, {"keyless": [{}]}, deployment)


@pytest.mark.parametrize("bad", [None, [], "x", 1])
def test_documents_and_patches_have_to_be_objects(bad: Json, deployment: TypeFacts) -> None:
    with pytest.raises(PatchError, match="an object is needed"):
        apply_strategic_patch(bad, {}, deployment)
    with pytest.raises(PatchError, match="an object is needed"):
        apply_strategic_patch({}, bad, deployment)


def test_deep_nesting_is_a_patch_error(deployment: TypeFacts) -> None:
    deep: Json = {}
    for _ in range(20_000):
        deep = {"spec": deep}

    with pytest.raises(PatchError) as error:
        apply_strategic_patch(deep, {}, deployment)

    assert error.value.failure == "limit"


def test_objects_as_deep_as_allowed_are_merged(deployment: TypeFacts) -> None:
    deep: Json = {}
    for _ in range(127):
        deep = {"spec": deep}

    assert apply_strategic_patch(deep, deep, deployment) == deep
