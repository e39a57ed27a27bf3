"""The backlog of a handler, and how notifications are merged when it is too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import Change, Entry, EntryCodec, Notification
from kubeloop.cache.changes import Backlog
from kubeloop.meta import ObjectKey
from tests.cache.objects import entry, key
from tests.support.change_history import ChangeHistory

CODEC = EntryCodec(dict)
LATER = ObjectKey("shop", "later")


def add(name: str, version: str, uid: str = "u", *, initial: bool = False) -> Notification:
    return Notification(key(name), None, entry(name, version=version, uid=uid), is_initial=initial)


def update(name: str, old: str, new: str) -> Notification:
    return Notification(
        key(name), entry(name, version=old, uid="u"), entry(name, version=new, uid="u")
    )


def delete(name: str, version: str, *, uid: str = "u", known: bool = True) -> Notification:
    gone = entry(name, version=version, uid=uid)
    return Notification(key(name), gone, None, last_state_known=known)


def handed_over(backlog: Backlog) -> list[str]:
    lines = []
    while (notification := backlog.take()) is not None:
        old = notification.old.version if notification.old else "-"
        new = notification.new.version if notification.new else "-"
        lines.append(f"{notification.key.name} {old}>{new}")
        backlog.done(notification)
    return lines


def crowded(*notifications: Notification) -> Backlog:
    """A backlog in which these come after more than it likes."""
    backlog = Backlog(limit=0)
    for notification in notifications:
        backlog.put(notification)
    return backlog


def test_below_the_limit_every_change_is_handed_over() -> None:
    backlog = Backlog(limit=10)
    for notification in (
        add("a", "1"),
        update("a", "1", "2"),
        update("a", "2", "3"),
        delete("a", "4"),
    ):
        backlog.put(notification)

    assert handed_over(backlog) == ["a ->1", "a 1>2", "a 2>3", "a 4>-"]
    assert backlog.merged == 0


def test_beyond_it_updates_become_one_from_the_first_to_the_last() -> None:
    backlog = crowded(update("a", "1", "2"), update("b", "5", "6"), update("a", "2", "3"))

    assert len(backlog) == 2
    assert handed_over(backlog) == ["a 1>3", "b 5>6"]
    assert backlog.merged == 1


def test_an_add_and_its_updates_become_an_add_of_the_newest() -> None:
    assert handed_over(crowded(add("a", "1"), update("a", "1", "2"))) == ["a ->2"]


def test_an_update_and_a_delete_become_the_delete() -> None:
    assert handed_over(crowded(update("a", "1", "2"), delete("a", "3"))) == ["a 3>-"]


def test_a_merged_delete_says_which_state_the_handler_was_notified_of_last() -> None:
    backlog = crowded(update("a", "1", "2"), delete("a", "3"))

    notification = backlog.take()

    assert notification is not None
    assert notification.old is not None
    assert notification.previous is not None
    assert (notification.previous.version, notification.old.version) == ("1", "3")


def test_a_re_creation_stays_a_delete_and_an_add_whatever_happens_to_the_new_object() -> None:
    recreated = [delete("a", "2", uid="u1", known=False), add("a", "4", "u2")]

    assert handed_over(crowded(update("a", "1", "2"), *recreated)) == ["a 2>-", "a ->4"]
    assert handed_over(crowded(*recreated, delete("a", "5", uid="u2"))) == ["a 2>-"]
    assert handed_over(crowded(add("a", "1", "u1"), *recreated)) == ["a ->4"]


def test_a_queued_delete_is_not_replaced_by_the_delete_of_another_object() -> None:
    backlog = crowded(delete("a", "1", uid="u1", known=False), delete("a", "9", uid="u2"))

    notification = backlog.take()

    assert notification is not None
    assert notification.old is not None
    assert notification.old.uid == "u1"


def test_an_object_that_was_added_and_deleted_is_left_out() -> None:
    backlog = crowded(add("a", "1", initial=True), delete("a", "2"))

    assert handed_over(backlog) == []
    assert backlog.initial_left == 0


def test_a_delete_and_a_new_creation_stay_two() -> None:
    backlog = crowded(delete("a", "1"), add("a", "2"), update("a", "2", "3"))

    assert len(backlog) == 2
    assert handed_over(backlog) == ["a 1>-", "a ->3"]


def test_of_two_deletes_the_one_with_the_final_state_is_handed_over() -> None:
    backlog = crowded(delete("a", "1", known=False), delete("a", "2"))

    assert handed_over(backlog) == ["a 2>-"]


def test_the_replay_comes_first_as_initial_adds() -> None:
    backlog = Backlog(replay=[entry("a", version="1")], limit=10)
    backlog.put(update("a", "1", "2"))

    assert len(backlog) == 2
    assert backlog.initial_left == 1
    assert handed_over(backlog) == ["a ->1", "a 1>2"]
    assert backlog.initial_left == 0


WISH = st.sampled_from(["put", "delete", "recreate in a gap", "take"])
WISHES = st.lists(st.tuples(st.sampled_from("abc"), WISH))


@given(wishes=WISHES, limit=st.integers(0, 4))
def test_merged_changes_stay_consistent_and_end_with_the_last_state(
    wishes: list[tuple[str, str]], limit: int
) -> None:
    backlog, history = Backlog(limit=limit), ChangeHistory()
    now: dict[str, Entry] = {}
    taken = 0

    def hand_over() -> bool:
        notification = backlog.take()
        if notification is not None:
            history(Change(notification, CODEC))
            backlog.done(notification)
        return notification is not None

    for serial, (name, wish) in enumerate(wishes, start=1):
        old = now.get(name)
        if wish == "take":
            taken += hand_over()
        elif wish in {"put", "recreate in a gap"}:
            if old is not None and wish != "put":
                backlog.put(Notification(key(name), old, None, last_state_known=False))
                old = None
            uid = old.uid if old else f"u{serial}"
            now[name] = entry(name, version=str(serial), uid=uid)
            backlog.put(Notification(key(name), old, now[name], is_initial=old is None))
        elif old is not None:
            gone = entry(name, version=str(serial), uid=now.pop(name).uid)
            backlog.put(Notification(key(name), gone, None, previous=old))
        assert len(backlog) <= limit + 2 * 3
    while hand_over():
        pass

    assert {each.name: identity for each, identity in history.now.items()} == {
        name: (each.uid, each.version) for name, each in now.items()
    }
    assert backlog.initial_left == 0
    assert len(backlog) == 0


def test_by_default_changes_are_merged_beyond_1024() -> None:
    backlog = Backlog()
    backlog.put(add("a", "0"))
    for version in range(1023):
        backlog.put(update("a", str(version), str(version + 1)))
    assert (len(backlog), backlog.merged) == (1024, 0)

    for version in range(1023, 1100):
        backlog.put(update("a", str(version), str(version + 1)))

    assert (len(backlog), backlog.merged) == (1025, 76)
    assert handed_over(backlog)[-2:] == ["a 1022>1023", "a 1023>1100"]
