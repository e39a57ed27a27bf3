"""`kubeloop events` and `kubeloop tree`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Event, Pod
from kubeloop_cli.events import event_age, sorted_events
from kubeloop_testing import APIServer, StatusError

from .conftest import Call, line_of, started

NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)


def record(client: Client, name: str, *, kind: str, about: str, type_: str, minute: int) -> None:
    moment = f"2026-01-01T00:{minute:02}:00Z"
    client.core_v1.events("shop").create(
        Event.from_dict(
            {
                "metadata": {"name": name},
                "involvedObject": {"kind": kind, "name": about, "namespace": "shop"},
                "reason": "Seen",
                "message": name,
                "type": type_,
                "firstTimestamp": moment,
                "lastTimestamp": moment,
            }
        )
    )


@pytest.fixture
def recorded(kube_blocking_client: Client) -> Client:
    """With three events, whose names are not in the order of their times."""
    for name, kind, about, type_, minute in (
        ("a", "Pod", "web-1", "Normal", 5),
        ("b", "Deployment", "web", "Warning", 3),
        ("c", "Pod", "web-1", "Warning", 4),
    ):
        record(kube_blocking_client, name, kind=kind, about=about, type_=type_, minute=minute)
    return kube_blocking_client


def messages(text: str) -> list[str]:
    return [line.split()[-1] for line in text.splitlines()]


@pytest.mark.usefixtures("recorded")
def test_events_are_printed_in_the_order_of_their_times(kubeloop: Call) -> None:
    lines = kubeloop("events", "-n", "shop").stdout.splitlines()

    assert lines[0].split("  ")[0] == "LAST SEEN"
    assert lines[0].split()[2:] == ["TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert messages("\n".join(lines[1:])) == ["b", "c", "a"]
    assert "Deployment/web" in lines[1]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--for", "pod/web-1"], ["c", "a"]),
        (["--for", "deploy/web"], ["b"]),
        (["--types", "warning"], ["b", "c"]),
        (["--types", "Warning", "--types", "Normal"], ["b", "c", "a"]),
        (["-A"], ["b", "c", "a"]),
    ],
)
def test_events_can_be_selected(kubeloop: Call, arguments: list[str], expected: list[str]) -> None:
    result = kubeloop("events", "-n", "shop", "--no-headers", *arguments)

    assert messages(result.stdout) == expected


def test_no_events_are_reported_on_stderr(kubeloop: Call) -> None:
    result = kubeloop("events", "-n", "shop")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No events found in shop namespace.\n"
    assert kubeloop("events", "-A").stderr == "No events found.\n"


@pytest.mark.parametrize("arguments", [["--for", "web-1"], ["--types", "Bad"], ["-o", "wide"]])
def test_an_invalid_flag_is_a_usage_error(kubeloop: Call, arguments: list[str]) -> None:
    assert kubeloop("events", *arguments).exit_code == 2


@pytest.mark.timeout(60)
def test_new_events_follow_the_list(environment: dict[str, str], recorded: Client) -> None:
    arguments = ("events", "-n", "shop", "--watch", "--no-headers", "--types", "Warning")
    with started(environment, *arguments) as process:
        listed = [line_of(process).split()[-1] for _ in range(2)]
        record(recorded, "d", kind="Pod", about="web-2", type_="Normal", minute=6)
        record(recorded, "e", kind="Pod", about="web-2", type_="Warning", minute=7)
        followed = line_of(process).split()[-1]

    assert (listed, followed) == (["b", "c"], "e")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"firstTimestamp": "2026-01-01T00:09:55Z"}, "5s"),
        ({"eventTime": "2026-01-01T00:09:00.000000Z"}, "60s"),
        (
            {
                "count": 3,
                "firstTimestamp": "2026-01-01T00:07:00Z",
                "lastTimestamp": "2026-01-01T00:09:50Z",
            },
            "10s (x3 over 3m)",
        ),
        (
            {
                "series": {"count": 2, "lastObservedTime": "2026-01-01T00:09:50.000000Z"},
                "eventTime": "2026-01-01T00:00:00.000000Z",
            },
            "10s (x2 over 10m)",
        ),
        ({}, "<unknown>"),
    ],
)
def test_the_age_of_an_event_says_how_often_it_happened(event: dict[str, Any], text: str) -> None:
    assert event_age(event, NOW) == text


def test_an_event_without_a_time_is_the_first() -> None:
    late, unknown = {"lastTimestamp": "2026-01-01T00:00:00Z"}, {"reason": "x"}

    assert sorted_events([late, unknown]) == [unknown, late]


# --- tree


@pytest.fixture
def owned(kube_blocking_client: Client) -> None:
    """The pod `web-3`, owned by the deployment `web`."""
    owner = kube_blocking_client.apps_v1.deployments("shop").get("web")
    reference = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": owner.metadata.uid,
        "controller": True,
    }
    pod = kube_blocking_client.core_v1.pods("shop").get("web-1").to_dict()
    pod["metadata"] = {"name": "web-3", "ownerReferences": [reference]}
    kube_blocking_client.core_v1.pods("shop").create(Pod.from_dict(pod))


@pytest.mark.usefixtures("owned")
def test_a_tree_has_what_an_object_owns(kubeloop: Call) -> None:
    result = kubeloop("tree", "deploy/web", "-n", "shop")

    assert result.stdout == "Deployment/web in shop\n└─ Pod/web-3 in shop\n"


@pytest.mark.usefixtures("owned")
def test_a_tree_can_show_the_owners(kubeloop: Call) -> None:
    result = kubeloop("tree", "pod", "web-3", "-n", "shop", "--owners")

    assert result.stdout == "Pod/web-3 in shop\n└─ Deployment/web in shop\n"


def test_what_cannot_be_listed_is_reported(kubeloop: Call, kube_server: APIServer) -> None:
    def forbid(path: str) -> None:
        if path.endswith("/secrets"):
            raise StatusError({"kind": "Status", "code": 403, "reason": "Forbidden"})

    kube_server.faults.reactors.append(lambda seen: forbid(seen.path))

    result = kubeloop("tree", "deploy/web", "-n", "shop")

    assert result.exit_code == 0
    assert result.stderr == "warning: could not list secrets: objects may be missing\n"


@pytest.mark.parametrize("words", [["deploy"], ["po/web-1", "po/web-2"], ["all", "web"]])
def test_a_tree_is_of_one_object(kubeloop: Call, words: list[str]) -> None:
    assert kubeloop("tree", *words, "-n", "shop").exit_code == 2
