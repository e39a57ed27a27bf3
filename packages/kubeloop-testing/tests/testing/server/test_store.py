"""The store: versions, order, history, against a plain dict."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.storage.store import Store

MAPS = ("", "configmaps")


def _object(name: str, namespace: str = "default", **data: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, "uid": name}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta, "data": data}


def test_every_write_gets_the_next_version() -> None:
    store = Store(version=10)

    versions = [store.write(MAPS, _object(name)).version for name in "abc"]
    gone = store.remove(MAPS, "default/a")

    assert [*versions, gone.version] == [11, 12, 13, 14]
    assert gone.obj["metadata"]["resourceVersion"] == "14"


def test_the_stored_bytes_are_the_object() -> None:
    entry = Store().write(MAPS, _object("a", x="1"))

    rest = msgspec.json.decode(b"{" + entry.tail)

    assert {"kind": "ConfigMap", "apiVersion": "v1", **rest} == entry.obj


def test_an_object_that_was_read_is_not_changed_by_a_write() -> None:
    store = Store()
    before = store.write(MAPS, _object("a", x="1")).obj

    store.write(MAPS, _object("a", x="2"))

    assert before["data"] == {"x": "1"}


def test_history_is_bounded_and_says_so() -> None:
    store = Store(version=0, history=2)
    for name in "abc":
        store.write(MAPS, _object(name))
    collection = store.collection(MAPS)

    assert collection.since(0) is None
    changes = collection.since(1)
    assert changes is not None
    assert [change.version for change in changes] == [2, 3]
    assert collection.at(0, "") is None


writes = st.lists(
    st.tuples(
        st.sampled_from(["put", "delete"]),
        st.sampled_from(["a", "a-b", "b"]),
        st.sampled_from(["x", "y", "z"]),
    ),
    max_size=30,
)


@given(writes)
def test_every_kept_state_can_be_read_again(steps: list[tuple[str, str, str]]) -> None:
    store = Store(version=0)
    states: dict[int, dict[str, int]] = {0: {}}
    state: dict[str, int] = {}
    for action, namespace, name in steps:
        key = f"{namespace}/{name}"
        if action == "put":
            state = {**state, key: store.write(MAPS, _object(name, namespace)).version}
        elif key in state:
            store.remove(MAPS, key)
            state = {k: v for k, v in state.items() if k != key}
        states[store.version] = state
    collection = store.collection(MAPS)

    for version, expected in states.items():
        found = collection.at(version, "")
        assert found is not None
        assert [(entry.key, entry.version) for entry in found] == sorted(expected.items())
        inside = collection.at(version, "a")
        assert inside is not None
        assert [e.key for e in inside] == sorted(k for k in expected if k.startswith("a/"))
