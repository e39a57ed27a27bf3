"""Merging two changes of one object, and the fields that both changed."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients.object_patch import merge_rules
from kubeloop.clients.three_way_merge import merge_changes
from kubeloop.wire import FieldFacts, Model, Resource, TypeFacts, facts_of
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod, Service

POD = facts_of(Pod)

Document = dict[str, Any]


def pod(*containers: Document, **spec: Any) -> Document:
    return {"spec": {"containers": list(containers), **spec}}


def overlaps(
    before: Document, mine: Document, theirs: Document, rules: TypeFacts | None = POD
) -> list[str]:
    """The overlaps, which do not depend on the order of the sides."""
    found = merge_changes(before, mine, theirs, rules).overlaps
    assert merge_changes(before, theirs, mine, rules).overlaps == found
    return list(found)


def merged(before: Document, mine: Document, theirs: Document) -> Document:
    assert overlaps(before, mine, theirs) == []
    return merge_changes(before, mine, theirs, POD).document


def test_an_element_of_a_list_is_named_by_its_merge_key() -> None:
    def deployment(image: str) -> Document:
        return {"spec": {"template": pod({"name": "web", "image": image})}}

    assert overlaps(deployment("1"), deployment("2"), deployment("3"), facts_of(Deployment)) == [
        "spec.template.spec.containers[name=web].image"
    ]


def test_elements_with_other_keys_and_other_fields_of_one_element_do_not_overlap() -> None:
    web, log = {"name": "web", "image": "1"}, {"name": "log", "image": "1"}

    assert merged(
        pod(web, log), pod({**web, "image": "2"}, log), pod(web, {**log, "image": "3"})
    ) == pod({**web, "image": "2"}, {**log, "image": "3"})
    assert merged(pod(web), pod({**web, "image": "2"}), pod({**web, "tty": True})) == pod(
        {**web, "image": "2", "tty": True}
    )


def test_an_element_added_by_both_or_removed_by_one_and_changed_by_the_other_overlaps() -> None:
    web, log = {"name": "web", "image": "1"}, {"name": "log", "image": "1"}
    added = ["spec.containers[name=log]"]

    assert overlaps(pod(web), pod(web, log), pod(web, log)) == added
    assert overlaps(pod(web), pod(web, log), pod(web, {**log, "image": "2"})) == added
    assert overlaps(pod(web, log), pod(web), pod(web, {**log, "image": "2"})) == added
    assert overlaps(pod(web, log), pod(web), pod(web)) == added


def test_a_list_without_merge_keys_is_one_value() -> None:
    before, mine, theirs = ({"spec": {"tolerations": each}} for each in ([], ["a"], ["b"]))

    assert overlaps(before, mine, theirs) == ["spec.tolerations"]
    # A list of which nothing is known, too.
    assert overlaps(pod(), pod({"name": "a"}), pod({"name": "b"}), None) == ["spec.containers"]


def test_elements_that_their_keys_do_not_tell_apart_are_one_value() -> None:
    def service(*ports: Document) -> Document:
        return {"spec": {"ports": list(ports)}}

    dns: list[Document] = [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]
    rules = facts_of(Service)
    named = [{**port, "name": port["protocol"].lower()} for port in dns]
    mine, theirs = service(named[0], dns[1]), service(dns[0], named[1])

    assert overlaps(service(*dns), mine, theirs, rules) == []  # by port and protocol
    assert overlaps(service(*dns), mine, service(dns[0], {"port": 53}), rules) == ["spec.ports"]


def test_a_default_does_not_make_another_element_of_it() -> None:
    def service(*ports: Document) -> Document:
        return {"spec": {"ports": list(ports)}}

    assert overlaps(
        service({"port": 1}),
        service({"port": 1}, {"port": 53}),
        service({"port": 1}, {"port": 53, "protocol": "TCP"}),
        facts_of(Service),
    ) == ["spec.ports[port=53]"]


def test_a_map_that_the_api_takes_as_one_value_overlaps_as_a_whole() -> None:
    before, mine, theirs = (
        {"spec": {"nodeSelector": each}} for each in ({}, {"a": "1"}, {"b": "1"})
    )

    assert overlaps(before, mine, theirs) == ["spec.nodeSelector"]


def test_a_parent_that_is_removed_or_replaced_overlaps_with_its_children() -> None:
    before = {"spec": {"securityContext": {"runAsUser": 1}}}
    theirs = {"spec": {"securityContext": {"runAsUser": 1, "fsGroup": 2}}}

    assert overlaps(before, {"spec": {}}, theirs) == ["spec.securityContext"]
    assert overlaps(before, {}, theirs) == ["spec"]
    assert overlaps({"a": {"b": 1}}, {"a": 5}, {"a": {"b": 2}}, None) == ["a"]


def test_an_object_made_by_both_is_compared_field_by_field() -> None:
    labels: list[Document] = [{"metadata": {"labels": {key: "x"}}} for key in ("a", "b")]

    assert merged({}, *labels) == {"metadata": {"labels": {"a": "x", "b": "x"}}}
    assert overlaps({}, labels[0], labels[0]) == ["metadata.labels.a"]


def test_an_empty_object_made_by_both_and_a_union_made_by_both_overlap() -> None:
    assert overlaps({}, {"a": {}}, {"a": {"b": 1}}, None) == ["a"]
    strategies: list[Document] = [{"strategy": {"type": "Recreate"}}, {"strategy": {"x": {}}}]
    assert overlaps(
        {"spec": {}}, {"spec": strategies[0]}, {"spec": strategies[1]}, facts_of(Deployment)
    ) == ["spec.strategy"]


def test_metadata_is_compared_by_key_for_kinds_of_which_nothing_else_is_known() -> None:
    rules = merge_rules({"apiVersion": "example.com/v1", "kind": "Website"}, None)

    def website(**metadata: Any) -> Document:
        return {"metadata": metadata, "spec": {"items": metadata.get("finalizers")}}

    owners = [{"uid": each, "kind": "A"} for each in ("1", "2")]
    found = merge_changes(
        {"metadata": {"finalizers": ["a/b"], "ownerReferences": []}},
        {"metadata": {"finalizers": ["a/b", "a/c"], "ownerReferences": [owners[0]]}},
        {"metadata": {"finalizers": ["a/d"], "ownerReferences": [owners[1]]}},
        rules,
    )
    assert found.overlaps == ()
    assert set(found.document["metadata"]["finalizers"]) == {"a/c", "a/d"}
    assert len(found.document["metadata"]["ownerReferences"]) == 2
    assert overlaps(
        website(finalizers=["x"]), website(finalizers=[]), website(finalizers=["x", "y"]), rules
    ) == ["spec.items"]
    assert overlaps(website(), website(finalizers=["x"]), website(finalizers=["x"]), rules) == [
        "metadata.finalizers[x]",
        "spec.items",
    ]


class Port(Model):
    name: str
    number: int = 0


class SiteSpec(Model):
    ports: Annotated[list[Port], FieldFacts(list_type="map", list_map_keys=("name",))]
    tags: list[str]


class Site(Resource, group="example.com", version="v1", plural="sites"):
    spec: SiteSpec


def test_a_class_of_your_own_says_which_lists_have_keys() -> None:
    def site(*tags: str, **ports: int) -> Document:
        listed = [{"name": name, "number": each} for name, each in ports.items()]
        return {"spec": {"ports": listed, "tags": list(tags)}}

    rules = facts_of(Site)
    before = site(a=1, b=1)
    assert overlaps(before, site(a=2, b=1), site(a=1, b=2), rules) == []
    assert overlaps(before, site(a=2, b=1), site(a=2, b=1), rules) == ["spec.ports[name=a].number"]
    assert overlaps(before, site("x", a=1, b=1), site("y", a=1, b=1), rules) == ["spec.tags"]


def test_a_dict_of_a_built_in_kind_has_the_rules_of_that_kind() -> None:
    rules = merge_rules({"apiVersion": "apps/v1", "kind": "Deployment"}, None)

    assert rules is facts_of(Deployment)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("app", "metadata.labels.app"),
        ("app.kubernetes.io/name", 'metadata.labels["app.kubernetes.io/name"]'),
        ("a\n\u202e", 'metadata.labels["a\\n\\u202e"]'),
    ],
)
def test_a_path_can_be_read_whatever_the_keys(key: str, path: str) -> None:
    before, mine, theirs = ({"metadata": {"labels": {key: value}}} for value in "123")

    assert overlaps(before, mine, theirs) == [path]


def test_null_is_no_value_and_true_is_not_one() -> None:
    assert merged({"a": None}, {}, {"a": None, "b": 1}) == {"a": None, "b": 1}
    assert overlaps({"a": 1}, {"a": True}, {"a": 1.0}) == []
    assert overlaps({"a": 1}, {"a": True}, {"a": 2}) == ["a"]


def names(document: Document) -> str:
    return "".join(each["name"] for each in document["spec"]["containers"])


@pytest.mark.parametrize(
    ("before", "mine", "theirs", "both"),
    [
        ("ab", "abx", "aby", "abyx"),  # both appended
        ("ab", "xab", "aby", "xaby"),
        ("ab", "xab", "yab", "yxab"),
        ("ab", "axb", "ba", "bax"),  # what follows a still follows it
        ("ab", "ba", "axb", "bax"),
        ("abc", "ac", "abcy", "acy"),
    ],
)
def test_elements_keep_the_order_that_either_side_gave_them(
    before: str, mine: str, theirs: str, both: str
) -> None:
    sides = [pod(*({"name": name} for name in side)) for side in (before, mine, theirs)]

    assert names(merged(sides[0], sides[1], sides[2])) == both


def test_elements_put_in_another_order_by_both_overlap() -> None:
    sides = [pod(*({"name": name} for name in side)) for side in ("abc", "bac", "acb")]

    assert overlaps(sides[0], sides[1], sides[2]) == ["spec.containers"]


# --- laws

_scalars = st.integers(0, 2) | st.booleans() | st.sampled_from(["", "a"])
_names = st.sampled_from(["a", "b", "c"])
_containers = st.lists(
    st.fixed_dictionaries({"name": _names}, optional={"image": _scalars, "args": st.lists(_names)}),
    max_size=3,
)
_specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": _containers,
        "nodeSelector": st.dictionaries(_names, _names, max_size=2),
        "novelty": st.recursive(
            _scalars, lambda inner: st.dictionaries(_names, inner, max_size=2), max_leaves=4
        ),
        "tolerations": st.lists(_names, max_size=2),
    },
)
_metadata = st.fixed_dictionaries(
    {},
    optional={
        "finalizers": st.lists(_names, max_size=3, unique=True),
        "labels": st.dictionaries(_names, _names, max_size=3),
    },
)
_documents = st.fixed_dictionaries({}, optional={"metadata": _metadata, "spec": _specs})


@given(_documents, _documents, _documents)
def test_whether_changes_overlap_does_not_depend_on_their_order(
    before: Document, mine: Document, theirs: Document
) -> None:
    for rules in (POD, None):
        overlaps(before, mine, theirs, rules)


@given(_documents, _documents)
def test_a_change_overlaps_with_itself_and_not_with_none(before: Document, mine: Document) -> None:
    found = merge_changes(before, mine, before, POD)

    assert (found.document, found.overlaps) == (mine, ())
    assert merge_changes(before, before, mine, POD).document == mine
    assert bool(overlaps(before, mine, mine)) == (before != mine)


@given(_documents, _documents, _documents)
def test_without_an_overlap_both_changes_are_in_the_result(
    before: Document, mine: Document, theirs: Document
) -> None:
    for rules in (POD, None):
        found = merge_changes(before, mine, theirs, rules)
        if found.overlaps:
            continue
        ours, others = _changed(before, mine), _changed(before, theirs)
        result = _changed(before, found.document)
        assert result.keys() == ours.keys() | others.keys()
        for path, value in result.items():
            if path not in ours or path not in others:
                assert value == (ours.get(path) or others.get(path))
                continue
            # Both changed a list, and not the same elements: each finds its own in it.
            (was, mine_list), (_, their_list), (_, both) = ours[path], others[path], value
            assert [each for each in mine_list if each not in was + both] == []
            assert [each for each in their_list if each not in was + both] == []


def _changed(old: Any, new: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """The members of objects that differ, old and new; a list is one value."""
    if isinstance(new, dict) and (isinstance(old, dict) or (old is None and new)):
        return {
            leaf: pair
            for key in (old or {}).keys() | new.keys()
            for leaf, pair in _changed((old or {}).get(key), new.get(key), f"{path}.{key}").items()
        }
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return {} if same else {path: (old or [], new)}
