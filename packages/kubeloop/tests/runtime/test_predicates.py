"""Which changes pass, and whose keys they are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubeloop.cache import Change, Entry, EntryCodec, Notification
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupKind, ObjectKey
from kubeloop.runtime import (
    Predicate,
    all_of,
    annotations_changed,
    any_of,
    generation_changed,
    labels_changed,
    matching,
    none_of,
    version_changed,
)
from kubeloop.runtime.handlers import enqueue_object, owner_keys
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.workqueue import LOW_PRIORITY

codec: EntryCodec[ConfigMap] = EntryCodec(ConfigMap)


def a_state(version: str, **metadata: Any) -> Entry:
    fields = {
        "namespace": "shop",
        "name": "web",
        "uid": "1",
        "resourceVersion": version,
        **metadata,
    }
    return codec.parse(msgspec.json.encode({"metadata": fields}))


def update(old: dict[str, Any], new: dict[str, Any]) -> Change[ConfigMap]:
    states = (a_state("1", **old), a_state("2", **new))
    return Change(Notification(ObjectKey("shop", "web"), *states), codec)


def added(*, is_initial: bool = False, **metadata: Any) -> Change[ConfigMap]:
    state = a_state("1", **metadata)
    return Change(Notification(state.key, None, state, is_initial=is_initial), codec)


def deleted(**metadata: Any) -> Change[ConfigMap]:
    state = a_state("1", **metadata)
    return Change(Notification(state.key, state, None), codec)


def ended(*, was: dict[str, Any], final: dict[str, Any]) -> Change[ConfigMap]:
    """A delete whose final state differs from the state before."""
    before, state = a_state("1", **was), a_state("2", **final)
    return Change(Notification(state.key, state, None, previous=before), codec)


def resync() -> Change[ConfigMap]:
    state = a_state("1", generation=1)
    return Change(Notification(state.key, state, state), codec)


@pytest.mark.parametrize(
    ("predicate", "same", "other"),
    [
        (generation_changed, {"generation": 1}, {"generation": 2}),
        (labels_changed, {"labels": {"a": "b"}}, {"labels": {"a": "c"}}),
        (annotations_changed, {"annotations": {"a": "b"}}, {"annotations": {}}),
    ],
)
def test_an_update_passes_when_that_part_has_changed(
    predicate: Predicate, same: dict[str, Any], other: dict[str, Any]
) -> None:
    assert not predicate(update(same, same))
    assert predicate(update(same, other))
    assert predicate(added(**same))
    assert predicate(deleted(**same))


@pytest.mark.parametrize("predicate", [generation_changed, labels_changed, annotations_changed])
def test_both_halves_of_a_re_creation_pass(predicate: Predicate) -> None:
    old, new = a_state("1", uid="1", generation=1), a_state("2", uid="2", generation=1)

    assert predicate(Change(Notification(old.key, old, None, is_recreation=True), codec))
    assert predicate(Change(Notification(new.key, None, new, is_recreation=True), codec))


def test_a_kind_without_generations_always_passes() -> None:
    assert generation_changed(update({}, {}))


def test_a_resync_has_the_same_version() -> None:
    assert not version_changed(resync())
    assert version_changed(update({}, {}))


def test_labels_match_before_or_after() -> None:
    web: dict[str, Any] = {"labels": {"app": "web"}}
    other: dict[str, Any] = {"labels": {"app": "other"}}
    is_web = matching("app=web")

    assert is_web(update(web, other))
    assert is_web(update(other, web))
    assert is_web(deleted(**web))
    assert is_web(ended(was=web, final=other))
    assert not is_web(update(other, other))
    assert not is_web(added(**other))


def test_a_selector_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(InvalidArgument):
        matching("app in (")


def test_predicates_are_joined() -> None:
    def yes(change: Change[Any]) -> bool:
        return True

    def no(change: Change[Any]) -> bool:
        return False

    change = added()

    assert any_of(no, yes)(change)
    assert not any_of(no, no)(change)
    assert all_of(yes, yes)(change)
    assert not all_of(yes, no)(change)
    assert none_of(no, no)(change)
    assert not none_of(no, yes)(change)


class Sink:
    def __init__(self) -> None:
        self.added: list[tuple[str, int]] = []

    def add(self, key: ObjectKey, *, priority: int = 0) -> None:
        self.added.append((str(key), priority))


def test_the_initial_list_and_resyncs_have_low_priority() -> None:
    sink = Sink()
    handle = enqueue_object(sink, ())

    for change in (added(), added(is_initial=True), update({}, {}), resync(), deleted()):
        handle(change)

    priorities = [priority for _, priority in sink.added]
    assert priorities == [0, LOW_PRIORITY, 0, LOW_PRIORITY, 0]


def owned(
    version: str = "example.com/v1", *, kind: str = "Website", controller: bool = True
) -> Entry:
    reference = {"apiVersion": version, "kind": kind, "name": "shop", "uid": "9"}
    return a_state("1", ownerReferences=[{**reference, "controller": controller}])


SITE = GroupKind("example.com", "Website")


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (owned(), True),
        (owned("example.com/v2"), True),
        (owned("other.com/v1"), False),
        (owned(kind="Shop"), False),
        (owned(controller=False), False),
        (None, False),
    ],
    ids=["its own", "another version", "another group", "another kind", "no controller", "nothing"],
)
def test_an_owner_is_found_by_group_and_kind_in_any_version(
    state: Entry | None, found: bool
) -> None:
    assert owner_keys([state], SITE, namespaced=True) == [ObjectKey("shop", "shop")] * found


def test_an_owner_without_a_namespace_has_a_key_without() -> None:
    assert owner_keys([owned()], SITE, namespaced=False) == [ObjectKey("", "shop")]
