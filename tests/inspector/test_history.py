"""What is remembered of objects that change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from kubeloop.cache import Change, EntryCodec
from kubeloop.cache.notifications import Notification
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
        after = before  # told again
    key = (after or before or CODEC.parse(an_object(0))).key
    return Change(Notification(key, before, after, **more), CODEC)


def noted(history: History, *changes: Change[Any]) -> None:
    for change in changes:
        history.note("pods", change, CODEC.raw, AT)


def test_a_change_is_remembered_with_what_was_before() -> None:
    history = History()

    noted(history, a_change(an_object(1), an_object(2)))

    states = history.of("pods", WEB)
    assert [(state.type, state.version) for state in states] == [("Known", "1"), ("Updated", "2")]
    assert states[1].raw == an_object(2)


def test_a_life_is_remembered_from_add_to_delete() -> None:
    history = History()

    noted(
        history,
        a_change(None, an_object(1)),
        a_change(an_object(1), an_object(2)),
        a_change(an_object(3), None),
    )

    types = [state.type for state in history.of("pods", WEB)]
    assert types == ["Added", "Updated", "Deleted"]
    assert history.of("pods", WEB)[-1].raw == b""


def test_another_object_of_the_same_name_is_told_apart() -> None:
    history = History()

    noted(
        history,
        a_change(an_object(1, uid="1"), None, is_recreation=True),
        a_change(None, an_object(9, uid="2"), is_recreation=True),
    )

    types = [state.type for state in history.of("pods", WEB)]
    assert types == ["Known", "Deleted", "Recreated"]


def test_what_was_there_before_and_what_is_told_again_is_not_remembered() -> None:
    history = History()

    noted(
        history,
        a_change(None, an_object(1), is_initial=True),
        a_change(an_object(1), an_object(1)),
    )

    assert history.of("pods", WEB) == ()


def test_of_one_object_only_the_last_states_are_kept() -> None:
    history = History(states=3)

    noted(history, *(a_change(an_object(at), an_object(at + 1)) for at in range(1, 10)))

    assert [state.version for state in history.of("pods", WEB)] == ["8", "9", "10"]
    assert history.stats().bytes == sum(len(state.raw) for state in history.of("pods", WEB))


def test_beyond_its_bytes_the_object_that_changed_longest_ago_is_forgotten() -> None:
    history = History(at_most=5000)

    for name in ("old", "new"):
        noted(history, a_change(None, an_object(1, name, size=3000)))

    assert history.of("pods", ObjectKey("shop", "old")) == ()
    assert history.of("pods", ObjectKey("shop", "new")) != ()
    assert history.stats().forgotten == 1
    assert history.stats().bytes <= 5000


def test_an_object_too_large_for_all_of_it_is_not_kept() -> None:
    history = History(at_most=100)

    noted(history, a_change(None, an_object(1, size=1000)))

    assert history.stats().bytes == 0
