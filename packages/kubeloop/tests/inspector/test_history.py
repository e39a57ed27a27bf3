"""The recorded states of objects that change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from kubeloop.cache import Change, EntryCodec, Notification
from kubeloop.inspector.history import History
from kubeloop.meta import ObjectKey

AT = datetime(2030, 1, 1, tzinfo=UTC)
CODEC: EntryCodec[dict[str, Any]] = EntryCodec(dict)
WEB = ObjectKey("shop", "web")


def an_object(version: int, name: str = "web", *, uid: str = "1", size: int = 0) -> bytes:
    metadata = {"name": name, "namespace": "shop", "uid": uid, "resourceVersion": str(version)}
    return msgspec.json.encode({"metadata": metadata, "pad": "x" * size})


def a_change(old: bytes | None, new: bytes | None, **more: Any) -> Change[Any]:
    before, after = (None if raw is None else CODEC.parse(raw) for raw in (old, new))
    if old == new:
        after = before  # a resync
    key = (after or before or CODEC.parse(an_object(0))).key
    return Change(Notification(key, before, after, **more), CODEC)


def record(history: History, *changes: Change[Any]) -> None:
    for change in changes:
        history.record("pods", change, CODEC.raw, AT)


def test_a_change_is_recorded_with_the_state_before() -> None:
    history = History()

    record(history, a_change(an_object(1), an_object(2)))

    states = history.of("pods", WEB)
    assert [(state.type, state.version) for state in states] == [("Before", "1"), ("Updated", "2")]
    assert states[1].raw == an_object(2)


def test_an_object_is_recorded_from_add_to_delete() -> None:
    history = History()

    record(
        history,
        a_change(None, an_object(1)),
        a_change(an_object(1), an_object(2)),
        a_change(an_object(3), None),
    )

    types = [state.type for state in history.of("pods", WEB)]
    assert types == ["Added", "Updated", "Deleted"]
    assert history.of("pods", WEB)[-1].raw == b""


def test_a_recreated_object_is_recorded_as_such() -> None:
    history = History()

    record(
        history,
        a_change(an_object(1, uid="1"), None, is_recreation=True),
        a_change(None, an_object(9, uid="2"), is_recreation=True),
    )

    types = [state.type for state in history.of("pods", WEB)]
    assert types == ["Before", "Deleted", "Recreated"]


def test_initial_objects_and_resyncs_are_not_recorded() -> None:
    history = History()

    record(
        history,
        a_change(None, an_object(1), is_initial=True),
        a_change(an_object(1), an_object(1)),
    )

    assert history.of("pods", WEB) == ()


def test_only_the_last_states_of_an_object_are_stored() -> None:
    history = History(states=3)

    record(history, *(a_change(an_object(at), an_object(at + 1)) for at in range(1, 10)))

    assert [state.version for state in history.of("pods", WEB)] == ["8", "9", "10"]
    assert history.stats().bytes == sum(len(state.raw) for state in history.of("pods", WEB))


def test_beyond_the_limit_the_least_recently_changed_object_is_evicted() -> None:
    history = History(max_bytes=5000)

    for name in ("old", "new"):
        record(history, a_change(None, an_object(1, name, size=3000)))

    assert history.of("pods", ObjectKey("shop", "old")) == ()
    assert history.of("pods", ObjectKey("shop", "new")) != ()
    assert history.stats().evicted == 1
    assert history.stats().bytes <= 5000


def test_an_object_above_the_limit_is_not_stored() -> None:
    history = History(max_bytes=100)

    record(history, a_change(None, an_object(1, size=1000)))

    assert history.stats().bytes == 0
